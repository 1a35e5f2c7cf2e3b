import { describe, expect, test } from "vitest";
import { readAgentText } from "../../src/parse/agent/agent-text.ts";
import { verdictSchema } from "../../src/core/schemas/gate-result.ts";

const review = {
  passed: false,
  issues: [
    {
      severity: "blocker",
      category: "security",
      file: "src/auth.ts",
      line: 42,
      description: "Passwords are stored as they are",
      suggestedFix: "Hash them",
    },
    { severity: "minor", category: "style", description: "Long line" },
  ],
};

describe("S4: structured reviews, with fallbacks", () => {
  const findings = [
    {
      severity: "blocker",
      category: "security",
      file: "src/auth.ts",
      line: 42,
      message: "Passwords are stored as they are",
      suggestedFix: "Hash them",
    },
    { severity: "minor", category: "style", file: null, line: null, message: "Long line", suggestedFix: null },
  ];
  const json = JSON.stringify(review, null, 2);

  test.each([
    ["JSON", json],
    ["fenced JSON", `Here is my review.\n\n\`\`\`json\n${json}\n\`\`\`\n`],
    ["JSON among words", `The review: ${json} That is all.`],
    ["malformed JSON", json.replaceAll('"passed"', "passed").replace('"Long line"\n    }', '"Long line",\n    },')],
    ["JSON with comments", json.replace("{", "{ // my review")],
    ["single quotes", json.replaceAll('"', "'")],
  ])("%s", (_, text) => {
    const reading = readAgentText(text, { role: "critic" });
    expect(reading).toMatchObject({ kind: "verdict", result: "fail", findings });
  });

  // S4.25, S4.41
  test("the shape that is asked for is the shape that is read", () => {
    expect(verdictSchema.parse(review)).toEqual(review);
  });

  // S4.38
  test.each([
    ["APPROVED", "pass"],
    ["REJECTED", "fail"],
    // The reviewer broke: that is neither a pass nor a rejection, and charges no budget.
    ["FAILED", "unknown"],
    ["RECOVERY", "unknown"],
  ])("decision %s reads as %s", (decision, result) => {
    expect(readAgentText(JSON.stringify({ decision, issues: [] })).result).toBe(result);
  });

  test('work marked "failed" or "needs revision" in words is a rejection', () => {
    expect(readAgentText("Status: FAILED\nThe tests are missing.").result).toBe("fail");
    expect(readAgentText("This needs revision.").result).toBe("fail");
  });

  // S4.18, S4.51
  test("an empty or missing review is unknown, never a pass", () => {
    for (const text of ["", "\n\n", "{}", "[]", "null", '{"issues": []}'])
      expect(readAgentText(text).result).toBe("unknown");
  });

  // S4.14
  test("no category or suggested fix is lost on the way", () => {
    const [first] = readAgentText(JSON.stringify(review)).findings;
    expect(first).toMatchObject({ category: "security", suggestedFix: "Hash them" });
  });
});
