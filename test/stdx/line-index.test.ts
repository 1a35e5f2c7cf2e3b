import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineIndex } from "../../src/stdx/text-lines.ts";

describe("lineIndex", () => {
  it("agrees with counting by hand, at every offset of any text", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\n", "\r\n", "é"), maxLength: 40 });
    fc.assert(
      fc.property(text, (whole) => {
        const lines = lineIndex(whole);
        for (let offset = 0; offset <= whole.length; offset++) {
          const before = whole.slice(0, offset).split("\n");
          expect(lines.at(offset)).toEqual({ line: before.length, column: before.at(-1)!.length + 1 });
        }
        for (const [index, line] of whole.split("\n").entries()) {
          const isLast = index === whole.split("\n").length - 1;
          expect(lines.text(index + 1)).toBe(isLast ? line : line.replace(/\r$/, ""));
        }
        expect(lines.text(1000)).toBe("");
      }),
    );
  });
});
