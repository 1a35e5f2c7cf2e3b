import { describe, expect, it } from "vitest";
import { readPhaseProduct } from "../../../src/parse/agent/agent-answer.ts";

const read = (message: string): string | null => readPhaseProduct(message, "Research");

describe("a product in a message", () => {
  it("is everything under its heading, up to the signal", () => {
    expect(read("Well.\n\n## Research\n\nFound.\n\n## 1. More\n\nOf it.\n\nREADY_FOR_REVIEW: a\n\nSummary: x\n")).toBe(
      "Found.\n\n## 1. More\n\nOf it.",
    );
    expect(read("READY_FOR_REVIEW: a\n\n# Research\nFound.")).toBe("Found.");
  });

  it.each([
    "# Research",
    "### research",
    "## Research: payments",
    "## **Research**",
    "## 2. Research",
    "## Research – what is there",
    "## Research ##",
  ])("is found under %s", (heading) => {
    expect(read(`${heading}\nFound.`)).toBe("Found.");
  });

  it.each([
    "Found.",
    "Research\nFound.",
    "## Researchers\nFound.",
    "## My Research\nFound.",
    "```\n## Research\nFound.\n```",
    "## Research\n\n",
    "## Research\nREADY_FOR_REVIEW: a",
    "",
  ])("is missing in %j", (message) => {
    expect(read(message)).toBeNull();
  });

  it("does not end at an example of a signal, and has no terminal commands", () => {
    expect(read("## Research\n```\nREADY_FOR_REVIEW: a\n```\nread it\n")).toBe(
      "```\nREADY_FOR_REVIEW: a\n```\nread it",
    );
    expect(read("## Research\n\u001b[31mred\u001b[0m\r\nnext")).toBe("red\nnext");
  });

  it("is cut when it is too long, with a note", () => {
    const product = read(`## Research\n${"x".repeat(200_010)}`)!;
    expect(product.endsWith("x\n\n… 10 characters left out …")).toBe(true);
  });
});
