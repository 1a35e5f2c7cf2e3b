import { describe, expect, test } from "vitest";
import { readSignalParts } from "../../../src/parse/agent/sections.ts";

const parts = (...lines: readonly string[]) => readSignalParts(lines.join("\n"), "REVIEW_FAILED").parts;

describe("the formatting of a section does not matter", () => {
  const found = [
    { file: "a.ts", line: 1, message: "one" },
    { file: "b.ts", line: 2, message: "two" },
  ];
  test.each([
    ["dashes", ["Issues Found:", "- a.ts:1: one", "- b.ts:2: two"]],
    ["stars", ["Issues Found:", "* a.ts:1: one", "* b.ts:2: two"]],
    ["dots", ["Issues Found:", "• a.ts:1: one", "• b.ts:2: two"]],
    ["numbers", ["Issues Found:", "1. a.ts:1: one", "2) b.ts:2: two"]],
    ["check boxes", ["Issues Found:", "- [ ] a.ts:1: one", "- [x] b.ts:2: two"]],
    ["no bullets", ["Issues Found:", "a.ts:1: one", "b.ts:2: two"]],
    ["a blank line below the heading", ["Issues Found:", "", "- a.ts:1: one", "", "- b.ts:2: two"]],
    ["hashes", ["## Issues Found", "- a.ts:1: one", "- b.ts:2: two"]],
    ["hashes, a sign, a count", ["### ❌ Issues Found (2)", "- a.ts:1: one", "- b.ts:2: two"]],
    ["bold", ["**Issues Found:**", "- a.ts:1: one", "- b.ts:2: two"]],
    ["bold, the colon outside", ["**Issues Found**:", "- a.ts:1: one", "- b.ts:2: two"]],
    ["no colon", ["Issues Found", "- a.ts:1: one", "- b.ts:2: two"]],
    ["another name", ["Findings:", "- a.ts:1: one", "- b.ts:2: two"]],
    ["indented", ["Issues Found:", "  - a.ts:1: one", "  - b.ts:2: two"]],
    [
      "code between",
      ["Issues Found:", "- a.ts:1: one", "```", "Summary: no", "- c.ts:3: three", "```", "- b.ts:2: two"],
    ],
    ["a quotation between", ["Issues Found:", "- a.ts:1: one", "> Summary: no", "- b.ts:2: two"]],
    ["prose behind", ["Issues Found:", "- a.ts:1: one", "- b.ts:2: two", "", "Please fix c.ts:3: soon."]],
    ["an unknown heading behind", ["Issues Found:", "- a.ts:1: one", "- b.ts:2: two", "## Thanks", "- c.ts:3: three"]],
  ])("%s", (_, lines) => {
    const { findings, summary } = parts(...lines);
    expect(findings).toMatchObject(found);
    expect(findings).toHaveLength(2);
    expect(summary).toBeNull();
  });

  test("sub-headings give the severity", () => {
    const { findings } = parts(
      "## Issues Found",
      "### Critical",
      "- a",
      "### Minor issues",
      "- b",
      "**Blockers**",
      "- c",
    );
    expect(findings.map(({ severity, message }) => [severity, message])).toEqual([
      ["critical", "a"],
      ["minor", "b"],
      ["blocker", "c"],
    ]);
  });

  test("lines below an item belong to it", () => {
    const { findings } = parts("Issues Found:", "- a.ts:1: one", "  - Fix: do it", "  and so on", "- b");
    expect(findings).toMatchObject([{ message: "one and so on", suggestedFix: "do it" }, { message: "b" }]);
  });

  test("words for nothing give an empty list", () => {
    const none = parts(
      "Issues Found:",
      "- None",
      "Required Fixes: N/A",
      "Files Reviewed: none",
      "Summary:",
      "Priority: whatever",
    );
    expect(none).toMatchObject({ findings: [], requiredFixes: [], filesReviewed: [], summary: null, priority: null });
  });

  test("files with remarks, in backticks, with commas", () => {
    const { filesReviewed, filesModified } = parts(
      "Files Reviewed: a.ts, `b.ts`",
      "Files Changed:",
      "- `my file.ts` (new)",
      "- **c.ts** - moved",
      "- d.ts: shorter",
    );
    expect(filesReviewed).toEqual(["a.ts", "b.ts"]);
    expect(filesModified).toEqual(["my file.ts", "c.ts", "d.ts"]);
  });

  test("priority, in any scale's word", () => {
    expect(parts("**Priority:** Medium").priority).toBe("MEDIUM");
    expect(parts("### Priority: critical").priority).toBe("HIGH");
    expect(parts("- Priority: LOW.").priority).toBe("LOW");
  });

  test("a summary of several lines ends with its paragraph", () => {
    expect(parts("## Summary", "", "one", "two", "", "three").summary).toBe("one\ntwo");
  });

  test("criteria: words, symbols, or nothing", () => {
    const { verification, findings } = parts(
      "Verification Results:",
      "- **AC1**: **VERIFIED** — seen",
      "- ✅ AC2",
      "- ❌ AC3",
      "- AC4",
      "- AC5: NOT MET",
      "Failed Criteria:",
      "- AC6",
    );
    expect(verification).toEqual([
      { criterion: "AC1", status: "verified", evidence: "seen" },
      { criterion: "AC2", status: "verified", evidence: "" },
      { criterion: "AC3", status: "failed", evidence: "" },
      { criterion: "AC4", status: "unknown", evidence: "" },
      { criterion: "AC5", status: "failed", evidence: "" },
      { criterion: "AC6", status: "failed", evidence: "" },
    ]);
    expect(findings).toMatchObject([{ message: "Not met: AC6", criterion: "AC6" }]);
  });

  test("commands: backticks, no environment, no result", () => {
    expect(parts("Commands Executed:", "- `npm test`: PASS", "- make (ci) → FAIL (exit 2)", "- ls").commands).toEqual([
      { command: "npm test", environment: null, result: "PASS" },
      { command: "make", environment: "ci", result: "FAIL (exit 2)" },
      { command: "ls", environment: null, result: "" },
    ]);
  });

  test("a matrix with other columns, and a table that is not one", () => {
    const { commands, environments } = parts(
      "Environment Verification Matrix",
      "| Env | Command | Exit |",
      "| :-- | --- | --- |",
      "| node20 | `npm test` | 1 |",
      "| node24 | lint | |",
    );
    expect(commands).toEqual([
      { command: "npm test", environment: "node20", result: "exit 1" },
      { command: "lint", environment: "node24", result: "" },
    ]);
    expect(environments).toEqual(["node20", "node24"]);
    expect(parts("Environment Verification:", "| a | b |", "| 1 | 2 |").commands).toEqual([]);
  });

  test("context is kept, keys with a meaning in JavaScript are not", () => {
    const { context, quality } = parts(
      "Context:",
      "- the API changed",
      "Quality Assessment:",
      "- constructor: BAD",
      "- prototype: BAD",
      "- Naming: GOOD",
      "- nothing",
    );
    expect(context).toEqual(["the API changed"]);
    expect(quality).toEqual({ Naming: "GOOD" });
  });
});

describe("an agent that could not finish", () => {
  const incomplete = (...lines: readonly string[]) =>
    readSignalParts(lines.join("\n"), "TASK_INCOMPLETE").parts.incomplete;

  test.each([
    [["Blocker: out_of_scope - needs the other service"], "out_of_scope", "needs the other service"],
    [["Blocker: [blocked_by_dependency] waits for login"], "blocked_by_dependency", "waits for login"],
    [["Blocker: Missing info: which one"], "missing_info", "which one"],
    [["Blocker: no disk (infrastructure)"], "infrastructure", "no disk (infrastructure)"],
    [["- **Blocker:** no key", "- **Category:** missing-info"], "missing_info", "no key"],
    [["Blocked by: the weather"], null, "the weather"],
    [["Blocker: infrastructure"], "infrastructure", "infrastructure"],
    [["Nothing to see"], null, ""],
  ])("%j", (lines, category, blocker) => {
    expect(incomplete(...lines)).toMatchObject({ category, blocker });
  });

  test("reports what was tried and what is needed", () => {
    expect(incomplete("Blocker: x", "Attempted: once", "Needed:", "- a key", "- a lock")).toMatchObject({
      attempted: ["once"],
      needed: "a key\na lock",
    });
  });
});

describe("infrastructure that is blocked", () => {
  test("names an environment without a command", () => {
    const { parts: read } = readSignalParts("Issue: down\nEnvironment: ci", "INFRA_BLOCKED");
    expect(read).toMatchObject({ environments: ["ci"], commands: [{ command: "", environment: "ci", result: "" }] });
  });
});
