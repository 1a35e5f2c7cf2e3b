import { describe, expect, test } from "vitest";
import { readAgentText } from "../../src/parse/agent/agent-text.ts";
import { expectLinearCost } from "../cpu-cost.ts";

const SIZE = 50 * 1024 * 1024;
const repeated = (piece: string, size: number): string => piece.repeat(Math.ceil(size / piece.length));

type Reading = ReturnType<typeof readAgentText>;

/** The reading of the large text, which must cost no more than its size: a reader that goes back over it costs more. */
function readLinear(textOf: (size: number) => string, size = SIZE): Reading {
  let reading: Reading | null = null;
  expectLinearCost(size, (n) => {
    const text = textOf(n);
    return () => (reading = readAgentText(text, { id: "x" }));
  });
  return reading!;
}

describe("50 MB of one thing", () => {
  test.each<[string, string, string]>([
    ["the letter a", "a", "unknown"],
    ["backticks", "`", "unknown"],
    ["fences", "```\n", "unknown"],
    ["braces", "{", "unknown"],
    ["brackets", "[", "unknown"],
    ["quotes", '"', "unknown"],
    ["spaces", " ", "unknown"],
    ["escape characters", "\u001B", "unknown"],
    ["NUL", "\u0000", "unknown"],
    ["lone surrogates", "\uD800", "unknown"],
    ["open verdicts", '{"passed": ', "unknown"],
    ["verdicts that pass", '{"passed": true}\n', "unknown"],
    ["fenced code", "```js\ncode\n```\n", "unknown"],
    ["names without a line", "REVIEW_PASSED: x ", "unknown"],
    ["bold headings", "**Issues Found:**\n", "unknown"],
    ["words that reject, and are taken back", "not rejected ", "unknown"],
    ["the same signal", "REVIEW_PASSED: x\n", "pass"],
    ["signals of two stories", "REVIEW_PASSED: x\nREVIEW_PASSED: y\n", "unknown"],
    ["a signal and its opposite", "REVIEW_PASSED: x\nREVIEW_FAILED: x\n", "unknown"],
    ["a signal and blocked", "AUDIT_PASSED: x\nAUDIT_BLOCKED: x\n", "unknown"],
  ])("%s", (_, piece, result) => {
    expect(readLinear((size) => repeated(piece, size)).result).toBe(result);
  });

  test("a rejection at the very beginning is not forgotten at the end", () => {
    expect(readLinear((size) => `REVIEW_FAILED: x\n${repeated("log\n", size)}REVIEW_PASSED: x\n`).result).toBe(
      "unknown",
    );
    expect(readLinear((size) => `{"passed": false}\n${repeated("log\n", size)}{"passed": true}\n`).result).toBe(
      "unknown",
    );
    expect(readLinear((size) => `\`\`\`\n${repeated("log\n", size)}REVIEW_PASSED: x\n`).result).toBe("unknown");
  });

  test("what is not read is said", () => {
    const { result, problems, findings } = readLinear(
      (size) => `REVIEW_FAILED: x\nIssues Found:\n- bad\n${repeated("- bad\n", size)}`,
    );
    expect(result).toBe("fail");
    expect(findings.length).toBeGreaterThan(1000);
    expect(problems.join("\n")).toMatch(/Only 262144 of \d+ characters/);
  });

  test("a verdict at the end of a log counts", () => {
    expect(readLinear((size) => `${repeated("log\n", size)}{"passed": true}\n`).result).toBe("pass");
    expect(readLinear((size) => `${repeated("log\r\n", size)}\r\nREVIEW_PASSED: x\r\n`).result).toBe("pass");
    expect(readLinear((size) => `${repeated("\u001B[32mok\u001B[0m\n", size)}REVIEW_PASSED: x\n`).result).toBe("pass");
  });
});

describe("100,000 levels", () => {
  const deep = 100_000;
  test.each<[string, (deep: number) => string]>([
    ["brackets", (n) => `{"passed": ${"[".repeat(n)}${"]".repeat(n)}}`],
    ["brackets that do not close", (n) => `{"passed": false, "issues": ${"[".repeat(n)}`],
    ["braces", (n) => `${'{"passed":'.repeat(n)}true${"}".repeat(n)}`],
    ["YAML", (n) => `verdict: ${"[".repeat(n)}`],
    ["YAML lists", (n) => `verdict:\n${"- ".repeat(n)}`],
    ["quotations", (n) => `${">".repeat(n)} REVIEW_PASSED: x`],
    ["bullets", (n) => `${"- ".repeat(n)}\`\`\`\n`],
  ])("of %s", (_, textOf) => {
    expect(readLinear(textOf, deep).result).toBe("unknown");
  });
});

describe("64 kB of what makes parsers go back", () => {
  const size = 64 * 1024;
  test.each([
    '{"passed": true, "issues": ["x "y" ',
    "{'passed': false, 'a",
    "{passed: `.",
    '{"passed": "\\',
    "passed: }\n",
    "passed: ]",
    "verdict: &a ",
    "verdict: *a\n",
    "verdict: '\n",
    "/*",
    "- **a** ",
    "| a ",
    "a.ts:1:",
    "(",
    "Issues Found: ",
  ])("%s", (piece) => {
    expect(readLinear((n) => repeated(piece, n), size).result).not.toBe("pass");
    expect(readLinear((n) => `REVIEW_FAILED: x\nIssues Found:\n- ${repeated(piece, n)}`, size).result).not.toBe("pass");
    expect(readLinear((n) => `verdict: fail\n${repeated(piece, n)}`, size).result).not.toBe("pass");
  });
});
