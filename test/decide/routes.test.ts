import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { roleName } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { chargedGate, failureLimit, refundFailure, withGate } from "../../src/decide/charge.ts";
import { affects, invalidateGates, isOpen } from "../../src/decide/gate-status.ts";
import { languageOf } from "../../src/core/stories/language.ts";
import { routeFailure, routeForPerson } from "../../src/decide/route.ts";
import {
  blamedLocations,
  resetLocations,
  recordReworkOutcome,
  recordRework,
  recordBlame,
  troubleSpot,
} from "../../src/decide/locations.ts";
import { newStory } from "../../src/fold/new-state.ts";
import { scopeForPerson } from "../../src/decide/scope-for.ts";
import { forecastUsd, overspent } from "../../src/decide/spending.ts";
import { judgement, story } from "../kit/story-world.ts";

const POLICY = presetPolicy("critic-audit");
const STATE: StoryState = { ...newStory(story("a"), 0, 0), policy: POLICY };
const suspect = (file: string, symbol?: string) => ({
  file,
  line: 1,
  change: "",
  confidence: 1,
  reasons: [],
  ...(symbol === undefined ? {} : { symbol }),
});
const blame = (verdict: "culprit" | "multi" | "unmet", ...suspects: ReturnType<typeof suspect>[]) =>
  ({ verdict, basis: "proven", confidence: 1, suspects, explanation: "", testRuns: 0 }) as const;

describe("languageOf", () => {
  it.each([
    ["src/a.ts", "typescript"],
    ["src/a.TSX", "typescript"],
    ["lib/a.py", "python"],
    ["a.zig", "zig"],
    ["Makefile", "makefile"],
    ["a.constructor", "constructor"],
  ])("%s is %s", (path, language) => {
    expect(languageOf(path)).toBe(language);
  });
});

describe("locations under rework", () => {
  it("are the first suspect of a culprit, all of several, and otherwise none", () => {
    expect(blamedLocations(blame("culprit", suspect("a.ts"), suspect("b.ts")))).toEqual(["a.ts"]);
    expect(blamedLocations(blame("multi", suspect("a.ts", "login"), suspect("b.ts"), suspect("b.ts")))).toEqual([
      "a.ts#login",
      "b.ts",
    ]);
    expect(blamedLocations(blame("unmet", suspect("a.ts")))).toEqual([]);
  });

  it("may have any name", () => {
    const odd = recordRework(recordBlame(STATE, ["__proto__"]), "checks", ["__proto__"], 5);
    expect(Object.keys(odd.locations)).toEqual(["__proto__"]);
    const judged = recordReworkOutcome(odd, "checks", "fail");
    const failing = {
      gate: "checks",
      blame: blame("culprit", suspect("__proto__")),
      approved: false,
      restored: false,
    } as const;
    expect(troubleSpot({ ...judged, failing }, 1)).toBe("__proto__");
    expect(troubleSpot({ ...STATE, failing }, 1)).toBeNull();
    expect(troubleSpot(STATE, 1)).toBeNull();
    expect(Object.values(resetLocations(judged).locations)[0]?.sincePass).toBe(0);
  });

  it("get their outcome only from the gate that sent them back", () => {
    const watched = recordRework(STATE, "checks", ["a.ts"], 5);
    expect(recordReworkOutcome(watched, "review", "pass")).toBe(watched);
    expect(recordRework(STATE, "checks", [], 5)).toBe(STATE);
    expect(resetLocations(STATE)).toBe(STATE);
  });
});

describe("routes", () => {
  it("of a person go to the named phase, and to the story's own role if it has one", () => {
    expect(routeForPerson(STATE, POLICY, "plan")).toMatchObject({ phase: "plan", role: "planner" });
    const own = { ...STATE, story: story("a", { role: roleName("rustacean") }) };
    expect(routeForPerson(own, POLICY, "plan").role).toBe("rustacean");
    expect(scopeForPerson(POLICY, routeForPerson(STATE, POLICY, "plan")).tests).toBe("frozen");
    expect(scopeForPerson(POLICY, routeForPerson(STATE, POLICY, "implement")).tests).toBe("open");
  });

  it("a specialist without conditions fits nothing; one by category fits the finding, wherever it is", () => {
    const withSpecialists = (...specialists: Policy["specialists"]): Policy => ({ ...POLICY, specialists });
    const failed = judgement("review", "t", "fail", { category: "security" });
    expect(routeFailure(STATE, withSpecialists({ role: roleName("anybody") }), failed).role).toBe("developer");
    const security = routeFailure(
      STATE,
      withSpecialists({ role: roleName("security"), categories: ["security"] }),
      failed,
    );
    expect(security).toMatchObject({
      role: "security",
      reason: "the review gate failed; security is the specialist for src/f0.ts",
    });
    const placeless = { ...failed, findings: failed.findings.map(({ file: _file, ...rest }) => rest) };
    const both = withSpecialists(
      { role: roleName("ts"), languages: ["typescript"] },
      { role: roleName("src"), paths: ["src/**"] },
      { role: roleName("sec"), categories: ["security"] },
    );
    expect(routeFailure(STATE, both, placeless)).toMatchObject({
      role: "sec",
      reason: "the review gate failed; sec is the specialist for this category",
    });
  });

  it("a category that names a phase this preset does not have stays where it is", () => {
    expect(routeFailure(STATE, POLICY, judgement("review", "t", "fail", { category: "architecture" })).phase).toBe(
      "implement",
    );
  });

  it("a finding about a later phase does not send the work forward", () => {
    const policy = presetPolicy("story");
    const inResearch: StoryState = { ...STATE, policy, phase: "research" };
    expect(routeFailure(inResearch, policy, judgement("review", "t", "fail", { category: "plan" })).phase).toBe(
      "research",
    );
  });
});

describe("the charged budget", () => {
  const factory: StoryState = { ...STATE, policy: presetPolicy("factory") };
  const ci = (ciClass: Parameters<typeof judgement>[3]) => judgement("ci", "t", "fail", ciClass);

  it.each([
    ["test", factory, "tdd"],
    ["build", factory, "tdd"],
    ["test", STATE, "checks"],
    ["test", { ...STATE, policy: { ...POLICY, phases: [{ phase: "implement", gates: ["ci"] }] } }, "ci"],
    ["test", { ...STATE, policy: null }, "ci"],
    ["configuration", factory, "ci"],
    ["infrastructure", factory, null],
    ["flaky", factory, null],
    ["lint", factory, null],
    ["lint", withGate(factory, "ci", { lintFixed: true }), "ci"],
  ] as const)("a CI failure by %s (%#)", (ciClass, state, gate) => {
    expect(chargedGate(state, ci({ ciClass }))).toBe(gate);
  });

  it("an unclassified CI failure is charged to CI; other results to no budget", () => {
    expect(chargedGate(factory, ci({}))).toBe("ci");
    expect(chargedGate(factory, judgement("review", "t", "error"))).toBeNull();
    expect(refundFailure(factory, judgement("review", "t", "error"))).toBe(factory);
    expect(refundFailure(factory, judgement("review", "t", "fail")).gates.review).toMatchObject({
      failures: 0,
      failuresEver: 0,
    });
  });

  it("there is no limit without a policy, or if another limit applies", () => {
    expect(failureLimit({ ...STATE, policy: null }, "review")).toBeNull();
    const failures = { ...POLICY.limits.failures, review: null };
    expect(
      failureLimit({ ...STATE, policy: { ...POLICY, limits: { ...POLICY.limits, failures } } }, "review"),
    ).toBeNull();
    expect(failureLimit({ ...STATE, raised: { "failures:review": 7 } }, "review")).toBe(7);
  });
});

describe("evidence", () => {
  it("becomes stale only by paths that it can depend on", () => {
    const gates: Policy["gates"] = {
      ...POLICY.gates,
      checks: { ...POLICY.gates.checks, affectedBy: ["src/**"], unaffectedBy: ["src/docs/**"] },
    };
    const policy = { ...POLICY, gates };
    expect(affects(policy, "checks", ["src/a.ts"])).toBe(true);
    expect(affects(policy, "checks", ["src/docs/a.md"])).toBe(false);
    expect(affects(policy, "checks", ["web/a.ts"])).toBe(false);
    expect(affects(policy, "ci", ["README.md"])).toBe(true);
    expect(affects(policy, "ci", [])).toBe(false);
  });

  it("stays as it is when nothing changed, or before there are rules", () => {
    expect(invalidateGates(STATE, [])).toBe(STATE);
    const ruleless = { ...STATE, policy: null };
    expect(invalidateGates(ruleless, ["src/a.ts"])).toBe(ruleless);
  });
});

describe("a waiver", () => {
  const failed = judgement("review", "t", "fail");
  const waiver = { gate: "review", findings: failed.blocking, tree: null, by: "Ada", reason: "known", at: 0 } as const;
  const judged = (last: typeof failed, fresh: boolean) =>
    withGate({ ...STATE, tree: last.tree, waivers: [waiver] }, "review", { last, fresh });

  it.each([
    ["the failure it names", judged(failed, true), true],
    ["that failure, of a tree that has changed since", judged(failed, false), false],
    ["a failure without a finding", judged({ ...failed, blocking: [] }, true), false],
    ["what broke instead of failing", judged({ ...failed, result: "error" }, true), false],
    ["a gate that did not judge yet", { ...STATE, waivers: [waiver] }, false],
    [
      "another gate",
      withGate({ ...STATE, waivers: [{ ...waiver, gate: "audit" }] }, "review", { last: failed, fresh: true }),
      false,
    ],
  ] as const)("covers %s: %#", (_name, state, covers) => {
    expect(isOpen(state, "review", "")).toBe(covers);
  });
});

describe("spending", () => {
  it("has no forecast before the first attempt, or with an unknown price", () => {
    expect(forecastUsd(STATE)).toBeNull();
    const attempt = {
      attempt: 1,
      phase: "implement",
      role: roleName("x"),
      reworkOf: null,
      outcome: "ready",
      tree: null,
      summary: "",
      failed: "",
      asked: 0,
    } as const;
    const spent = { costUsd: 3, tokens: 0, timeMs: 0, costUnknown: false };
    expect(forecastUsd({ ...STATE, attempts: [attempt, { ...attempt, outcome: "running" }], spent })).toBe(3);
    expect(forecastUsd({ ...STATE, attempts: [attempt], spent: { ...spent, costUnknown: true } })).toBeNull();
  });

  it("exceeds nothing without a policy or limits, and tokens like money", () => {
    expect(overspent({ ...STATE, policy: null })).toBeNull();
    expect(overspent(STATE)).toBeNull();
    const limited = { ...POLICY, limits: { ...POLICY.limits, story: { costUsd: null, tokens: 100, timeMs: null } } };
    expect(overspent({ ...STATE, policy: limited, spent: { ...STATE.spent, tokens: 100 } })).toEqual({
      budget: "tokens",
      used: 100,
      limit: 100,
    });
    expect(
      overspent({ ...STATE, policy: limited, raised: { tokens: 200 }, spent: { ...STATE.spent, tokens: 100 } }),
    ).toBeNull();
  });
});
