import { describe, expect, test } from "vitest";
import { SIGNALS, type SignalRole } from "../../src/core/stories/reading.ts";
import { readAgentText } from "../../src/parse/agent/agent-text.ts";

const read = (role: SignalRole, ...lines: readonly string[]) => readAgentText(lines.join("\n"), { id: "task-7", role });

describe("S2: the formats of its signals, each section by its name", () => {
  // S2.15, S2.19
  test("REVIEW_PASSED", () => {
    const reading = read(
      "critic",
      "REVIEW_PASSED: task-7",
      "",
      "Files Reviewed:",
      "- src/cart.ts",
      "- test/cart.test.ts",
      "",
      "Quality Assessment:",
      "- Code style: COMPLIANT",
      "- Error handling: ADEQUATE",
      "- Naming: CONSISTENT",
      "- Architecture: ALIGNED",
      "",
      "Summary: small and clear",
    );
    expect(reading).toEqual({
      kind: "signal",
      signal: "REVIEW_PASSED",
      id: "task-7",
      idMatches: true,
      result: "pass",
      findings: [],
      requiredFixes: [],
      passing: [],
      quality: {
        "Code style": "COMPLIANT",
        "Error handling": "ADEQUATE",
        Naming: "CONSISTENT",
        Architecture: "ALIGNED",
      },
      verification: [],
      commands: [],
      environments: [],
      preExisting: [],
      filesReviewed: ["src/cart.ts", "test/cart.test.ts"],
      filesModified: [],
      context: [],
      incomplete: null,
      priority: null,
      summary: "small and clear",
      problems: [],
    });
  });

  // S2.16
  test("REVIEW_FAILED", () => {
    const reading = read(
      "critic",
      "REVIEW_FAILED: task-7",
      "",
      "Files Reviewed:",
      "- src/cart.ts",
      "- src/price.ts",
      "",
      "Issues Found:",
      "- src/cart.ts:42: the error of the store is swallowed",
      "- src/price.ts:7: name says nothing",
      "",
      "Required Fixes:",
      "- pass the error on",
      "- rename the variable",
      "",
      "Priority: HIGH",
      "",
      "Developer: Please address all issues above and signal READY_FOR_REVIEW when complete.",
    );
    expect(reading).toMatchObject({
      signal: "REVIEW_FAILED",
      result: "fail",
      filesReviewed: ["src/cart.ts", "src/price.ts"],
      findings: [
        {
          severity: null,
          file: "src/cart.ts",
          line: 42,
          message: "the error of the store is swallowed",
          suggestedFix: null,
        },
        { severity: null, file: "src/price.ts", line: 7, message: "name says nothing" },
      ],
      requiredFixes: ["pass the error on", "rename the variable"],
      priority: "HIGH",
      problems: [],
    });
  });

  // S2.31
  test("AUDIT_PASSED", () => {
    const reading = read(
      "auditor",
      "AUDIT_PASSED: task-7",
      "",
      "Verification Results:",
      "- a cart can be emptied: VERIFIED - cart.test.ts runs it",
      "- prices: in cents: VERIFIED - read the types",
      "",
      "Commands Executed:",
      "- npm test (node20): PASS",
      "- npm run lint: fast (node24): PASS",
      "",
      "Summary: all criteria hold",
    );
    expect(reading).toMatchObject({
      signal: "AUDIT_PASSED",
      result: "pass",
      verification: [
        { criterion: "a cart can be emptied", status: "verified", evidence: "cart.test.ts runs it" },
        { criterion: "prices: in cents", status: "verified", evidence: "read the types" },
      ],
      commands: [
        { command: "npm test", environment: "node20", result: "PASS" },
        { command: "npm run lint: fast", environment: "node24", result: "PASS" },
      ],
      summary: "all criteria hold",
    });
  });

  // S2.32
  test("AUDIT_FAILED", () => {
    const reading = read(
      "auditor",
      "AUDIT_FAILED: task-7",
      "",
      "Failed Criteria:",
      "- a cart can be emptied: FAILED - one item stays",
      "",
      "Issues Found:",
      "- src/cart.ts:9: the loop ends one too early",
      "",
      "Required Fixes:",
      "- loop over all items",
      "",
      "Passing Criteria:",
      "- prices are in cents",
    );
    expect(reading).toMatchObject({
      signal: "AUDIT_FAILED",
      result: "fail",
      verification: [{ criterion: "a cart can be emptied", status: "failed", evidence: "one item stays" }],
      findings: [
        { file: "src/cart.ts", line: 9, message: "the loop ends one too early", criterion: null },
        { file: null, message: "one item stays", criterion: "a cart can be emptied" },
      ],
      requiredFixes: ["loop over all items"],
      passing: ["prices are in cents"],
    });
  });

  // S2.33
  test("AUDIT_BLOCKED", () => {
    const reading = read(
      "auditor",
      "AUDIT_BLOCKED: task-7",
      "",
      "Pre-existing Failures:",
      "- 12 test failures in test/legacy.test.ts",
      "- the database container does not start",
      "",
      "Cannot proceed with audit until infrastructure is fixed.",
    );
    expect(reading).toMatchObject({
      signal: "AUDIT_BLOCKED",
      result: "blocked",
      preExisting: ["12 test failures in test/legacy.test.ts", "the database container does not start"],
    });
  });

  test("READY_FOR_REVIEW, with the matrix of environments", () => {
    const reading = read(
      "developer",
      "READY_FOR_REVIEW: task-7",
      "",
      "Files Modified:",
      "- src/cart.ts",
      "",
      "Tests Written:",
      "- test/cart.test.ts: empties a cart",
      "",
      "Environment Verification Matrix:",
      "| Check | Environment | Exit Code | Result |",
      "|-------|-------------|-----------|--------|",
      "| unit_tests | native | 0 | PASS |",
      "| lint | devcontainer | 0 | PASS |",
      "",
      "Environments Tested: native, devcontainer",
      "All Required Environments: VERIFIED",
      "",
      "Summary: carts can be emptied",
    );
    expect(reading).toMatchObject({
      signal: "READY_FOR_REVIEW",
      result: "ready",
      filesModified: ["src/cart.ts"],
      commands: [
        { command: "unit_tests", environment: "native", result: "PASS" },
        { command: "lint", environment: "devcontainer", result: "PASS" },
      ],
      environments: ["native", "devcontainer"],
      summary: "carts can be emptied",
      problems: [],
    });
  });

  test("READY_FOR_REVIEW that says itself that something was not verified", () => {
    const reading = read("developer", "READY_FOR_REVIEW: task-7", "All Required Environments: PARTIAL");
    expect(reading.result).toBe("ready");
    expect(reading.problems).toEqual(["Not all required environments are verified: PARTIAL."]);
  });

  test("TASK_INCOMPLETE", () => {
    const reading = read(
      "developer",
      "TASK_INCOMPLETE: task-7",
      "",
      "Blocker: missing_info - which currency is meant",
      "Attempted:",
      "1. searched the plan: nothing",
      "2. read the tests: nothing",
      "Needed: the currency",
    );
    expect(reading).toMatchObject({
      signal: "TASK_INCOMPLETE",
      result: "incomplete",
      incomplete: {
        category: "missing_info",
        blocker: "which currency is meant",
        attempted: ["searched the plan: nothing", "read the tests: nothing"],
        needed: "the currency",
      },
    });
  });

  test("INFRA_BLOCKED", () => {
    const reading = read(
      "developer",
      "INFRA_BLOCKED: task-7",
      "",
      "Issue: the registry does not answer",
      "Command: npm ci",
      "Output:",
      "```",
      "npm ERR! 503",
      "```",
      "Environment: node24",
    );
    expect(reading).toMatchObject({
      signal: "INFRA_BLOCKED",
      result: "blocked",
      summary: "the registry does not answer",
      preExisting: ["the registry does not answer"],
      commands: [{ command: "npm ci", environment: "node24", result: "npm ERR! 503" }],
      environments: ["node24"],
    });
  });
});

describe("S2: what its own parser let through", () => {
  // S2.18
  test.each(SIGNALS)("%s of another task is nothing, not only REVIEW_PASSED", (signal) => {
    const reading = readAgentText(`${signal}: task-8\n`, { id: "task-7" });
    expect(reading).toMatchObject({ kind: "unknown", result: "unknown", signal: null, id: "task-8", idMatches: false });
    expect(reading.problems).toEqual([`${signal} is for "task-8", not for "task-7".`]);
  });

  test("a pass is not looked for before a failure", () => {
    const reading = read("critic", "REVIEW_FAILED: task-7", "", "If fixed it would be:", "", "REVIEW_PASSED: task-7");
    expect(reading.result).toBe("unknown");
  });

  // S2.17
  test("the prompt's own example, echoed, is no answer", () => {
    const reading = read(
      "auditor",
      "You MUST end your audit with one of:",
      "- `AUDIT_PASSED: task-7` - if all acceptance criteria verified",
      "- `AUDIT_FAILED: task-7` - if criteria not met",
      "- `AUDIT_BLOCKED: task-7` - if pre-existing infrastructure issues",
    );
    expect(reading.result).toBe("unknown");
  });

  test("an audit that passes while one of its criteria failed is unknown", () => {
    const reading = read("auditor", "AUDIT_PASSED: task-7", "Verification Results:", "- empties: FAILED - it does not");
    expect(reading.result).toBe("unknown");
    expect(reading.problems.at(-1)).toMatch(/a criterion failed: empties/);
  });

  test("an audit that passes while one of its commands failed is unknown", () => {
    const reading = read(
      "auditor",
      "AUDIT_PASSED: task-7",
      "Commands Executed:",
      "- npm test (node20): FAIL - 2 tests",
    );
    expect(reading.result).toBe("unknown");
    expect(reading.problems.at(-1)).toMatch(/a command did not: npm test/);
  });
});
