import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { breachOf, type Scope } from "../../src/core/stories/scope.ts";
import type { TestIdentities } from "../../src/core/gates/gate.ts";
import { newStory } from "../../src/fold/new-state.ts";
import { routeForPerson } from "../../src/decide/route.ts";
import { scopeFor } from "../../src/decide/scope-for.ts";
import { judgement, story } from "../kit/story-world.ts";

const POLICY = presetPolicy("critic-audit");
const STATE = { ...newStory(story("a"), 0, 0), policy: POLICY };
const ROUTE = routeForPerson(STATE, POLICY, "implement");
const IDENTITIES: TestIdentities = {
  failing: ["test/z.test.ts > other"],
  unlisted: 0,
  passing: [],
  passedAtBase: [],
  passedLast: [],
  ranTests: ["test"],
  notLoaded: [],
};
const NARROW: Scope = {
  allow: ["src/a.ts"],
  deny: [],
  tests: "add-only",
  exceptions: "with-rationale",
  reason: "the cause is known",
};

describe("a rework that went beyond its scope", () => {
  it("is sent back with the same scope: a wider one would accept it the second time", () => {
    const refused = { ...STATE, scope: NARROW };
    const { restore, ...scope } = scopeFor(refused, POLICY, judgement("integrity", "t1", "fail"), ROUTE);
    expect(scope).toEqual(NARROW);
    // The refused files may be put back, and nothing else: they are not among those that may change.
    expect(restore).toEqual(["src/f0.ts"]);
    expect(scopeFor(refused, POLICY, judgement("checks", "t1", "fail"), ROUTE).allow).toEqual([]);
  });

  it("rejected new work gets the scope of a rework", () => {
    expect(scopeFor(STATE, POLICY, judgement("integrity", "t1", "fail"), ROUTE)).toMatchObject({
      allow: [],
      tests: "add-only",
    });
  });
});

describe("a rework after a target was hidden", () => {
  it("may change any code, whatever the blame names, and restores the tests", () => {
    const failed = judgement("checks", "t1", "fail");
    const [finding] = failed.findings;
    const suspects = [{ file: "test/a.test.ts" }];
    const blamed = { ...STATE, failing: { blame: { verdict: "culprit", suspects } } } as unknown as typeof STATE;
    expect(scopeFor(blamed, POLICY, failed, ROUTE).allow).toEqual(["test/a.test.ts"]);
    const hidden = { ...failed, findings: [{ ...finding!, category: "target", file: "test/a.test.ts" }] };
    expect(scopeFor(blamed, POLICY, hidden, ROUTE)).toMatchObject({
      allow: [],
      tests: "add-only",
      restore: ["test/a.test.ts"],
    });
  });
});

describe("a rework while a target is not shown to pass", () => {
  const TARGET = "test/a.test.ts > adds";
  const state = {
    ...STATE,
    story: story("a", { target: ["*"] }),
    preExisting: [TARGET],
    flakyAtBase: [],
    baseRuns: { checks: { ended: [], ranTests: ["test"], notLoaded: [], names: { test: "all" } } },
    failing: { blame: { verdict: "culprit", suspects: [{ file: "test/a.test.ts" }, { file: "src/b.ts" }] } },
  } as unknown as typeof STATE;
  const failed = (more: Partial<TestIdentities>) =>
    judgement("checks", "t1", "fail", { more: { identities: { ...IDENTITIES, ...more } } });

  it("may change any code: the blame names what else broke, here the lint of an edited test", () => {
    const { allow, tests, restore } = scopeFor(state, POLICY, failed({ ranTests: [] }), ROUTE);
    expect({ allow, tests, restore }).toEqual({ allow: [], tests: "add-only", restore: ["test/a.test.ts"] });
  });

  it("is limited to the blamed files if the target passes and something else broke", () => {
    expect(scopeFor(state, POLICY, failed({ passing: [TARGET] }), ROUTE).allow).toEqual(["test/a.test.ts", "src/b.ts"]);
  });
});

describe("breachOf", () => {
  const tests = ["**/*.test.ts"];

  it.each([
    ["src/a.ts", {}, null],
    ["src/b.ts", {}, "outside"],
    ["src/b.ts", { allow: [] }, null],
    ["src/a.ts", { deny: ["src/**"] }, "denied"],
    ["src/b.test.ts", {}, null],
    ["src/b.test.ts", { tests: "open" }, "outside"],
    ["src/b.test.ts", { tests: "frozen" }, "frozen"],
    ["src/b.test.ts", { tests: "frozen", allow: ["**"] }, "frozen"],
    ["src/{a}.ts", { allow: ["src/{a}.ts"] }, null],
  ] as const)("%s with %j: %s", (path, scope, expected) => {
    expect(breachOf(path, { ...NARROW, ...scope }, tests)).toBe(expected);
  });
});
