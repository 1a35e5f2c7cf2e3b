import { describe, expect, test } from "vitest";
import type { ChangedHunk } from "../../../src/core/blame/change.ts";
import type { Failure, FailureReading } from "../../../src/core/blame/failure.ts";
import type { NamedTest } from "../../../src/core/gates/test-names.ts";
import { groupsOf } from "../../../src/decide/blame/failure-groups.ts";
import { outcomeOf } from "../../../src/decide/blame/outcome.ts";
import { verdictOf, type VerdictInput } from "../../../src/decide/blame/verdict.ts";
import type { ProofAnswer } from "../../../src/decide/blame/prove-blame.ts";
import type { RankedBlame } from "../../../src/decide/blame/rank-blame.ts";
import { blameSchema } from "../../../src/core/schemas/gate-result.ts";

function failure(changes: Partial<Failure> = {}): Failure {
  const nothing = {
    errorType: "AssertionError",
    message: "not equal",
    expected: "1",
    actual: "2",
    line: 3,
    frames: [],
    codes: [],
    identifiers: [],
    literals: [],
  };
  return { test: "adds", category: "test", file: "test/a.test.js", ...nothing, ...changes };
}
const reading = (failures: readonly Failure[], ranTests: boolean | null = true): FailureReading => ({
  runners: ["tap"],
  failures,
  ranTests,
  isTruncated: false,
});

describe("the outcome of a run", () => {
  const groups = groupsOf(
    reading([failure(), failure({ test: "adds twice" }), failure({ test: "other", message: "boom" })]),
  );
  const outcomes = (
    failures: readonly Failure[],
    more: { passed?: boolean; timedOut?: boolean; ranTests?: boolean | null } = {},
  ) =>
    outcomeOf(groups, {
      passed: more.passed ?? false,
      timedOut: more.timedOut ?? false,
      reading: reading(failures, more.ranTests ?? true),
      tookMs: 1,
    }).outcomes;

  test("failures with the same message are one group", () => {
    expect(groups.map((group) => group.failures.map((each) => each.test))).toEqual([["adds", "adds twice"], ["other"]]);
  });

  test("a run of another form is not a pass: it loaded something else, or nothing", () => {
    const dead = { ...failure(), test: null, category: "crash" as const, message: "}" };
    const run = (passed: boolean, more: Partial<FailureReading>) =>
      outcomeOf(groups, { passed, timedOut: false, reading: { ...reading([], null), ...more }, tookMs: 1 }).outcomes;
    expect(run(false, { runners: [], failures: [dead] })).toEqual(["cannot-apply", "cannot-apply"]);
    expect(run(true, { runners: [] })).toEqual(["cannot-apply", "cannot-apply"]);
    expect(run(true, { runners: ["tap"] })).toEqual(["pass", "pass"]);
  });

  test("if tests are reported by name, only a test that ran and passed counts as passed", () => {
    const named = (name: string, outcome: NamedTest["outcome"]): NamedTest => ({
      identity: `test/a.test.js > ${name}`,
      file: "test/a.test.js",
      outcome,
    });
    const run = (passed: boolean, ...tests: readonly NamedTest[]) =>
      outcomeOf(groups, { passed, timedOut: false, reading: { ...reading([]), tests }, tookMs: 1 }).outcomes;
    const [adds, twice] = [named("adds", "passed"), named("adds twice", "passed")];
    expect(run(true, adds, twice, named("other", "passed"))).toEqual(["pass", "pass"]);
    expect(run(false, adds, twice, named("other", "passed"), named("more", "failed"))).toEqual(["pass", "pass"]);
    expect(run(true, adds, named("other", "skipped"))).toEqual(["cannot-apply", "cannot-apply"]);
    expect(run(true)).toEqual(["cannot-apply", "cannot-apply"]);
    const older = { passed: true, timedOut: false, reading: { ...reading([]), tests: [adds] }, tookMs: 1 };
    expect(outcomeOf(groups.slice(0, 1), { ...older, lacksTests: true }).outcomes).toEqual(["pass"]);
    expect(outcomeOf(groups.slice(0, 1), older).outcomes).toEqual(["cannot-apply"]);
  });

  test("a failure without compared values is not trusted if others became those of a broken tree", () => {
    const thrown = failure({ test: "throws", message: "TypeError: x is not a function", errorType: "TypeError" });
    const calm = failure({ test: "must not throw", message: "must not throw", expected: null, actual: null });
    const compared = failure({ test: "compares", message: "1 is not 2", expected: "2", actual: "1" });
    const recorded = groupsOf(reading([failure({ test: "throws", message: "Error: no" }), calm, compared]));
    const run = { passed: false, timedOut: false, tookMs: 1 };
    const broken = outcomeOf(recorded, { ...run, reading: reading([thrown, calm, compared]) });
    expect(broken.outcomes).toEqual(["cannot-apply", "cannot-apply", "fail-same"]);
    expect(outcomeOf(recorded, { ...run, reading: reading([calm, compared]) }).outcomes[1]).toBe("fail-same");
  });

  test("a run that ended early is cured if all tests pass by name, whatever its output", () => {
    const crash = groupsOf(reading([failure({ test: null, category: "crash", message: "TypeError: no" })]));
    const run = (...outcomes: readonly NamedTest["outcome"][]) => {
      const tests = outcomes.map((outcome, at) => ({ identity: `a.js > ${at}`, file: "a.js", outcome }));
      const seen = { ...reading([]), runners: ["another"], tests };
      return outcomeOf(crash, { passed: true, timedOut: false, reading: seen, tookMs: 1 }).outcomes;
    };
    expect(run("passed", "skipped")).toEqual(["pass"]);
    const red = (...outcomes: readonly NamedTest["outcome"][]) => {
      const tests = outcomes.map((outcome, at) => ({ identity: `a.js > ${at}`, file: "a.js", outcome }));
      const other = reading([failure({ test: "0", message: "Error: other" })]);
      return outcomeOf(crash, { passed: false, timedOut: false, reading: { ...other, tests }, tookMs: 1 }).outcomes;
    };
    // What fails once the tests are run is another failure.
    expect(red("failed", "passed")).toEqual(["pass"]);
    expect(red("failed", "not-loaded", "passed")).toEqual(["fail-other"]);
    expect(run("passed", "not-loaded")).toEqual(["cannot-apply"]);
    expect(run("skipped")).toEqual(["cannot-apply"]);
    expect(run()).toEqual(["cannot-apply"]);
  });

  test.each<[string, Parameters<typeof outcomes>, readonly string[]]>([
    ["everything passes", [[], { passed: true }], ["pass", "pass"]],
    ["it passes without a test", [[], { passed: true, ranTests: false }], ["cannot-apply", "cannot-apply"]],
    ["it takes too long", [[failure()], { timedOut: true }], ["cannot-apply", "cannot-apply"]],
    [
      "one of a group fails as recorded, the other group passes",
      [[failure({ test: "adds twice" })]],
      ["fail-same", "pass"],
    ],
    ["the same test gets another value", [[failure({ actual: "3" })]], ["fail-other", "pass"]],
    [
      "the same test misses a name",
      [[failure({ errorType: "ReferenceError", message: "x is not defined" })]],
      ["cannot-apply", "cannot-apply"],
    ],
    [
      "the same test calls what is no longer there",
      [[failure({ errorType: "TypeError", message: "total is not a function" })]],
      ["cannot-apply", "cannot-apply"],
    ],
    [
      "the file of the tests cannot be loaded",
      [[failure({ test: "/x/test/a.test.js", errorType: null, message: "test failed", expected: null, actual: null })]],
      ["cannot-apply", "cannot-apply"],
    ],
    [
      "it does not build",
      [[failure({ test: null, category: "build", message: "no", file: "src/x.ts" })]],
      ["cannot-apply", "cannot-apply"],
    ],
    ["it fails and says nothing", [[]], ["cannot-apply", "cannot-apply"]],
  ])("%s", (_name, args, expected) => {
    expect(outcomes(...args)).toEqual(expected);
  });

  test("lines and times are not part of a failure's signature", () => {
    const recorded = groupsOf(reading([failure({ message: "took 12 ms at /a/b/x.js:3:4" })]));
    const now = reading([failure({ message: "took 15 ms at /c/x.js:9:4", line: 9 })]);
    expect(outcomeOf(recorded, { passed: false, timedOut: false, reading: now, tookMs: 1 }).outcomes).toEqual([
      "fail-same",
    ]);
  });
});

function hunk(id: number, changes: Partial<ChangedHunk> = {}): ChangedHunk {
  return {
    id,
    file: `src/${id}.js`,
    oldFile: `src/${id}.js`,
    change: "modified",
    isBinary: false,
    start: 10,
    end: 10,
    oldStart: 10,
    oldEnd: 10,
    removed: ["  return a < b;"],
    added: ["  return a <= b;"],
    ...changes,
  };
}
function ranked(confidences: readonly number[], isReached = true): RankedBlame {
  return {
    hunks: confidences.map((confidence, id) => ({
      hunk: hunk(id),
      symbol: id === 0 ? "less" : null,
      score: confidence,
      confidence,
      reasons: [`reason ${id}`],
      isTest: false,
      isReached: true,
      isIdle: false,
    })),
    isReached,
  };
}
const proof = (changes: Partial<ProofAnswer>): ProofAnswer => ({
  kind: "culprit",
  proven: true,
  hunks: [],
  runs: 7,
  searchRuns: 2,
  spentMs: 100,
  because: "shown",
  ...changes,
});
const input = (changes: Partial<VerdictInput> = {}): VerdictInput => ({
  ranked: ranked([0.6, 0.3, 0.1]),
  proof: null,
  base: null,
  isNewTest: false,
  environment: null,
  ...changes,
});

describe("the verdict", () => {
  test("a proven culprit is the only suspect, with its change and the reason", () => {
    expect(verdictOf(input({ proof: proof({ hunks: [1] }) }))).toEqual({
      verdict: "culprit",
      basis: "proven",
      confidence: 0.99,
      suspects: [
        {
          file: "src/1.js",
          line: 10,
          change: "`return a < b;` became `return a <= b;`",
          confidence: 0.99,
          reasons: ["shown", "reason 1"],
        },
      ],
      explanation: "Shown.",
      testRuns: 7,
    });
  });

  test.each<[string, Partial<VerdictInput>, object]>([
    [
      "several culprits",
      { proof: proof({ kind: "multi", hunks: [0, 2] }) },
      { verdict: "multi", basis: "proven", suspects: [{ symbol: "less" }, { file: "src/2.js" }] },
    ],
    [
      "joint culprits",
      { proof: proof({ kind: "joint", hunks: [0, 2] }) },
      { verdict: "multi", together: true, basis: "proven" },
    ],
    [
      "found and not proven: the likeliest others stay suspects",
      { proof: proof({ proven: false, hunks: [2] }) },
      {
        verdict: "culprit",
        basis: "ranked",
        suspects: [{ reasons: ["reason 2"] }, { file: "src/0.js" }, { file: "src/1.js" }],
      },
    ],
    [
      "shown by removal: a level of its own",
      { proof: proof({ proven: false, isShown: true, hunks: [2] }) },
      { verdict: "culprit", basis: "ranked", shown: true, confidence: 0.9 },
    ],
    [
      "unmet, with what the ranking says",
      { proof: proof({ kind: "unmet", proven: false }) },
      {
        verdict: "unmet",
        basis: "ranked",
        suspects: [{ file: "src/0.js" }, { file: "src/1.js" }, { file: "src/2.js" }],
      },
    ],
    [
      "unmet, with the test that asks for it",
      { proof: proof({ kind: "unmet", proven: false, hunks: [1] }) },
      { verdict: "unmet", suspects: [{ file: "src/1.js" }] },
    ],
    [
      "pre-existing",
      { proof: proof({ kind: "pre-existing" }) },
      { verdict: "pre-existing", basis: "proven", suspects: [] },
    ],
    [
      "flaky",
      { proof: proof({ kind: "flaky", proven: false }) },
      { verdict: "flaky", basis: "ranked", confidence: 0.7 },
    ],
    [
      "environment",
      { proof: proof({ kind: "environment" }), environment: "the disk was full" },
      { verdict: "environment", explanation: "The disk was full. Shown." },
    ],
    [
      "environment without a sentence",
      { proof: proof({ kind: "environment", proven: false }) },
      { verdict: "environment", explanation: "Shown." },
    ],
    [
      "too broad",
      { proof: proof({ kind: "too-broad", proven: false, hunks: [0, 1, 2] }) },
      { verdict: "too-broad", basis: "ranked", testRuns: 7 },
    ],
    [
      "runs that came to nothing: what reading says",
      { proof: proof({ kind: "unknown", proven: false }) },
      {
        verdict: "culprit",
        basis: "ranked",
        testRuns: 7,
        explanation: "Shown. By reading alone: src/0.js:10 is the likeliest of 3 changes: reason 0.",
      },
    ],
    ["by reading", {}, { verdict: "culprit", basis: "ranked", confidence: 0.6, testRuns: 0, suspects: [{}, {}, {}] }],
    [
      "by reading, and sure: the rest is left out",
      { ranked: ranked([0.97, 0.02, 0.01]) },
      { confidence: 0.95, suspects: [{ file: "src/0.js" }] },
    ],
    ["by reading, red on the base", { base: "fail-same" }, { verdict: "pre-existing", confidence: 0.9, suspects: [] }],
    [
      "by reading, red on the base in another way",
      { base: "fail-other" },
      { verdict: "pre-existing", confidence: 0.6 },
    ],
    ["by reading, a new test that is red on the base", { base: "fail-same", isNewTest: true }, { verdict: "unmet" }],
    [
      "by reading: the environment, on the base too",
      { base: "fail-same", environment: "the disk was full" },
      { verdict: "environment", confidence: 0.85 },
    ],
    [
      "by reading: the environment",
      { environment: "the disk was full" },
      { verdict: "environment", explanation: "The disk was full." },
    ],
    [
      "by reading, passing on the base: the environment does not explain it",
      { environment: "the disk was full", base: "pass" },
      { verdict: "culprit" },
    ],
    ["by reading, nothing changed", { ranked: ranked([]) }, { verdict: "unknown", confidence: 0, suspects: [] }],
    [
      "by reading, nothing is reached",
      { ranked: ranked([0.6, 0.4], false) },
      { verdict: "unknown", suspects: [{}, {}] },
    ],
    ["by reading, nothing stands out", { ranked: ranked([0.15, 0.14, 0.13, 0.12, 0.11]) }, { verdict: "too-broad" }],
    [
      "runs and reading that know nothing",
      { ranked: ranked([]), proof: proof({ kind: "unknown", proven: false }) },
      { verdict: "unknown", explanation: "Shown. By reading alone: nothing changed that could have caused it." },
    ],
  ])("%s", (_name, changes, expected) => {
    const blame = verdictOf(input(changes));
    expect(blame).toMatchObject(expected);
    expect(verdictOf(input(changes))).toEqual(blame);
    expect(blameSchema.parse(blame)).toEqual(blame);
  });

  test.each<[Partial<ChangedHunk>, string]>([
    [{ isBinary: true }, "a binary file changed"],
    [{ removed: [], added: [], change: "renamed", oldFile: "old.js" }, "renamed from old.js"],
    [{ removed: [], added: [], change: "added" }, "the file was added"],
    [{ removed: ["  if (x) return;", "  y();"], added: [] }, "2 lines removed: `if (x) return;`"],
    [{ removed: [], added: ["", "  `x`".padEnd(100, "y")] }, `2 lines added: \`'x'${"y".repeat(77)}…\``],
    [{ removed: ["a"], added: ["b", "c"] }, "changed 1 line to 2"],
  ])("says what changed: %j", (changes, words) => {
    const one: RankedBlame = {
      hunks: [
        {
          hunk: hunk(0, { end: 12, ...changes }),
          symbol: null,
          score: 1,
          confidence: 1,
          reasons: [],
          isTest: false,
          isReached: true,
          isIdle: false,
        },
      ],
      isReached: true,
    };
    expect(verdictOf(input({ ranked: one })).suspects[0]).toMatchObject({ change: words, endLine: 12 });
  });
});
