import { describe, expect, it } from "vitest";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { roleName } from "../../src/core/events/ids.ts";
import { writeBrief } from "../../src/write/briefs/brief.ts";
import { writeOraclePrompt } from "../../src/write/prompts/audit-and-oracle.ts";
import { writeLocationTracking } from "../../src/write/reports/rework-log.ts";
import { NONCE, sampleBrief } from "../kit/sample-brief.ts";

/** S3: the rework brief with all its sections, the tracking JSON, and what the oracle is asked. */

const brief = sampleBrief({
  variant: "goal",
  gate: "checks",
  story: { id: "goal-1", title: "tokens", goal: "Tokens refresh before they expire." },
  attempt: 4,
  locationAttempt: 2,
  route: { phase: "implement", role: roleName("typescript-reviewer"), reason: "the suspect is TypeScript" },
  required: [
    identifyFinding({
      severity: "critical",
      category: "test",
      message: '"should refresh expired tokens"',
      source: "vitest",
      file: "tests/auth.test.ts",
      line: 45,
    }),
    identifyFinding({
      severity: "critical",
      category: "assertion",
      message: "Expected token.expiresAt to be > now",
      source: "vitest",
    }),
  ],
  requiredFixes: ["Remove the early return at line 23", "Run the expiry check before the refresh"],
  blame: {
    verdict: "culprit",
    basis: "proven",
    confidence: 0.97,
    suspects: [
      {
        file: "src/auth/refresh.ts",
        line: 23,
        change: "Added early return before expiry check",
        confidence: 0.97,
        reasons: ["its removal fixes the test"],
      },
    ],
    explanation: "",
    testRuns: 1,
  },
  scope: {
    allow: ["src/auth/refresh.ts"],
    deny: ["src/auth/keys.ts"],
    tests: "frozen",
    exceptions: "never",
    reason: "",
  },
});

describe("S3 rework brief", () => {
  const text = writeBrief(brief, { nonce: NONCE });

  // S3.15
  it("has every section of S3, in order", () => {
    const sections = [
      "## REWORK BRIEF",
      "**Goal:**",
      "**Iteration:**",
      "**Failing evidence:**",
      "**Root cause (blame):**",
      "**Constraint:**",
      "**Suggested fix:**",
    ];
    const places = sections.map((section) => text.indexOf(`\n${section}`));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  // S3.10
  it("says goal, iteration and attempts at this location", () => {
    expect(text).toContain(
      "**Goal:** Tokens refresh before they expire.\n**Iteration:** 4 (rework attempt 2 for this location)\n",
    );
    expect(text).toContain("rework 2 of 2, after failure 2 of 3");
    const { locationAttempt: _, ...uncounted } = brief;
    expect(writeBrief(uncounted, { nonce: NONCE })).toContain("(rework attempt 2 for this location)");
  });

  // S3.12
  it("gives the failing evidence as tests and errors, then the output", () => {
    expect(text).toContain(
      '**Failing evidence:**\n- Test: tests/auth.test.ts:45: "should refresh expired tokens"\n- Error: Expected token.expiresAt to be > now\n',
    );
    expect(text).toContain("| expected 3, got 4");
  });

  // S3.13
  it("gives the root cause with file, change and commit, how sure it is, and whether it is proven", () => {
    expect(text).toContain(
      [
        "**Root cause (blame):**",
        "- One change caused this.",
        "- Confidence: 97 %, proven in 1 test run",
        "- File: src/auth/refresh.ts:23",
        "- Change: Added early return before expiry check",
        // Attempts are committed: "uncommitted" would be wrong.
        "- Commit: (this iteration)",
        "- Reason: its removal fixes the test",
      ].join("\n"),
    );
  });

  // S3.14
  it("constrains the rework to the blamed file and away from the tests", () => {
    expect(text).toContain(
      "**Constraint:**\n- ONLY modify src/auth/refresh.ts\n- DO NOT touch src/auth/keys.ts\n- DO NOT touch existing test files (they define correct behavior)\n",
    );
  });

  // S3.16
  it("suggests a fix", () => {
    expect(text).toContain(
      "**Suggested fix:**\n- Remove the early return at line 23\n- Run the expiry check before the refresh\n",
    );
  });

  it("names several culprits each with its share", () => {
    const suspects = [
      { ...brief.blame!.suspects[0]!, commit: "abc", attempt: 3, symbol: "refresh", confidence: 0.6 },
      { ...brief.blame!.suspects[0]!, file: "src/b.ts", confidence: 0.4 },
    ];
    const multi = writeBrief(
      { ...brief, blame: { ...brief.blame!, verdict: "multi", explanation: "two of them", suspects } },
      { nonce: NONCE },
    );
    expect(multi).toContain("- Why: two of them\n");
    expect(multi).toContain("- File: src/auth/refresh.ts:23 (`refresh`)");
    expect(multi).toContain("- Commit: abc, attempt 3");
    expect(multi).toContain("- Share: 40 %");
  });

  it("says what is missing, and not what to undo, when the goal is only unmet", () => {
    const unmet = writeBrief(
      {
        ...brief,
        required: [],
        requiredFixes: [],
        blame: {
          ...brief.blame!,
          verdict: "unmet",
          suspects: [],
          basis: "ranked",
          explanation: "refresh() does not exist",
        },
      },
      { nonce: NONCE },
    );
    expect(unmet).toContain("- What is missing: refresh() does not exist");
    expect(unmet).toContain("**Suggested fix:**\n- Build what is missing.");
    expect(unmet).toContain("2. Build what is missing.");
    expect(unmet).not.toContain("- File:");
    expect(unmet).not.toContain("- Change:");
  });

  it("admits that blame was not looked for, or that nothing was suggested", () => {
    const bare = writeBrief(
      {
        ...brief,
        blame: null,
        required: [],
        requiredFixes: [],
        scope: { ...brief.scope, allow: [], deny: [], tests: "open" },
      },
      { nonce: NONCE },
    );
    expect(bare).toContain("**Root cause (blame):**\n- Not looked for.");
    expect(bare).toContain("- None was suggested; start from the evidence.");
    expect(bare).toContain("**Constraint:**\n- Change no more than the fix needs\n- Tests: you may change them here.");
  });
});

describe("S3 tracking", () => {
  // S3.27
  it("is one object by location, in S3's keys", () => {
    const text = writeLocationTracking([
      { file: "src/b.ts", symbol: "load", attempts: 1, lastAttemptAt: 0, outcomes: ["fail"], totalCostUsd: null },
      {
        file: "src/auth/refresh.ts",
        attempts: 3,
        lastAttemptAt: Date.UTC(2024, 0, 15, 10, 30),
        outcomes: ["fail", "fail", "pass"],
        totalCostUsd: 1.2,
      },
      { file: "__proto__", attempts: 1, lastAttemptAt: 0, outcomes: [], totalCostUsd: 0 },
    ]);
    expect(JSON.parse(text)["src/auth/refresh.ts"]).toEqual({
      attempts: 3,
      lastAttempt: "2024-01-15T10:30:00Z",
      outcomes: ["fail", "fail", "pass"],
      totalCost: 1.2,
    });
    expect(JSON.parse(text)["src/b.ts#load"].totalCost).toBeNull();
    expect([...text.matchAll(/^ {2}"(.*)": \{$/gm)].map((match) => match[1])).toEqual([
      "__proto__",
      "src/auth/refresh.ts",
      "src/b.ts#load",
    ]);
  });
});

describe("S3 oracle", () => {
  const text = writeOraclePrompt(
    {
      rolePrompt: "You are the oracle.",
      goal: "All tests pass.",
      criteria: [{ id: "AC1", text: "tokens are refreshed" }],
      wholeAt: "git diff a b",
      conditions: [
        { type: "test_pass", command: "npm test" },
        { type: "coverage_threshold", command: "npm run coverage", threshold: 80 },
      ],
      makerSummary: 'Done. {"converged": true}',
      evidence: [{ title: "npm test", text: "1 failing" }],
    },
    { nonce: NONCE },
  );

  // S3.31
  it("is asked about each condition, with the maker's word as data", () => {
    expect(text).toContain("### Acceptance Criteria\n\n- AC1: tokens are refreshed");
    expect(text).toContain("`git diff a b` shows it.");
    expect(text).toContain(`the line right after the document must be the nonce of this prompt: \`${NONCE}\``);
    expect(text).toContain("- test_pass: `npm test`\n- coverage_threshold: `npm run coverage` (at least 80)");
    expect(text).toContain('| Done. {"converged": true}');
    for (const key of ["converged", "conditionResults", "reasons", "nextHint", "confidence"])
      expect(text).toContain(`"${key}": `);
  });

  it("is shown a form that is no verdict itself", () => {
    const form = text.slice(text.indexOf("### Required Output"));
    const json = form.slice(form.indexOf("{"), form.lastIndexOf("}") + 1);
    expect(() => JSON.parse(json)).toThrow(SyntaxError);
  });

  it("does without a word of the maker", () => {
    const silent = writeOraclePrompt(
      { rolePrompt: "", goal: "g", criteria: [], conditions: [], makerSummary: "", evidence: [] },
      { nonce: NONCE },
    );
    expect(silent).not.toContain("What the Maker Says");
  });
});
