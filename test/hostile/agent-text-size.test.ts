import { describe, expect, test } from "vitest";
import { readAgentText } from "../../src/readers/agent-text.ts";

const SIZE = 50 * 1024 * 1024;
const repeated = (piece: string, size = SIZE): string => piece.repeat(Math.ceil(size / piece.length));

/** Generous, because other tests may run beside this one: a reader that goes back over the text takes minutes. */
const MOST_MS = 10_000;

function readInTime(text: string): ReturnType<typeof readAgentText> {
  const start = performance.now();
  const reading = readAgentText(text, { id: "x" });
  expect(performance.now() - start).toBeLessThan(MOST_MS);
  return reading;
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
    expect(readInTime(repeated(piece)).result).toBe(result);
  });

  test("a rejection at the very beginning is not forgotten at the end", () => {
    expect(readInTime(`REVIEW_FAILED: x\n${repeated("log\n")}REVIEW_PASSED: x\n`).result).toBe("unknown");
    expect(readInTime(`{"passed": false}\n${repeated("log\n")}{"passed": true}\n`).result).toBe("unknown");
    expect(readInTime(`\`\`\`\n${repeated("log\n")}REVIEW_PASSED: x\n`).result).toBe("unknown");
  });

  test("what is not read is said", () => {
    const { result, problems, findings } = readInTime(`REVIEW_FAILED: x\nIssues Found:\n- bad\n${repeated("- bad\n")}`);
    expect(result).toBe("fail");
    expect(findings.length).toBeGreaterThan(1000);
    expect(problems.join("\n")).toMatch(/Only 262144 of \d+ characters/);
  });

  test("a verdict at the end of a log counts", () => {
    expect(readInTime(`${repeated("log\n")}{"passed": true}\n`).result).toBe("pass");
    expect(readInTime(`${repeated("log\r\n")}\r\nREVIEW_PASSED: x\r\n`).result).toBe("pass");
    expect(readInTime(`${repeated("\u001B[32mok\u001B[0m\n")}REVIEW_PASSED: x\n`).result).toBe("pass");
  });
});

describe("100,000 levels", () => {
  const deep = 100_000;
  test.each<[string, string]>([
    ["brackets", `{"passed": ${"[".repeat(deep)}${"]".repeat(deep)}}`],
    ["brackets that do not close", `{"passed": false, "issues": ${"[".repeat(deep)}`],
    ["braces", `${'{"passed":'.repeat(deep)}true${"}".repeat(deep)}`],
    ["YAML", `verdict: ${"[".repeat(deep)}`],
    ["YAML lists", `verdict:\n${"- ".repeat(deep)}`],
    ["quotations", `${">".repeat(deep)} REVIEW_PASSED: x`],
    ["bullets", `${"- ".repeat(deep)}\`\`\`\n`],
  ])("of %s", (_, text) => {
    expect(readInTime(text).result).toBe("unknown");
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
    const start = performance.now();
    readAgentText(repeated(piece, size));
    readAgentText(`REVIEW_FAILED: x\nIssues Found:\n- ${repeated(piece, size)}`);
    readAgentText(`verdict: fail\n${repeated(piece, 8000)}`);
    expect(performance.now() - start).toBeLessThan(MOST_MS);
  });
});
