import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { yamlTree, type PlainTree } from "../../../src/write/edits/yaml-scalar.ts";

const { tree } = fc.letrec<{ tree: PlainTree; map: { readonly [key: string]: PlainTree } }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.string({ unit: "binary" }),
    fc.string(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom("15m", "1e3", "no", "12:30", "0o7", "a, b", "[x]"),
    fc.array(tie("tree"), { maxLength: 3 }),
    tie("map"),
  ),
  map: fc.dictionary(fc.string({ unit: "grapheme" }), tie("tree"), { maxKeys: 4 }),
}));
const map = fc.dictionary(fc.string(), tree, { minKeys: 1, maxKeys: 4 });

describe("yamlTree", () => {
  it("writes YAML that parses to the same data", () => {
    fc.assert(
      fc.property(map, (value) => {
        expect(parse(yamlTree(value))).toEqual(plain(value));
      }),
    );
  });

  it("adds notes as comments after values", () => {
    const value = { a: { b: 1, c: [], d: {} }, e: { f: 2 } };
    const note = (path: readonly string[]): string => (path.join(".") === "a.b" || path.join(".") === "e" ? "why" : "");
    expect(yamlTree(value, note)).toBe("a:\n  b: 1  # why\n  c: []\n  d: {}\ne: { f: 2 }  # why\n");
  });
});

/** Restores the prototypes that some maps of fast-check lack. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
};
