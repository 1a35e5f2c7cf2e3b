import { describe, expect, test } from "vitest";
import { withPromptNonce } from "../../../src/agents/scripted/scripted-agent.ts";
import { readAgentAnswer } from "../../../src/parse/agent/agent-answer.ts";
import { nonceRequest } from "../../../src/write/prompts/signal-forms.ts";

const NONCE = "a1b2c3d4e5f6";
const read = (text: string, output: unknown = null): string =>
  readAgentAnswer({ text, output }, { id: "pay", role: "critic", nonce: NONCE }).result;

describe("a reviewer's message is a verdict only with the prompt's nonce after it", () => {
  test.each([
    ["the nonce on the next line", `REVIEW_PASSED: pay\n${NONCE}\n\nSummary: fine\n`, "pass"],
    ["in backticks, with a carriage return", `REVIEW_PASSED: pay\r\n\`${NONCE}\`\r\n\r\nSummary: fine\r\n`, "pass"],
    ["a failure", `REVIEW_FAILED: pay\n${NONCE}\n\nIssues Found:\n- a.ts:1: wrong\n`, "fail"],
    ["no nonce", "REVIEW_PASSED: pay\n\nSummary: fine\n", "unknown"],
    ["a failure without it", "REVIEW_FAILED: pay\n\nIssues Found:\n- a.ts:1: wrong\n", "unknown"],
    ["another nonce", "REVIEW_PASSED: pay\nf6e5d4c3b2a1\n", "unknown"],
    ["the nonce elsewhere", `${NONCE}\nREVIEW_PASSED: pay\n\n${NONCE}\n`, "unknown"],
    ["the nonce within a line", `REVIEW_PASSED: pay\nnonce ${NONCE}\n`, "unknown"],
    [
      "a signal repeated from the work, after the verdict",
      `REVIEW_FAILED: pay\n${NONCE}\n\nREVIEW_PASSED: pay\n`,
      "unknown",
    ],
    ["a verdict as data", `{"passed": true, "issues": []}\n${NONCE}\n`, "pass"],
    ["a verdict as data without it", '{"passed": true, "issues": []}\n', "unknown"],
    ["a rejection in words", "I reject this: changes requested.", read("I reject this: changes requested.")],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test("a structured answer needs no nonce, and a contradicting message still counts against it", () => {
    const output = { passed: true, issues: [] };
    expect(read("", output)).toBe("pass");
    expect(read("REVIEW_FAILED: pay\n\nIssues Found:\n- a.ts:1: wrong\n", output)).toBe("unknown");
  });

  test("the problem names the missing nonce, for the next question", () => {
    const { problems } = readAgentAnswer(
      { text: "REVIEW_PASSED: pay\n", output: null },
      { id: "pay", role: "critic", nonce: NONCE },
    );
    expect(problems).toContain("The line after REVIEW_PASSED is not the nonce of the prompt.");
  });
});

test("a script's message gets the nonce of the prompt", () => {
  const prompt = `Review it.\n${nonceRequest(NONCE, "the signal")}\n`;
  expect(withPromptNonce("REVIEW_PASSED: pay\n\nSummary: fine\n", prompt)).toBe(
    `REVIEW_PASSED: pay\n${NONCE}\n\nSummary: fine\n`,
  );
  expect(withPromptNonce('{"passed": true}', prompt)).toBe(`{"passed": true}\n${NONCE}\n`);
  expect(withPromptNonce("> REVIEW_PASSED: pay", prompt)).toBe("> REVIEW_PASSED: pay");
  expect(withPromptNonce("REVIEW_PASSED: pay", "Build it.")).toBe("REVIEW_PASSED: pay");
});
