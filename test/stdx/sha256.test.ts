import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/stdx/sha256.ts";

const expected = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

describe("sha256", () => {
  it("is the standard's, for any text", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme", maxLength: 300 })),
        (text) => {
          expect(sha256(text)).toBe(expected(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("is right at every length around the edges of a block", () => {
    for (let length = 0; length <= 200; length++) expect(sha256("x".repeat(length))).toBe(expected("x".repeat(length)));
  });

  it("is right for a long text, and for halves of surrogate pairs", () => {
    const long = "remand ".repeat(100_000);
    expect(sha256(long)).toBe(expected(long));
    expect(sha256("a\ud800b")).toBe(expected("a\ud800b"));
  });
});
