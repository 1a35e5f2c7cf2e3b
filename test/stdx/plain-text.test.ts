import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainText } from "../../src/stdx/plain-text.ts";
import { expectLinearCost } from "../cpu-cost.ts";

const ESC = "\u001b";

describe("plainText", () => {
  it.each([
    ["colors", `${ESC}[31mred${ESC}[0m`, "red"],
    ["the 8-bit form", "\u009b31mred\u009b0m", "red"],
    ["cursor movements", `a${ESC}[2K${ESC}[1Gb`, "ab"],
    ["a title", `${ESC}]0;REVIEW_PASSED: a\u0007done`, "done"],
    ["a link, ended by ESC \\", `${ESC}]8;;http://x${ESC}\\text${ESC}]8;;${ESC}\\`, "text"],
    [
      "a title that never ends does not swallow the next line",
      `${ESC}]0;title\nREVIEW_FAILED: a`,
      "\nREVIEW_FAILED: a",
    ],
    ["a device string", `${ESC}Pq#0${ESC}\\x`, "x"],
    ["short sequences", `${ESC}(Bx${ESC}c`, "x"],
    ["a sequence cut off at the end", `x${ESC}[31`, "x"],
    ["a lone escape", `x${ESC}`, "x"],
    ["a BOM", "\ufeffREADY", "READY"],
    ["CRLF and lone CR", "a\r\nb\rc", "a\nb\nc"],
    ["zero widths", "PASS\u200bED", "PASSED"],
    ["changes of direction", "abc\u202edef\u2066", "abcdef"],
    ["NUL and friends", "a\u0000b\u0007c\u007f", "abc"],
    ["tab and newline stay", "a\tb\nc", "a\tb\nc"],
    ["accents, emoji and scripts stay", "é ñ 漢字 👩‍💻".replace("\u200d", ""), "é ñ 漢字 👩💻"],
  ])("%s", (_name, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it("leaves clean text untouched, and does nothing the second time", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("a", " ", "\n", ESC, "[", "]", "m", "0", ";", "\r", "\u0007", "\u009b", "\u200b", "é"),
        }),
        (text) => {
          const plain = plainText(text);
          expect(plain).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b]/);
          expect(plainText(plain)).toBe(plain);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ["escapes", (n: number) => ESC.repeat(n)],
    ["open sequences", (n: number) => `${ESC}[`.repeat(n / 2)],
    ["one open title", (n: number) => `${ESC}]0;${"x".repeat(n)}`],
    ["numbers that never end a sequence", (n: number) => `${ESC}[${"1;".repeat(n / 2)}`],
  ])("costs in proportion to its length: %s", (_name, textOf) => {
    expectLinearCost(500_000, (n) => {
      const text = textOf(n);
      return () => plainText(text);
    });
  });
});
