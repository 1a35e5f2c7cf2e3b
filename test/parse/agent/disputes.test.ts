import { describe, expect, test } from "vitest";
import { readDisputes, readFindingAnswers } from "../../../src/parse/agent/agent-answer.ts";

const ID = "0123456789abcdef";
const OTHER = "fedcba9876543210";

describe("disputes", () => {
  test.each([
    [`Dispute: ${ID}: the value is checked by the caller`, ID, "the value is checked by the caller"],
    [`- Dispute: \`${ID}\`: it is a test double`, ID, "it is a test double"],
    [`Dispute: finding 2: the file is generated`, "2", "the file is generated"],
    [`dispute: #1: no`, "1", "no"],
  ])("%s", (line, about, rationale) => {
    expect(readDisputes(`Done.\n${line}\r\nREADY_FOR_REVIEW: a\n`)).toEqual([{ about, rationale }]);
  });

  test.each([
    ["without a reason", `Dispute: ${ID}:   `],
    ["of something that is no finding", "Dispute: the critic: is wrong"],
    ["in the middle of a sentence", `I do not Dispute: ${ID}: anything`],
    ["as the brief tells it", "line of its own: `Dispute: <id of the finding>: <why it is wrong>`."],
  ])("none %s", (_what, line) => {
    expect(readDisputes(line)).toEqual([]);
  });

  test("the last dispute of a finding counts, and a flood is cut", () => {
    expect(readDisputes(`Dispute: ${ID}: a\nDispute: ${ID.toUpperCase()}: b`)).toEqual([{ about: ID, rationale: "b" }]);
    const many = Array.from({ length: 500 }, (_, index) => `Dispute: ${index.toString(16).padStart(16, "0")}: x`);
    expect(readDisputes(many.join("\n"))).toHaveLength(100);
  });
});

describe("answers to earlier findings", () => {
  const read = (text: string) => Object.fromEntries(readFindingAnswers(text, [ID, OTHER]));

  test.each([
    [`- ${ID}: ADDRESSED - it is thrown now`, true, "it is thrown now"],
    [`- ${ID}: NOT ADDRESSED - still swallowed`, false, "still swallowed"],
    [`* \`${ID}\` — **NOT ADDRESSED**: still there`, false, "still there"],
    [`1. [${ID}] FIXED`, true, ""],
    [`${ID}: UNRESOLVED`, false, ""],
    [`- ${ID}: NOT YET ADDRESSED`, false, ""],
    [`- ${ID}: STILL PRESENT (line 4)`, false, "(line 4)"],
  ])("%s", (line, isAddressed, reason) => {
    expect(read(`Earlier Findings:\n${line}\n\nREVIEW_FAILED: a\n`)).toEqual({ [ID]: { isAddressed, reason } });
  });

  test.each([
    ["in code", `\`\`\`\n- ${ID}: ADDRESSED\n\`\`\``],
    ["in a quote", `> ${ID}: ADDRESSED`],
    ["indented, as the form is", `    - ${ID}: ADDRESSED - <what shows it>`],
    ["about what nobody asked", "- 1111111111111111: ADDRESSED"],
  ])("none %s", (_what, text) => {
    expect(read(text)).toEqual({});
  });

  test("a finding with both answers is not addressed", () => {
    const lines = [
      `- ${ID}: NOT ADDRESSED - a`,
      `- ${ID}: ADDRESSED - b`,
      `- ${OTHER}: ADDRESSED`,
      `- ${OTHER}: NOT ADDRESSED - c`,
    ];
    expect(read(lines.join("\n"))).toEqual({
      [ID]: { isAddressed: false, reason: "a" },
      [OTHER]: { isAddressed: false, reason: "c" },
    });
  });
});
