import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assert, unreachable } from "../../src/stdx/assert.ts";
import { canonical, canonicalJson } from "../../src/stdx/canonical-json.ts";

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
};

describe("canonicalJson", () => {
  it("gives equal values equal bytes, in any order of their keys", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(reversed(value)) === canonicalJson(value)));
  });

  it("is JSON of the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("gives different values different bytes, and keeps lists in their order", () => {
    expect(canonicalJson({ b: 1, a: [2, 1] })).toBe('{"a":[2,1],"b":1}');
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson(null)).toBe("null");
  });

  it("gives the value that is read back, also if JSON omits or rewrites something", () => {
    const odd = fc.oneof(
      fc.constantFrom(undefined, NaN, Infinity, -Infinity, -0, null, true, Symbol("x"), () => 1),
      fc.date({ noInvalidDate: true }),
      fc.double(),
      fc.string(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: "small" }, odd, fc.array(tie("tree")), fc.dictionary(fc.string(), tie("tree"))),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree), (input) => {
        const { text, value } = canonical(input);
        expect(text).toBe(JSON.stringify(value));
        expect(value).toStrictEqual(JSON.parse(text));
        expect(JSON.parse(text)).toStrictEqual(JSON.parse(JSON.stringify(input)));
      }),
    );
  });

  it("keeps a key called __proto__", () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"z":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"z":1},"b":1}');
  });
});

describe("assert and unreachable", () => {
  it("throw with the broken assumption", () => {
    expect(() => assert(0, "zero is not enough")).toThrow("assertion failed: zero is not enough");
    expect(() => assert("x", "fine")).not.toThrow();
    expect(() => unreachable({ type: "new" } as never)).toThrow('unreachable: {"type":"new"}');
  });
});
