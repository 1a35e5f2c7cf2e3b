import { describe, expect, it } from "vitest";
import { writeBrief } from "../../src/write/briefs/brief.ts";
import { NONCE, sampleBrief } from "../kit/sample-brief.ts";
import { headings, inOrder } from "./headings.ts";

/** S0: what the developer is sent after a failed review, a failed audit, and a failure in some environments only. */

describe("S0 review rework", () => {
  const text = writeBrief(sampleBrief({ variant: "review", gate: "review" }), { nonce: NONCE });

  // S0.8, S0.11
  it("has S0's headings in S0's order, after the role's prompt and a rule", () => {
    expect(
      text.startsWith(
        "You are the developer.\nYou write small changes.\n\n---\n\n## Rework Assignment\n\nTask ID: auth-registration\n",
      ),
    ).toBe(true);
    expect(
      inOrder(headings(text), [
        "## Rework Assignment",
        "### CRITIC REVIEW FAILED",
        "### Issues Found",
        "### Required Fixes",
        "### Priority: HIGH",
        "### Your Previous Work",
        "### Instructions",
      ]),
    ).toBe(true);
  });

  // S0.9, S0.10
  it("lists issues as <file>:<line>: <description>, and the fixes as they were asked for", () => {
    expect(text).toContain("- src/auth/handler.ts:42: Unchecked error return from database call (critical, ");
    expect(text).toContain("### Required Fixes\n\n- Check the error of the database call\n- Rename x\n");
  });

  // S0.12
  it("lists the files of the previous work", () => {
    expect(text).toContain("Files Modified:\n- src/auth/handler.ts\n- test/auth.test.ts\n");
  });

  // S0.13, S0.21
  it("gives every instruction of S0", () => {
    const steps = text.slice(text.indexOf("### Instructions"));
    for (const step of [
      /1\. Read every issue carefully/,
      /2\. Fix ALL the issues/,
      /3\. Re-run the verification commands/,
      /4\. Signal READY_FOR_REVIEW when all issues are addressed/,
    ]) {
      expect(steps).toMatch(step);
    }
    expect(steps).toMatch(/Do NOT skip any: the same Critic reviews again/);
    expect(text.trimEnd().endsWith("Begin rework.")).toBe(true);
  });

  it("accumulates what earlier attempts tried, from the second failure on", () => {
    expect(text).toContain("- Attempt 2: caught the error -> it was dropped afterwards");
    const first = writeBrief(sampleBrief({ failure: 1, attempt: 2, earlier: [] }), { nonce: NONCE });
    expect(first).not.toContain("### Earlier Attempts");
    expect(first).toContain("rework 1 of 2, after failure 1 of 3");
  });
});

describe("S0 audit rework", () => {
  const text = writeBrief(sampleBrief({ variant: "audit", gate: "audit" }), { nonce: NONCE });

  it("has S0's headings in S0's order", () => {
    expect(
      inOrder(headings(text), [
        "## Rework Assignment",
        "### AUDIT_FAILED",
        "### Failed Criteria",
        "### Issues Found",
        "### Required Fixes",
        "### Passing Criteria",
        "### Your Previous Work",
        "### Instructions",
      ]),
    ).toBe(true);
  });

  // S0.19, S0.20, S4.50
  it("tells failed criteria from those that pass and must stay so", () => {
    expect(text).toContain("### Failed Criteria\n\n- AC-2 mail is sent: FAILED - no mail in the outbox\n");
    expect(text).toMatch(/### Passing Criteria\n\n.*must stay so:\n- AC-1 address is checked\n/);
  });

  it("calls a criterion that nobody verified by its name", () => {
    const criteria = [{ criterion: "AC-3", status: "unknown" as const, evidence: "not run" }];
    expect(writeBrief(sampleBrief({ variant: "audit", criteria }), { nonce: NONCE })).toContain(
      "- AC-3: NOT VERIFIED - not run",
    );
  });

  it("gives every instruction of S0", () => {
    for (const step of [
      /failed criteria carefully/,
      /Understand WHY each criterion failed/,
      /Fix ALL the issues/,
      /verification commands in ALL environments/,
      /Signal READY_FOR_REVIEW when all criteria are met/,
      /Critic reviews the code again before the next audit/,
    ]) {
      expect(text).toMatch(step);
    }
  });
});

describe("S0 environment rework", () => {
  const text = writeBrief(sampleBrief({ variant: "environment", gate: "checks" }), { nonce: NONCE });

  it("has S0's headings in S0's order", () => {
    expect(
      inOrder(headings(text), [
        "## Rework Assignment",
        "### ENVIRONMENT-SPECIFIC FAILURE",
        "### Environment Results",
        "### Failed Environments",
        "## node24",
        "### Common Causes",
        "### Instructions",
      ]),
    ).toBe(true);
  });

  // S0.26
  it("shows the table, one row per environment, and lets no cell end early", () => {
    expect(text).toContain(
      [
        "| Environment | Status | Details |",
        "|-------------|--------|---------|",
        "| node20 | PASS | 1 of 1 check passes |",
        "| node24 | FAIL | test: no such module \\| x |",
      ].join("\n"),
    );
  });

  // S0.27
  it("names check and error of each failed environment, and of no other", () => {
    expect(text).toContain("## node24\n\nCheck: test (`npm test`)\nError: no such module | x (exit code 1)");
    expect(text).not.toContain("## node20");
  });

  it("calls an environment that broke by what happened to it", () => {
    const runs = [{ ...sampleBrief().runs[1]!, result: "blocked" as const, exitCode: null, details: "no docker" }];
    const blocked = writeBrief(sampleBrief({ variant: "environment", runs }), { nonce: NONCE });
    expect(blocked).toContain("| node24 | BLOCKED | test: no docker |");
    expect(blocked).toContain("Error: no docker\n");
  });

  // S0.28, S0.29
  it("names S0's four usual causes and every instruction", () => {
    const causes = /### Common Causes\n\n((?:- .*\n)+)/.exec(text)![1]!;
    expect(causes.trimEnd().split("\n")).toHaveLength(4);
    for (const cause of [/dependency/, /hardcoded path/, /version of a library/, /platform/])
      expect(causes).toMatch(cause);
    for (const step of [
      /Analyze why the code fails/,
      /works in ALL environments/,
      /in EVERY environment before you signal/,
      /only when ALL environments pass/,
    ]) {
      expect(text).toMatch(step);
    }
  });
});
