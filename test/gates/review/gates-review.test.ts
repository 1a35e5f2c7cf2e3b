import { describe, expect, test } from "vitest";
import { createReviewGate, type ReviewOptions } from "../../../src/gates/review/review-gate.ts";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import type { GateRules } from "../../../src/core/events/policy.ts";
import { judge } from "../../../src/decide/verdict.ts";
import type { AgentRequest } from "../../../src/ports/agent.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import type { ExperimentCheckout, CheckoutRequest, ExperimentRunner } from "../../../src/ports/experiment-runner.ts";
import { judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import { describeGate, gateRequest, memoryEvidence } from "../../contract/gate.ts";
import {
  scriptedReviewers,
  fakeWorkspace,
  FAILED,
  fixedClock,
  judgementOf,
  PASSED,
  role,
  type Act,
  type Asked,
} from "../../kit/reviewers.ts";

const rules = (changes: Partial<GateRules> = {}): GateRules => ({
  ...gateRequest().rules,
  everyFinding: true,
  ...changes,
});

function gateWith(
  acts: Readonly<Record<string, readonly Act[]>>,
  asked: Asked[] = [],
  options: Partial<ReviewOptions> = {},
) {
  return createReviewGate({
    roleRegistry: scriptedReviewers(acts, asked),
    evidence: memoryEvidence(),
    nonce: () => "abcdef0123456789",
    workspace: fakeWorkspace(),
    clock: fixedClock,
    judge,
    practices: ["Never swallow an error."],
    judgedBy: ["a review by critic"],
    ...options,
  });
}

async function review(
  acts: Readonly<Record<string, readonly Act[]>>,
  request: Partial<GateRequest> = {},
  options: Partial<ReviewOptions> = {},
) {
  const asked: Asked[] = [];
  const output: string[] = [];
  const judgement = await gateWith(acts, asked, options).run(gateRequest({ rules: rules(), ...request }), {
    signal: new AbortController().signal,
    onOutput: (line) => void output.push(line),
  });
  // A judgement is stored, so it must always have the stored form.
  expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
  return { judgement, asked };
}

const contract = (acts: Readonly<Record<string, readonly Act[]>>) => (evidence: ReviewOptions["evidence"]) =>
  Promise.resolve({ gate: gateWith(acts, [], { evidence }), request: gateRequest({ rules: rules() }) });

describeGate("review", {
  passing: contract({ critic: [PASSED] }),
  failing: contract({ critic: [FAILED] }),
  broken: contract({ critic: [{ status: "failed", error: { kind: "crash", message: "it fell over" } }] }),
  slow: () => null,
});

describe("one critic", () => {
  test("sees the work, the author's message and the project's practices, and has read access", async () => {
    const evidence = memoryEvidence();
    const message = await evidence.keep("READY_FOR_REVIEW: checkout\nI added the retry.");
    const { judgement, asked } = await review({ critic: [PASSED] }, { message }, { evidence });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ access: "read", turn: 0, session: null, key: "checkout:7", cwd: "/nowhere" });
    for (const part of [
      "You are the critic.",
      "diff from base to tree-now",
      "git diff base commit-now",
      "- src/pay.js",
      "I added the retry.",
      "Never swallow an error.",
    ])
      expect(asked[0]!.prompt).toContain(part);
    expect(judgement).toMatchObject({
      result: "pass",
      quality: { Naming: "CONSISTENT" },
      asked: { critic: 1 },
      costUsd: 0.01,
      tokens: 10,
      stages: [{ stage: "review", result: "pass", reviewer: "critic", summary: "fine" }],
    });
    expect(await evidence.read(judgement.evidence[0]!)).toContain("Quality Assessment:");
  });

  test("that fails the work gives findings, fixes and lessons", async () => {
    const { judgement } = await review({ critic: [`${FAILED}\nContext:\n- the client retries by itself\n`] });
    expect(judgement).toMatchObject({
      result: "fail",
      requiredFixes: ["pass the error on"],
      context: ["the client retries by itself"],
      findings: [
        { file: "src/pay.js", line: 3, message: "the error is swallowed", severity: "critical", source: "critic" },
      ],
      summary: "review: fail, 1 to fix",
    });
    expect(judgement.blocking).toEqual([judgement.findings[0]!.id]);
  });

  test("may answer with data; if its text contradicts the data, neither counts", async () => {
    const output = { passed: false, issues: [{ severity: "minor", category: "style", description: "too long" }] };
    expect((await review({ critic: [{ output }] })).judgement).toMatchObject({
      result: "fail",
      findings: [{ category: "style", severity: "minor", message: "too long" }],
    });
    const { judgement, asked } = await review({ critic: [{ output: { passed: true, issues: [] }, text: FAILED }] });
    expect(judgement.result).toBe("error");
    expect(asked).toHaveLength(3);
  });

  test("can name only locations inside of the work", async () => {
    const text = FAILED.replace("src/pay.js:3", "/nowhere/src/pay.js:3").replace(
      "\n\nRequired",
      "\n- ../../etc/passwd:1: read it\n\nRequired",
    );
    const { judgement } = await review({ critic: [text] });
    expect(judgement.findings.map(({ file }) => file)).toEqual(["src/pay.js", undefined]);
    expect(judgement.findings[1]!.message).toContain("read it");
  });
});

describe("a reviewer whose answer cannot be read", () => {
  test("is asked again, with the question and its answer", async () => {
    const { judgement, asked } = await review({ critic: ["I like it.", PASSED] });
    expect(judgement).toMatchObject({ result: "pass", asked: { critic: 2 }, costUsd: 0.02, tokens: 20 });
    expect(asked.map(({ turn }) => turn)).toEqual([0, 1]);
    expect(asked[1]!.prompt).toContain("Please Say It Again");
    expect(asked[1]!.prompt).toContain("I like it.");
    expect(asked[1]!.prompt).toContain("diff from base to tree-now");
    expect(judgement.evidence).toHaveLength(2);
  });

  test("is asked in its own conversation, if it has one", async () => {
    const session = { agent: "critic", id: "s1" };
    const { judgement, asked } = await review({
      critic: [
        { text: "hm", session },
        { text: PASSED, session },
      ],
    });
    expect(asked[1]!.session).toEqual(session);
    expect(asked[1]!.prompt).not.toContain("diff from base");
    expect(judgement.sessions).toEqual({ critic: session });
  });

  test.each<[string, Act]>([
    ["says nothing", ""],
    ["speaks of another story", PASSED.replace("checkout", "elsewhere")],
    ["contradicts itself", `${FAILED}\n${PASSED}`],
    ["passes with a critical finding", `${PASSED}\nIssues Found:\n- [critical] src/pay.js:3: it loses money\n`],
    ["gives another role's signal", "AUDIT_PASSED: checkout\n"],
    ["only seems to pass", "> REVIEW_PASSED: checkout\n"],
  ])("and %s, three times, is an error", async (_what, act) => {
    const { judgement, asked } = await review({ critic: [act] });
    expect(judgement).toMatchObject({ result: "error", findings: [], blocking: [], asked: { critic: 3 } });
    expect(judgement.summary).toContain("critic gave no answer that can be read, asked 3 times");
    expect(asked).toHaveLength(3);
  });

  test("is asked as often as the rules allow", async () => {
    const { asked } = await review({ critic: ["?"] }, { clarifications: 0, asked: { [role("critic")]: 4 } });
    expect(asked.map(({ turn }) => turn)).toEqual([4]);
  });
});

describe("a FAIL without details", () => {
  const BARE = "REVIEW_FAILED: checkout\n\nSummary: it does not feel right\n";

  test("is asked about once", async () => {
    const { judgement, asked } = await review({ critic: [BARE, FAILED] });
    expect(asked).toHaveLength(2);
    expect(asked[1]!.prompt).toContain("without one issue that can be acted on");
    expect(judgement).toMatchObject({ result: "fail", findings: [{ file: "src/pay.js" }] });
    expect(judgement.isBestEffort).toBeUndefined();
  });

  test("and still none counts as best effort, with a note", async () => {
    const { judgement, asked } = await review({ critic: [BARE] });
    expect(asked).toHaveLength(2);
    expect(judgement).toMatchObject({
      result: "fail",
      isBestEffort: true,
      findings: [{ category: "unspecified", detail: "it does not feel right" }],
    });
    expect(judgement.context!.join(" ")).toContain("gave no actionable details");
    expect(judgement.blocking).toHaveLength(1);
  });

  test("may become a pass, or a crash, which is no verdict", async () => {
    expect((await review({ critic: [BARE, PASSED] })).judgement.result).toBe("pass");
    const crash = { status: "failed", error: { kind: "crash", message: "gone" } } as const;
    expect((await review({ critic: [BARE, crash] })).judgement).toMatchObject({ result: "error", findings: [] });
  });
});

describe("a reviewer without an answer", () => {
  test.each<[string, Act, string]>([
    ["crashes", { status: "failed", error: { kind: "crash", message: "critic crashed" } }, "critic crashed"],
    ["is too slow", { status: "timeout", durationMs: 600_000 }, "critic did not answer within 600 s"],
    ["has no login", { status: "failed", error: { kind: "auth", message: "401" } }, "log the agent's client in"],
    [
      "is limited",
      { status: "failed", error: { kind: "rate-limit", message: "429", fix: "wait till noon" } },
      "wait till noon",
    ],
    [
      "crashes while it passes",
      { status: "failed", text: PASSED, error: { kind: "crash", message: "killed" } },
      "killed",
    ],
  ])("because it %s is an error that says what to do, and never a verdict", async (_what, act, words) => {
    const { judgement, asked } = await review({ critic: [act] });
    expect(judgement).toMatchObject({ result: "error", findings: [], blocking: [], asked: { critic: 1 } });
    expect(judgement.summary).toContain(words);
    expect(asked).toHaveLength(1);
  });

  test("because its provider says later is asked again then, and not before", async () => {
    const limited = (retryAt?: number): Act => ({
      status: "failed",
      error: { kind: "rate-limit", message: "429", ...(retryAt === undefined ? {} : { retryAt }) },
    });
    expect((await review({ critic: [limited(5_000_000)] })).judgement.retryAt).toBe(5_000_000);
    expect((await review({ critic: [limited()] })).judgement.retryAt).toBe(60_000);
    expect((await review({ critic: ["?"] })).judgement.retryAt).toBeUndefined();
  });

  test("has a known cost only if every reviewer reported one", async () => {
    const { judgement } = await review({ critic: ["?", { text: PASSED, costUsd: null }] });
    expect(judgement.costUsd).toBeUndefined();
    expect(judgement.tokens).toBe(20);
  });

  const roles = { ...gateRequest().roles, fallback: { critic: role("developer") } };

  test("has a fallback if it has no agent, or its program is missing", async () => {
    const launch = { status: "failed", error: { kind: "launch", message: "not found" } } as const;
    for (const acts of [{ developer: [PASSED] }, { critic: [launch], developer: [PASSED] }] as const) {
      const { judgement, asked } = await review(
        { ...acts },
        { roles, sessions: { [role("developer")]: { agent: "developer", id: "own" } } },
      );
      expect(judgement).toMatchObject({ result: "pass", stages: [{ reviewer: "developer" }] });
      // An author's own conversation is not used to review its work.
      expect(asked.at(-1)).toMatchObject({ role: "developer", session: null });
      // A fallback gets the instructions of the role that it replaces.
      expect(asked.at(-1)!.prompt).toContain("You are the critic.");
    }
  });

  test("is not asked about work that it would see only in part: its fallback is", async () => {
    const asked: Asked[] = [];
    const roleRegistry = scriptedReviewers({ critic: [PASSED], developer: [PASSED] }, asked, ["critic"]);
    const large = fakeWorkspace({ diff: () => Promise.resolve("+ line\n".repeat(10_000)) });
    const { judgement } = await review({}, { roles }, { roleRegistry, workspace: large });
    expect(judgement).toMatchObject({ result: "pass", stages: [{ reviewer: "developer" }] });
    const alone = await review({}, {}, { roleRegistry, workspace: large });
    expect(alone.judgement).toMatchObject({ result: "error" });
    expect(alone.judgement.summary).toContain("critic sees nothing but its prompt");
    expect(asked.map(({ role: who }) => who)).toEqual(["developer"]);
    expect((await review({}, {}, { roleRegistry })).judgement.result).toBe("pass");
  });

  test("because there is no agent at all is an error with the setting that helps", async () => {
    const { judgement } = await review({});
    expect(judgement).toMatchObject({ result: "error" });
    expect(judgement.summary).toContain("no agent plays critic — say who does: agents: { critic:");
  });

  test("each reviewer has its own clean checkout, with a constant path, and reports use the author's paths", async () => {
    const opened: (CheckoutRequest & { path: string })[] = [];
    let closed = 0;
    const checkouts: ExperimentRunner = {
      open: (request) => {
        const path = `/checkouts/${opened.length}`;
        opened.push({ ...request, path });
        return Promise.resolve({ path, close: () => Promise.resolve(void closed++) } as ExperimentCheckout);
      },
    };
    const failed = (request: AgentRequest) => FAILED.replace("src/pay.js:3:", `${request.cwd}/src/pay.js:3:`);
    const stages = rules({ stages: ["spec", "quality"], stageOrder: "side-by-side" });
    const both = { stage: { spec: role("critic"), quality: role("other") } };
    const request = { rules: stages, stages: stages.stages, roles: { ...roles, ...both }, path: "/author" };
    const acts = { critic: [PASSED], other: [failed] };
    const { judgement, asked } = await review(acts, request, { checkouts });
    expect(asked.map(({ cwd }) => cwd).toSorted()).toEqual(["/checkouts/0", "/checkouts/1"]);
    expect(opened).toMatchObject(
      ["/checkouts/0", "/checkouts/1"].map(() => ({ commit: "commit-now", tree: "tree-now", isForAgent: true })),
    );
    expect(closed).toBe(2);
    expect(judgement.findings).toMatchObject([{ file: "src/pay.js", line: 3 }]);
    await review(acts, request, { checkouts });
    expect(opened.slice(2).map(({ name }) => name)).toEqual(opened.slice(0, 2).map(({ name }) => name));
    expect(opened[0]!.name).not.toBe(opened[1]!.name);
    // No files are needed for an agent that sees only its prompt.
    const blind = scriptedReviewers({ critic: [PASSED] }, [], ["critic"]);
    expect((await review({}, {}, { checkouts, roleRegistry: blind })).judgement.result).toBe("pass");
    expect(opened).toHaveLength(4);
  });
});

describe("a second review", () => {
  const swallowed = identifyFinding({
    severity: "critical",
    category: "review",
    source: "critic",
    message: "the error is swallowed",
    file: "src/pay.js",
    line: 3,
  });
  const again: Partial<GateRequest> = {
    since: "tree-before",
    earlier: [swallowed],
    last: judgementOf({ gate: "review", result: "fail", findings: [swallowed], blocking: [swallowed.id] }),
    sessions: { [role("critic")]: { agent: "critic", id: "s1" } },
  };

  test("is about the fix, in the same conversation, with an answer for each finding", async () => {
    const { judgement, asked } = await review({ critic: [PASSED] }, again);
    expect(judgement.result).toBe("pass");
    expect(asked[0]!.session).toEqual({ agent: "critic", id: "s1" });
    expect(asked[0]!.prompt).toContain("Re-Review Assignment");
    expect(asked[0]!.prompt).toContain("diff from tree-before to tree-now");
    expect(asked[0]!.prompt).toContain(swallowed.id);
  });

  test("never resumes another role's conversation", async () => {
    const sessions = { [role("critic")]: { agent: "another-client", id: "s1" } };
    const { asked } = await review({ critic: [PASSED] }, { ...again, sessions });
    expect(asked[0]!.session).toBeNull();
  });

  test("keeps the identity of a finding that is not addressed; another one at the same line is new", async () => {
    const text = `REVIEW_FAILED: checkout\n\nEarlier Findings:\n- ${swallowed.id}: NOT ADDRESSED - it is logged and still lost\n\nIssues Found:\n- src/pay.js:3: the amount is rounded\n`;
    const { judgement } = await review({ critic: [text] }, again);
    expect(judgement.findings).toMatchObject([
      { id: swallowed.id, message: "the error is swallowed", detail: "it is logged and still lost" },
      { message: "the amount is rounded", file: "src/pay.js", line: 3 },
    ]);
    expect(judgement.findings[1]!.id).not.toBe(swallowed.id);
    expect(judgement.blocking).toHaveLength(2);
  });

  test("drops an addressed finding, whatever else is found at its line", async () => {
    const text = `REVIEW_FAILED: checkout\n\nEarlier Findings:\n- ${swallowed.id}: ADDRESSED - it is thrown\n\nIssues Found:\n- src/pay.js:3: the amount is rounded\n`;
    const { judgement } = await review({ critic: [text] }, again);
    expect(judgement.findings.map(({ message }) => message)).toEqual(["the amount is rounded"]);
    expect(judgement.findings[0]).not.toHaveProperty("detail");
  });

  test("keeps the identity of a finding in a new list, even if its line has moved", async () => {
    const text = FAILED.replace("src/pay.js:3:", "src/pay.js:33:");
    const { judgement } = await review({ critic: [text] }, again);
    expect(judgement.findings).toMatchObject([{ id: swallowed.id, line: 33 }]);
  });

  test("with a FAIL, a new list and no answers has exactly that list as findings", async () => {
    const text = FAILED.replace("src/pay.js:3: the error is swallowed", "src/pay.js:9: the amount is rounded");
    const { judgement } = await review({ critic: [text] }, again);
    expect(judgement.findings.map(({ message }) => message)).toEqual(["the amount is rounded"]);
  });

  test("with several findings drops the answered ones and keeps the others", async () => {
    const { id: _id, ...draft } = swallowed;
    const other = identifyFinding({ ...draft, message: "no test", line: 20 });
    const text = `REVIEW_FAILED: checkout\n\nEarlier Findings:\n- ${swallowed.id}: ADDRESSED\n\nIssues Found:\n- src/pay.js:9: the fix leaks\n`;
    const { judgement } = await review({ critic: [text] }, { ...again, earlier: [swallowed, other] });
    expect(judgement.findings.map(({ message }) => message)).toEqual(["no test", "the fix leaks"]);
  });

  test("with a FAIL that only names the open findings needs no other details", async () => {
    const text = `REVIEW_FAILED: checkout\n\nEarlier Findings:\n- ${swallowed.id}: NOT ADDRESSED - nothing was done\n`;
    const { judgement, asked } = await review({ critic: [text] }, again);
    expect(asked).toHaveLength(1);
    expect(judgement).toMatchObject({ result: "fail", blocking: [swallowed.id] });
  });

  test("asks about a pass that calls a finding not addressed, which fails the work if repeated", async () => {
    const text = `Earlier Findings:\n- ${swallowed.id}: NOT ADDRESSED - still there\n\nREVIEW_PASSED: checkout\n`;
    const { judgement, asked } = await review({ critic: [text] }, again);
    expect(asked).toHaveLength(2);
    expect(judgement).toMatchObject({
      result: "fail",
      blocking: [swallowed.id],
      findings: [{ id: swallowed.id, message: "the error is swallowed", detail: "still there" }],
    });
    // Asked again, it does not mention the finding: its earlier answer still counts.
    expect((await review({ critic: [text, PASSED] }, again)).judgement.result).toBe("fail");
    const corrected = text.replace("NOT ADDRESSED - still there", "ADDRESSED - it is thrown");
    expect((await review({ critic: [text, corrected] }, again)).judgement.result).toBe("pass");
  });

  test("of work that passed before shows what changed since", async () => {
    const { asked } = await review(
      { critic: [PASSED] },
      { since: "tree-before", last: judgementOf({ gate: "review", result: "pass" }) },
    );
    expect(asked[0]!.prompt).toContain("What Changed Since You Passed It");
    expect(asked[0]!.prompt).toContain("diff from tree-before to tree-now");
  });

  test("omits overturned findings; a FAIL with nothing else is no verdict", async () => {
    const { judgement } = await review({ critic: [FAILED] });
    const overturned = judgement.blocking;
    expect((await review({ critic: [FAILED] }, { overturned })).judgement).toMatchObject({
      result: "inconclusive",
      findings: [],
    });
  });
});

describe("stages in order", () => {
  const stages = ["spec", "quality", "domain"];
  const staged: Partial<GateRequest> = {
    rules: rules({ everyFinding: false, stages, failOn: { major: 1 } }),
    stages,
    roles: { ...gateRequest().roles, stage: { spec: role("spec-reviewer"), quality: role("code-reviewer") } },
  };
  const acts = { "spec-reviewer": [PASSED], "code-reviewer": [FAILED], critic: [PASSED] };

  test("stop at the first failure", async () => {
    const { judgement, asked } = await review(acts, staged);
    expect(asked.map((each) => each.role)).toEqual(["spec-reviewer", "code-reviewer"]);
    expect(asked[1]!.prompt).toContain("Stage: quality");
    expect(judgement).toMatchObject({
      result: "fail",
      summary: "review: fail (quality), 1 to fix",
      stages: [
        { stage: "spec", result: "pass", reviewer: "spec-reviewer" },
        { stage: "quality", result: "fail", reviewer: "code-reviewer" },
      ],
      findings: [{ stage: "quality" }],
    });
  });

  // S1.9
  test("report each criterion; a pass with an unmet criterion is none", async () => {
    const says = (word: string): string => `${PASSED}\nVerification Results:\n- AC1: ${word}\n`;
    const story = { ...gateRequest().story, criteria: [{ id: "AC1", text: "it works" }] };
    const verified = { ...acts, "spec-reviewer": [says("VERIFIED - it was called")] };
    const { judgement, asked } = await review(verified, { ...staged, story });
    expect(asked[0]!.prompt).toContain("Verification Results:");
    expect(judgement.criteria).toEqual([
      { criterion: "it works", status: "verified", evidence: "it was called (spec-reviewer)" },
    ]);
    const unmet = await review({ ...acts, "spec-reviewer": [says("FAILED - it throws")] }, { ...staged, story });
    expect(unmet.judgement).toMatchObject({
      result: "error",
      summary: expect.stringContaining("It says pass, and a criterion failed: AC1") as string,
    });
  });

  // S1.14
  test("continue from there with the original reviewer, who answers each finding; passed stages are kept", async () => {
    const { judgement: last } = await review(acts, staged);
    const answered = `Earlier Findings:\n- ${last.blocking[0]!}: ADDRESSED - it is passed on\n\n${PASSED}`;
    const request = {
      ...staged,
      stages: ["quality", "domain"],
      since: "tree-before",
      last,
      earlier: last.findings,
      // The config has changed meanwhile: the reviewer that raised the finding is still asked.
      roles: { ...staged.roles!, stage: { quality: role("critic") } },
      asked: { [role("code-reviewer")]: 1 },
    };
    const { judgement, asked } = await review({ ...acts, "code-reviewer": [FAILED, answered] }, request);
    expect(asked.map((each) => each.role)).toEqual(["code-reviewer", "critic"]);
    expect(asked[0]!.prompt).toContain("Re-Review Assignment");
    expect(asked[1]!.prompt).toContain("diff from base to tree-now");
    expect(judgement).toMatchObject({
      result: "pass",
      stages: [{ stage: "spec", result: "pass" }, { stage: "quality" }, { stage: "domain" }],
    });
  });

  test("ask once about a pass that leaves a finding out, which then counts, with a note", async () => {
    const { judgement: last } = await review(acts, staged);
    const request = { ...staged, stages: ["quality", "domain"], since: "tree-before", last, earlier: last.findings };
    const { judgement, asked } = await review({ ...acts, "code-reviewer": [PASSED] }, request);
    expect(asked.map((each) => each.role)).toEqual(["code-reviewer", "code-reviewer", "critic"]);
    expect(asked[1]!.prompt).toContain("What It Leaves Out");
    expect(judgement).toMatchObject({
      result: "pass",
      stages: [{ stage: "spec" }, { stage: "quality", result: "pass" }, { stage: "domain" }],
      context: [expect.stringContaining(`Passed without an answer about ${last.blocking[0]!}`)],
    });
  });

  test("accept answers in two replies, and fail if a finding stays open", async () => {
    const { judgement: last } = await review(acts, staged);
    const [first] = last.findings;
    const { id: _id, ...draft } = first!;
    const second = identifyFinding({ ...draft, message: "no test shows it" });
    const request = { ...staged, stages: ["quality"], since: "tree-before", last, earlier: [first!, second] };
    const say = (id: string, what: string): string => `Earlier Findings:\n- ${id}: ${what}\n\n${PASSED}`;
    const both = { ...acts, "code-reviewer": [say(first!.id, "ADDRESSED"), say(second.id, "ADDRESSED")] };
    const passed = await review(both, request);
    expect(passed.asked[1]!.prompt).not.toContain(`Is the finding ${first!.id}`);
    expect(passed.judgement).toMatchObject({ stages: [{}, { stage: "quality", result: "pass" }, {}] });
    expect(passed.judgement).not.toHaveProperty("context");
    const open = { ...acts, "code-reviewer": [say(first!.id, "ADDRESSED"), say(second.id, "NOT ADDRESSED - none")] };
    expect((await review(open, request)).judgement).toMatchObject({
      result: "fail",
      findings: [{ id: second.id, detail: "none" }],
    });
  });

  test("run if they have not passed, whatever was requested", async () => {
    const { asked } = await review({ ...acts, "code-reviewer": [PASSED] }, { ...staged, stages: ["domain"] });
    expect(asked.map((each) => each.role)).toEqual(["spec-reviewer", "code-reviewer", "critic"]);
  });
});

describe("perspectives side by side", () => {
  const views = ["security", "product-owner", "code"];
  const request: Partial<GateRequest> = {
    rules: rules({ everyFinding: false, stages: views, stageOrder: "side-by-side" }),
    stages: views,
    roles: { ...gateRequest().roles, stage: { security: role("security-reviewer"), code: role("code-reviewer") } },
  };
  const issue = (description: string, severity = "critical", line = 3) =>
    JSON.stringify({
      passed: false,
      issues: [{ severity, category: "design", file: "src/pay.js", line, description, suggestedFix: description }],
    });
  const fine = JSON.stringify({ passed: true, issues: [] });

  test("all run, at the same time, and are answered as data", async () => {
    let running = 0;
    let most = 0;
    const slow =
      (text: string): Act =>
      () => {
        most = Math.max(most, ++running);
        queueMicrotask(() => running--);
        return text;
      };
    const { judgement, asked } = await review(
      { "security-reviewer": [slow(issue("a"))], critic: [slow(fine)], "code-reviewer": [slow(fine)] },
      request,
    );
    expect(asked).toHaveLength(3);
    expect(asked[0]!.outputSchema).toMatchObject({ type: "object" });
    expect(asked[0]!.prompt).toContain("diff from base to tree-now");
    expect(judgement).toMatchObject({
      result: "fail",
      stages: [
        { stage: "security", result: "fail" },
        { stage: "product-owner", result: "pass" },
        { stage: "code", result: "pass" },
      ],
    });
    expect(most).toBeGreaterThan(1);
  });

  test("that contradict each other at one location: the conflict is recorded, and security wins", async () => {
    const { judgement } = await review(
      {
        "security-reviewer": [issue("Add a check of the amount")],
        critic: [fine],
        "code-reviewer": [issue("Remove the check of the amount", "critical", 4)],
      },
      request,
    );
    expect(judgement.conflicts).toMatchObject([
      { file: "src/pay.js", between: ["security", "code"], winner: "security" },
    ]);
  });

  test("of one role run one after the other, each in a new conversation", async () => {
    const { judgement, asked } = await review(
      { critic: [fine, fine, issue("late")] },
      { ...request, roles: gateRequest().roles, sessions: { [role("critic")]: { agent: "critic", id: "s" } } },
    );
    expect(asked.map(({ turn, session }) => [turn, session])).toEqual([
      [0, null],
      [1, null],
      [2, null],
    ]);
    expect(judgement).toMatchObject({ result: "fail", asked: { critic: 3 }, findings: [{ stage: "code" }] });
    expect(judgement.sessions).toBeUndefined();
  });

  test("with the same finding report it once", async () => {
    const same = issue("the error is swallowed");
    const { judgement } = await review({ critic: [same] }, { ...request, roles: gateRequest().roles });
    expect(judgement.findings).toHaveLength(1);
    expect(judgement.blocking).toEqual([judgement.findings[0]!.id]);
  });

  test("that break are no pass, and those that fail are failures all the same", async () => {
    const crash = { status: "failed", error: { kind: "crash", message: "gone" } } as const;
    const broken = { "security-reviewer": [crash], critic: [fine], "code-reviewer": [fine] };
    expect((await review(broken, request)).judgement.result).toBe("error");
    expect((await review({ ...broken, critic: [issue("x")] }, request)).judgement.result).toBe("fail");
  });

  test("with findings look at the fix; a plain pass answers them", async () => {
    const last = (await review({ critic: [issue("late"), fine, fine] }, { ...request, roles: gateRequest().roles }))
      .judgement;
    const again = { ...request, roles: gateRequest().roles, since: "tree-before", last, earlier: last.findings };
    const { judgement, asked } = await review({ critic: [PASSED, fine, fine] }, again);
    expect(asked[0]!.prompt).toContain("## Re-Review Assignment");
    expect(asked[1]!.prompt).toContain("## Review Assignment: product-owner");
    expect(judgement).toMatchObject({ result: "pass", asked: { critic: 3 } });
  });

  test("of a phase without code look at what the phase wrote", async () => {
    const { asked } = await review(
      { critic: [fine] },
      { ...request, phase: "plan", roles: gateRequest().roles },
      { productOf: () => Promise.resolve("## Implementation Plan\n1. do it\n") },
    );
    expect(asked[0]!.prompt).toContain("1. do it");
    expect(asked[0]!.prompt).not.toContain("diff from");
  });
});

test("a large diff is cut, with a note and the command that shows the rest", async () => {
  const workspace = fakeWorkspace({ diff: () => Promise.resolve("+ a line of code\n".repeat(20_000)) });
  const { asked } = await review({ critic: [PASSED] }, {}, { workspace });
  expect(asked[0]!.prompt.length).toBeLessThan(100_000);
  expect(asked[0]!.prompt).toMatch(/characters left out/);
  expect(asked[0]!.prompt).toContain("The whole of it: `git diff base commit-now`");
});
