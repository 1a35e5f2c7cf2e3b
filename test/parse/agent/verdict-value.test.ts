import { describe, expect, test } from "vitest";
import { readAgentText } from "../../../src/parse/agent/agent-text.ts";
import { readVerdictValue } from "../../../src/parse/agent/verdict-value.ts";
import { plainText } from "../../../src/stdx/plain-text.ts";

const parts = (fields: object) => readVerdictValue({ verdict: "fail", ...fields })?.parts();

describe("all fields of a verdict, by their usual names", () => {
  test.each<[object, object]>([
    [{ requiredFixes: ["a", 1, null] }, { requiredFixes: ["a", "1"] }],
    [{ required_changes: [{ description: "b" }, {}] }, { requiredFixes: ["b"] }],
    [{ passing_criteria: "one" }, { passing: ["one"] }],
    [{ quality_assessment: { style: "GOOD", constructor: "x", odd: [] } }, { quality: { style: "GOOD", odd: "" } }],
    [{ quality: "good" }, { quality: {} }],
    [{ environments_tested: ["node20"] }, { environments: ["node20"] }],
    [
      { files_reviewed: ["a.ts"], filesModified: ["b.ts"] },
      { filesReviewed: ["a.ts"], filesModified: ["b.ts"] },
    ],
    [{ context: "learned" }, { context: ["learned"] }],
    [
      { priority: "high", summary: " so " },
      { priority: "HIGH", summary: "so" },
    ],
    [
      { priority: "odd", feedback: "no" },
      { priority: null, summary: "no" },
    ],
    [
      {
        commands: [
          { command: "npm test", env: "ci", exitCode: 1 },
          { check: "lint", status: "PASS" },
          { name: "x" },
          {},
          "y",
        ],
      },
      {
        commands: [
          { command: "npm test", environment: "ci", result: "exit 1" },
          { command: "lint", environment: null, result: "PASS" },
          { command: "x", environment: null, result: "" },
        ],
      },
    ],
    [
      {
        verification: [
          { criterion: "a", status: "NOT MET", reason: "r" },
          { name: "b", verified: true },
          { id: "c" },
          {},
        ],
      },
      {
        verification: [
          { criterion: "a", status: "failed", evidence: "r" },
          { criterion: "b", status: "verified", evidence: "" },
          { criterion: "c", status: "unknown", evidence: "" },
        ],
      },
    ],
    [
      { stages: { code_quality: { verdict: "FAIL", findings: [{ severity: "IMPORTANT", description: "x" }] } } },
      { findings: [{ severity: "major", message: "x" }] },
    ],
    [{ stages: [{ verdict: "FAIL", issues: ["a.ts:1: y"] }] }, { findings: [{ file: "a.ts", line: 1, message: "y" }] }],
  ])("%j", (fields, expected) => {
    expect(parts(fields)).toMatchObject(expected);
  });

  test.each<[unknown, object]>([
    [
      { message: "m", path: "a.ts", lineNumber: "12-14", fix: "f", level: "HIGH" },
      { message: "m", file: "a.ts", line: 12, suggestedFix: "f", severity: "critical" },
    ],
    [
      { title: "t", location: "src/a.ts:7", type: "style", criterion: "AC1", status: "ADDRESSED" },
      { message: "t", file: "src/a.ts", line: 7, category: "style", criterion: "AC1", status: "ADDRESSED" },
    ],
    [
      { reason: "r", severity: "odd", line: "none" },
      { message: "r", severity: null, line: null },
    ],
    ["[minor] b.ts:2: s", { severity: "minor", file: "b.ts", line: 2, message: "s" }],
  ])("the finding %j", (issue, expected) => {
    expect(parts({ findings: [issue] })?.findings).toMatchObject([expected]);
  });

  test("invalid findings are left out", () => {
    expect(parts({ issues: [{}, [], null, { severity: "minor" }] })?.findings).toEqual([]);
    expect(parts({ issues: "a.ts:1: one alone" })?.findings).toMatchObject([{ file: "a.ts", message: "one alone" }]);
  });

  test("a pass has no reasons for a failure", () => {
    expect(readVerdictValue({ converged: true, reasons: ["all is well"] })?.parts().findings).toEqual([]);
  });
});

describe("an agent that could not finish, as data", () => {
  test.each<[object, object | null]>([
    [
      { result: "incomplete", blocker: "b", category: "Missing Info", attempted: ["x"], needed: "n" },
      { category: "missing_info", blocker: "b", attempted: ["x"], needed: "n" },
    ],
    [
      { signal: "TASK_INCOMPLETE", reason: "r" },
      { category: null, blocker: "r", attempted: [], needed: "" },
    ],
    [
      { result: "incomplete", incomplete: { category: "infrastructure" } },
      { category: "infrastructure", blocker: "" },
    ],
    [{ result: "ready" }, null],
  ])("%j", (fields, incomplete) => {
    const read = readVerdictValue(fields)?.parts().incomplete;
    if (incomplete === null) expect(read).toBeNull();
    else expect(read).toMatchObject(incomplete);
  });
});

describe("the result", () => {
  test.each<[object, string | undefined]>([
    [{ passed: true }, "pass"],
    [{ passed: "false" }, "fail"],
    [{ approved: true }, "pass"],
    [{ verdict: "Changes requested" }, "fail"],
    [{ overall: "CHANGES_REQUIRED" }, "fail"],
    [{ gate_verdict: "PASS" }, "pass"],
    [{ signal: "AUDIT_BLOCKED" }, "blocked"],
    [{ stages: { a: { verdict: "PASS" }, b: { verdict: "PASS" } } }, "pass"],
    [{ stages: { a: { verdict: "PASS" }, b: { verdict: "FAIL" } } }, "fail"],
    [{ stages: { a: { verdict: "PASS" }, b: { verdict: "HM" } } }, undefined],
    [{ stages: [] }, undefined],
    [{ result: "success" }, undefined],
    [{ verdict: "x".repeat(100) }, "unknown"],
    [{ verdict: {} }, undefined],
    [{ passed: null }, undefined],
    [{}, undefined],
  ])("%j is %s", (fields, result) => {
    expect(readVerdictValue(fields)?.result).toBe(result);
  });

  test.each([null, 1, "pass", [{ passed: true }], undefined])("%j is not a verdict", (value) => {
    expect(readVerdictValue(value)).toBeNull();
  });
});

describe("invisible characters", () => {
  test("hide no signal and break none", () => {
    for (let code = 0; code <= 0xffff; code++) {
      const char = String.fromCharCode(code);
      if (plainText(`a${char}b`) !== "ab") continue;
      for (const text of [
        `a\n${char}REVIEW_PASSED: x`,
        `a\nREV${char}IEW_PASSED: x`,
        `a\nR${char}EVIEW_PASSED: x${char}`,
      ]) {
        expect(readAgentText(text, { id: "x" }).result, `U+${code.toString(16)} in ${JSON.stringify(text)}`).toBe(
          "pass",
        );
      }
      const fenced = readAgentText(`${char}\`${char}\`\`\nREVIEW_PASSED: x\n`, { id: "x" });
      expect(fenced.result, `a fence with U+${code.toString(16)}`).toBe("unknown");
    }
  });

  test("colors in any number", () => {
    const colors = "\u001B[1m\u001B[38;5;12m".repeat(30);
    expect(readAgentText(`${colors}REVIEW_PASSED: x\u001B[0m`, { id: "x" }).result).toBe("pass");
    expect(readAgentText(`${colors}\`\`\`\nREVIEW_PASSED: x`, { id: "x" }).result).toBe("unknown");
    expect(readAgentText("\u001B[2KREVIEW_PASSED: x", { id: "x" }).result).toBe("pass");
  });
});
