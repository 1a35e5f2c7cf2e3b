import type { Brief } from "../../src/core/stories/brief.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import type { Finding, FindingDraft } from "../../src/core/gates/finding.ts";
import { roleName } from "../../src/core/events/ids.ts";

export const NONCE = "5f2c9a71d04e8b36";

/** A line at column 0 that a reader would take for a signal. */
export const SIGNAL_LINE =
  /^(?:READY_FOR_REVIEW|TASK_INCOMPLETE|INFRA_BLOCKED|REVIEW_PASSED|REVIEW_FAILED|AUDIT_PASSED|AUDIT_FAILED|AUDIT_BLOCKED|REMEDIATION_COMPLETE|HEALTH_AUDIT)(?::|$)/m;

export function finding(draft: Partial<FindingDraft> = {}): Finding {
  return identifyFinding({
    severity: "critical",
    category: "error-handling",
    message: "Unchecked error return from database call",
    source: "critic",
    file: "src/auth/handler.ts",
    line: 42,
    ...draft,
  });
}

/** A brief in which every field says something, so that every part of a text shows. */
export function sampleBrief(changes: Partial<Brief> = {}): Brief {
  return {
    story: { id: "auth-registration", title: "Register with an address", goal: "A visitor can register." },
    gate: "review",
    variant: "review",
    attempt: 3,
    failure: 2,
    failureLimit: 3,
    route: { phase: "implement", role: roleName("developer"), reason: "code quality goes to its author" },
    rolePrompt: "You are the developer.\nYou write small changes.",
    summary: "2 issues block the work",
    evidence: [{ title: "npm test", text: "1 failing\nexpected 3, got 4", fullAt: ".remand/evidence/7.log" }],
    blame: {
      verdict: "culprit",
      basis: "proven",
      confidence: 0.93,
      suspects: [
        {
          file: "src/auth/refresh.ts",
          line: 23,
          endLine: 25,
          symbol: "refresh",
          change: "Added early return before expiry check",
          commit: "abc1234",
          attempt: 2,
          confidence: 0.93,
          reasons: ["a frame of the stack is in it"],
        },
      ],
      explanation: "Without it the failing test passes.",
      testRuns: 3,
    },
    required: [
      finding({
        severity: "major",
        message: "Name says nothing",
        file: "src/auth/names.ts",
        line: 7,
        category: "naming",
      }),
      finding({ suggestedFix: "Return the error to the caller" }),
    ],
    information: [finding({ severity: "info", message: "Could be shorter", category: "style" })],
    requiredFixes: ["Check the error of the database call", "Rename x"],
    priority: "HIGH",
    stages: [
      { stage: "spec_compliance", result: "pass", reviewer: roleName("spec-reviewer") },
      { stage: "code_quality", result: "fail", reviewer: roleName("quality-reviewer"), summary: "errors are dropped" },
    ],
    runs: [
      { check: "test", command: "npm test", environment: "node20", result: "pass", exitCode: 0, details: "12 passed" },
      {
        check: "test",
        command: "npm test",
        environment: "node24",
        result: "fail",
        exitCode: 1,
        details: "no such module | x",
      },
    ],
    criteria: [
      { criterion: "AC-1 address is checked", status: "verified", evidence: "test passes" },
      { criterion: "AC-2 mail is sent", status: "failed", evidence: "no mail in the outbox" },
    ],
    survivors: [
      {
        file: "src/auth/handler.ts",
        line: 55,
        mutation: "replaced > with >=",
        description: "the boundary is not tested",
        recommendedTest: "Test exact boundary for max login attempts",
      },
    ],
    mutationScore: "95%",
    ci: { class: "test", step: "unit tests", runId: "run-812" },
    conflicts: [
      {
        file: "src/auth/handler.ts",
        line: 9,
        between: ["security", "code quality"],
        says: ["validate twice", "validate once"],
        winner: "security",
      },
    ],
    filesModified: ["src/auth/handler.ts", "test/auth.test.ts"],
    stillOpen: [],
    earlier: [{ attempt: 2, tried: "caught the error", failed: "it was dropped afterwards" }],
    context: ["The mail server answers late in the mornings."],
    guidance: ["Keep the public API.\nAsk before adding a dependency."],
    scope: {
      allow: ["src/auth/**"],
      deny: ["src/auth/generated/**"],
      tests: "add-only",
      exceptions: "with-rationale",
      reason: "the blamed file and its neighbors",
    },
    judgedBy: ["npm test", "npm run lint"],
    report: "signal",
    spellOutFormat: false,
    ...changes,
  };
}
