import { describe, expect, test } from "vitest";
import { createAuditGate, type AuditOptions } from "../../../src/gates/audit/audit-gate.ts";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import type { CheckRun, Judgement } from "../../../src/core/gates/gate.ts";
import { evidenceId } from "../../../src/core/events/ids.ts";
import { judge } from "../../../src/decide/verdict.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import { judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import { describeGate, gateRequest, memoryEvidence } from "../../contract/gate.ts";
import {
  scriptedReviewers,
  fakeWorkspace,
  fixedClock,
  judgementOf,
  type Act,
  type Asked,
} from "../../kit/reviewers.ts";

const CAP = "no wait is longer than 5000 ms";
const OTHER = "the caller can give another cap";
const story = {
  ...gateRequest().story,
  criteria: [
    { id: "AC1", text: CAP },
    { id: "AC2", text: OTHER },
  ],
};

const PASSED = `AUDIT_PASSED: checkout

Verification Results:
- ${CAP}: VERIFIED - waitMs(20) is 5000
- AC2: VERIFIED - waitMs(20, 900) is 900

Commands Executed:
- npm test (local): PASS

Summary: all of it holds
`;

const FAILED = `AUDIT_FAILED: checkout

Failed Criteria:
- ${OTHER}: FAILED - the second argument is not read

Issues Found:
- src/pay.js:4: capMs is never used

Required Fixes:
- use capMs

Passing Criteria:
- ${CAP}
`;

const run = (changes: Partial<CheckRun> = {}): CheckRun => ({
  check: "npm test",
  command: "npm test",
  environment: "local",
  result: "pass",
  exitCode: 0,
  details: "4 of 4 tests passed",
  ...changes,
});
const red = run({ result: "fail", exitCode: 1, details: "1 of 4 tests failed" });
const redFinding = identifyFinding({
  severity: "critical",
  category: "test",
  source: "npm test",
  message: "cap: 6000 is not 5000",
});
const redChecks = judgementOf({
  gate: "checks",
  result: "fail",
  runs: [red],
  findings: [redFinding],
  blocking: [redFinding.id],
});

function gateWith(acts: readonly Act[], asked: Asked[] = [], options: Partial<AuditOptions> = {}) {
  return createAuditGate({
    roleRegistry: scriptedReviewers({ auditor: acts }, asked),
    evidence: memoryEvidence(),
    nonce: () => "abcdef0123456789",
    workspace: fakeWorkspace(),
    clock: fixedClock,
    judge,
    commands: [{ command: "npm test", environment: "local" }],
    verify: null,
    judgedBy: ["an audit by auditor"],
    ...options,
  });
}

const rules = { ...gateRequest().rules, everyFinding: true };
const green = { checks: judgementOf({ gate: "checks", result: "pass", runs: [run()] }) };

async function audit(acts: readonly Act[], request: Partial<GateRequest> = {}, options: Partial<AuditOptions> = {}) {
  const asked: Asked[] = [];
  const judgement = await gateWith(acts, asked, options).run(gateRequest({ story, rules, beside: green, ...request }), {
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });
  expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
  return { judgement, asked };
}

const contract = (act: Act) => (evidence: AuditOptions["evidence"]) =>
  Promise.resolve({ gate: gateWith([act], [], { evidence }), request: gateRequest({ story, rules, beside: green }) });

describeGate("audit", {
  passing: contract(PASSED),
  failing: contract(FAILED),
  broken: contract({ status: "timeout" }),
  slow: () => null,
});

describe("an auditor", () => {
  test("gets the criteria, the files, the critic's assessment, the commands, and what the engine ran", async () => {
    const review = judgementOf({
      gate: "review",
      result: "pass",
      quality: { Naming: "CONSISTENT" },
      stages: [{ stage: "review", result: "pass", reviewer: "critic" as never, summary: "reads well" }],
    });
    const { asked } = await audit([PASSED], { beside: { ...green, review } });
    for (const part of [
      `AC1: ${CAP}`,
      "- src/pay.js",
      "Naming: CONSISTENT",
      "Summary: reads well",
      "`npm test` (local)",
      "`npm test` (local): PASS - 4 of 4 tests passed",
      "git diff base commit-now",
    ])
      expect(asked[0]!.prompt).toContain(part);
    expect(asked[0]).toMatchObject({ access: "read", turn: 0 });
  });

  test("is shown the work if it cannot read files, and told to rely on the engine's runs", async () => {
    const asked: Asked[] = [];
    const blind = scriptedReviewers({ auditor: [PASSED] }, asked, ["auditor"]);
    await audit([PASSED], {}, { roleRegistry: blind });
    expect(asked[0]!.prompt).toMatch(
      /### The Work\n\n<<<remand:\w+ diff of the work\n\| diff from \S+ to \S+\nremand:/,
    );
    expect(asked[0]!.prompt).toContain("You can run none of them");
    expect(asked[0]!.prompt).not.toContain("git diff");
    const { asked: seeing } = await audit([PASSED]);
    expect(seeing[0]!.prompt).toContain("git diff");
    expect(seeing[0]!.prompt).not.toContain("### The Work");
  });

  test("is not asked about work that it would see only in part", async () => {
    const asked: Asked[] = [];
    const roleRegistry = scriptedReviewers({ auditor: [PASSED] }, asked, ["auditor"]);
    const workspace = fakeWorkspace({ diff: () => Promise.resolve("+ line\n".repeat(10_000)) });
    const { judgement } = await audit([PASSED], {}, { roleRegistry, workspace });
    expect(judgement.result).toBe("error");
    expect(judgement.summary).toContain("auditor sees nothing but its prompt, and the work has 70,000 characters");
    expect(asked).toEqual([]);
    expect((await audit([PASSED], {}, { workspace })).judgement.result).toBe("pass");
  });

  // S2.25
  test("verifies each criterion with evidence", async () => {
    const { judgement } = await audit([PASSED]);
    expect(judgement).toMatchObject({
      result: "pass",
      findings: [],
      criteria: [
        { criterion: CAP, status: "verified", evidence: "waitMs(20) is 5000" },
        { criterion: OTHER, status: "verified", evidence: "waitMs(20, 900) is 900" },
      ],
      runs: [run()],
      asked: { auditor: 1 },
      costUsd: 0.01,
    });
    expect(judgement.disagreement).toBeUndefined();
  });

  test("shows the checks' output as evidence of its failure only if they failed, or it says that they do", async () => {
    const log = evidenceId("c".repeat(64));
    const checks = (result: "pass" | "fail", runs = [run()]) =>
      judgementOf({ ...green.checks, result, runs, evidence: [log] });
    const kept = async (act: Act, beside: Judgement): Promise<boolean> =>
      (await audit([act], { beside: {} }, { verify: () => Promise.resolve(beside) })).judgement.evidence.includes(log);
    expect(await kept(FAILED, checks("pass"))).toBe(false);
    expect(await kept(FAILED, checks("fail", [red]))).toBe(true);
    expect(await kept(PASSED, checks("fail", [red]))).toBe(true);
  });

  test("fails some and passes others; passed ones are listed, because they must stay so", async () => {
    const { judgement } = await audit([FAILED]);
    expect(judgement).toMatchObject({
      result: "fail",
      requiredFixes: ["use capMs"],
      criteria: [
        { criterion: CAP, status: "verified" },
        { criterion: OTHER, status: "failed", evidence: "the second argument is not read" },
      ],
    });
    expect(judgement.findings).toMatchObject([
      { file: "src/pay.js", line: 4, message: "capMs is never used" },
      {
        category: "criterion",
        criterion: OTHER,
        message: `not met: ${OTHER}`,
        detail: "the second argument is not read",
      },
    ]);
  });

  test("may word a criterion freely: the finding is the same", async () => {
    const [first] = (await audit([FAILED])).judgement.findings.slice(-1);
    const reworded = FAILED.replace(
      `${OTHER}: FAILED - the second argument is not read`,
      "AC2: FAILED - ignored again",
    );
    expect((await audit([reworded])).judgement.findings.at(-1)!.id).toBe(first!.id);
  });

  test("keeps an earlier pass of a criterion that a failed audit does not mention", async () => {
    const last = judgementOf({
      gate: "audit",
      result: "fail",
      criteria: [{ criterion: CAP, status: "verified", evidence: "seen" }],
    });
    const silent = FAILED.replace(`\nPassing Criteria:\n- ${CAP}\n`, "");
    const { judgement } = await audit([silent], { last });
    expect(judgement.criteria![0]).toEqual({
      criterion: CAP,
      status: "verified",
      evidence: "seen (in the audit before)",
    });
    expect((await audit([silent])).judgement.criteria![0]).toMatchObject({ status: "unknown" });
  });
});

describe("a criterion that is not mentioned", () => {
  const SILENT = PASSED.replace(/- AC2.*\n/, "");

  test("is asked for once", async () => {
    const { judgement, asked } = await audit([SILENT, PASSED]);
    expect(judgement.result).toBe("pass");
    expect(asked[1]!.prompt).toContain("What It Leaves Out");
    expect(asked[1]!.prompt).toContain(`Is AC2 verified, or has it failed, and what shows it? ${OTHER}`);
  });

  test("is no pass", async () => {
    const { judgement, asked } = await audit([SILENT]);
    expect(asked).toHaveLength(2);
    expect(judgement).toMatchObject({ result: "error", blocking: [] });
    expect(judgement.summary).toContain("auditor left out what its verdict needs");
  });

  test("needs no question if the story has no criteria", async () => {
    const { judgement } = await audit(["AUDIT_PASSED: checkout\n\nSummary: the goal is reached\n"], {
      story: { ...story, criteria: [] },
    });
    expect(judgement).toMatchObject({ result: "pass", criteria: [] });
  });
});

describe("the engine's own runs", () => {
  test("outweigh an auditor who ignores a failure", async () => {
    const { judgement } = await audit([PASSED], { beside: {} }, { verify: () => Promise.resolve(redChecks) });
    expect(judgement).toMatchObject({
      result: "fail",
      runs: [red],
      stages: [
        { stage: "audit", result: "pass" },
        { stage: "verification", result: "fail", reviewer: "engine" },
      ],
      findings: [{ id: redFinding.id }],
      blocking: [redFinding.id],
    });
    expect(judgement.disagreement).toMatch(
      /^auditor against engine: the auditor passed the work, and `npm test` failed in local/,
    );
    expect(judgement.context!.join(" ")).toContain("the exit code counts");
  });

  test("are those of the checks gate on this tree, and are not repeated", async () => {
    let runs = 0;
    const verify = () => Promise.resolve((runs++, redChecks));
    expect((await audit([PASSED], {}, { verify })).judgement.result).toBe("pass");
    expect(runs).toBe(0);
    await audit([PASSED], { beside: {} }, { verify });
    expect(runs).toBe(1);
  });

  test("that a person has waived are shown, and not counted again", async () => {
    const { judgement, asked } = await audit([PASSED], { beside: { checks: redChecks } });
    expect(judgement).toMatchObject({ result: "pass", runs: [red] });
    expect(judgement.disagreement).toBeUndefined();
    expect(asked[0]!.prompt).toContain("FAIL - 1 of 4 tests failed");
  });

  test("contradict a failure that only the auditor saw; the finding is kept, and says so", async () => {
    const claim =
      "AUDIT_FAILED: checkout\n\nCommands Executed:\n- npm test (local): FAIL\n\nIssues Found:\n- src/pay.js:4: the tests fail\n";
    const { judgement } = await audit([claim]);
    expect(judgement).toMatchObject({ result: "fail", runs: [run()] });
    expect(judgement.disagreement).toContain(
      "the auditor says that `npm test` failed in local, and the engine saw it pass",
    );
    expect(judgement.findings.map(({ category }) => category)).toEqual(["audit", "disagreement"]);
  });

  test("make the table of environments, with what only the auditor ran", async () => {
    const runs = [run({ environment: "node20" }), run({ environment: "node24", result: "fail", exitCode: 1 })];
    const checks = { ...redChecks, runs };
    const failed = `${FAILED}\nCommands Executed:\n- npm test (windows): FAIL\n- npm test (node20): PASS\n`;
    const { judgement } = await audit([failed], { beside: {} }, { verify: () => Promise.resolve(checks) });
    expect(judgement.runs).toMatchObject([
      { environment: "node20", result: "pass" },
      { environment: "node24", result: "fail" },
      {
        environment: "windows",
        result: "fail",
        exitCode: null,
        check: "npm test",
        details: "FAIL (reported by the auditor)",
      },
    ]);
  });

  test.each(["blocked", "error"] as const)("that are %s leave nothing to audit", async (result) => {
    const checks = judgementOf({ gate: "checks", result, summary: `checks: ${result} (no container)` });
    const { judgement, asked } = await audit([PASSED], { beside: {} }, { verify: () => Promise.resolve(checks) });
    expect(judgement).toMatchObject({ result, summary: `audit: checks: ${result} (no container)` });
    expect(asked).toHaveLength(0);
  });

  test("that prove nothing take a pass away", async () => {
    const checks = judgementOf({ gate: "checks", result: "inconclusive", runs: [run({ result: "inconclusive" })] });
    const { judgement } = await audit([PASSED], { beside: {} }, { verify: () => Promise.resolve(checks) });
    expect(judgement.result).toBe("inconclusive");
  });
});

test("an auditor that finds a fault where the critic found none contradicts the critic, and a note says so", async () => {
  const review = judgementOf({ gate: "review", result: "pass", quality: { "Error handling": "ADEQUATE" } });
  const { judgement } = await audit([FAILED], { beside: { ...green, review } });
  expect(judgement.disagreement).toBe(
    "auditor against critic: the critic passed src/pay.js (Error handling: ADEQUATE), and the auditor finds at src/pay.js:4: capMs is never used",
  );
});

test("AUDIT_BLOCKED is blocked, with what is broken, and charges no role", async () => {
  const text =
    "AUDIT_BLOCKED: checkout\n\nPre-existing Failures:\n- 12 test failures in test/db\n- the database is down\n\nCannot proceed.\n";
  const { judgement } = await audit([text]);
  expect(judgement).toMatchObject({
    result: "blocked",
    blocking: [],
    summary: "audit: 12 test failures in test/db; the database is down",
  });
  expect(judgement.failure).toBeUndefined();
});

test.each<[string, Act, string]>([
  ["a crash", { status: "failed", error: { kind: "crash", message: "auditor crashed" } }, "auditor crashed"],
  ["silence", "", "gave no answer that can be read, asked 3 times"],
  ["another story's signal", PASSED.replace("checkout", "other"), "gave no answer that can be read"],
  ["a pass with a failed criterion", `${PASSED}\nFailed Criteria:\n- ${CAP}: FAILED - no\n`, "a criterion failed"],
  ["a critic's signal", "REVIEW_PASSED: checkout\n", "is not a auditor's signal"],
])("%s is an error and never a verdict", async (_what, act, words) => {
  const { judgement } = await audit([act]);
  expect(judgement).toMatchObject({ result: "error", findings: [], blocking: [], criteria: [] });
  expect(judgement.summary).toContain(words);
});

test("a FAIL without details is asked about once, then passed on as best effort", async () => {
  const { judgement, asked } = await audit(["AUDIT_FAILED: checkout\n\nSummary: no\n"]);
  expect(asked).toHaveLength(2);
  expect(judgement).toMatchObject({
    result: "fail",
    isBestEffort: true,
    findings: [{ category: "unspecified", detail: "no" }],
  });
});
