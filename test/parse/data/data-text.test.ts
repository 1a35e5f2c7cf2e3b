import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJson, readLenientJson, readShortYaml } from "../../../src/parse/data/data-text.ts";

const value = (text: string): unknown => {
  const read = readJson(text);
  // Lenient objects have no prototype; what they hold is what matters here.
  return read.ok ? JSON.parse(JSON.stringify(read.value)) : read.problem;
};

describe("text that is nearly JSON", () => {
  test.each<[string, unknown]>([
    ['{"a": 1, "b": [1, 2,],}', { a: 1, b: [1, 2] }],
    ["{a: 'b', \"c\": `d`}", { a: "b", c: "d" }],
    ["{“a”: “b”, ‘c’: ‘d’}", { a: "b", c: "d" }],
    ['{"a": True, "b": False, "c": None, "d": undefined}', { a: true, b: false, c: null, d: null }],
    ['{"a": 1 // one\n, /* two */ "b": 2}', { a: 1, b: 2 }],
    ['{"a": 1; "b": 2;}', { a: 1, b: 2 }],
    ['{"a": "x"\n "b": "y"}', { a: "x", b: "y" }],
    ['["a"\n "b"]', ["a", "b"]],
    ['{"a": "one\ntwo"}', { a: "one\ntwo" }],
    ['{"a": "use "b" here, not "c", please", "d": 1,}', { a: 'use "b" here, not "c", please', d: 1 }],
    ["{'a': 'don't'}", { a: "don't" }],
    ['["it "is" so", "b",]', ['it "is" so', "b"]],
    ['{"a": [1, 2, ...], b: ...}', { a: [1, 2], b: "..." }],
    [
      "{'path': 'C:\\work\\x', 'n': 'a\\nb', 'u': '\\u0041\\uZZ', 'q': 'it\\'s'}",
      { path: "C:\\work\\x", n: "a\nb", u: "A\\uZZ", q: "it's" },
    ],
    ["{a: -1.5, b: 12, c: 1e400, d: yes sir}", { a: -1.5, b: 12, c: "1e400", d: "yes sir" }],
    ['{"a": {"b": [1, 2}, "c": 3}', { a: { b: [1, 2] }, c: 3 }],
    ['{"a": [{"b": 1], "c": 3}', { a: [{ b: 1 }], c: 3 }],
  ])("%s", (text, expected) => {
    expect(value(text)).toEqual(expected);
    expect(readJson(text)).toMatchObject({ ok: true, cut: false });
  });

  test.each<[string, unknown]>([
    ['{"a": 1, "b": [1, {"c": "d', { a: 1, b: [1, { c: "d" }] }],
    ['{"a": ', { a: null }],
    ['{"a"', { a: null }],
    ['{"a": 1', { a: 1 }],
    ["[1, /* open", [1]],
    ['{"a": "b\\', { a: "b\\" }],
  ])("%s has no end", (text, expected) => {
    expect(value(text)).toEqual(expected);
    expect(readJson(text)).toMatchObject({ ok: true, cut: true });
  });

  test.each(['{"a": 1}}', "{a b}", '{"a" 1, "b": 2}{', "{[1]: 2}", "", "}", "{,:}", "{a: ]}", `${"[".repeat(200)}x`])(
    "%s is not",
    (text) => {
      const read = readJson(text);
      expect(read.ok && !read.cut).toBe(false);
    },
  );

  test("is refused if it is nested too deeply", () => {
    const nested = (depth: number): string => `{a: ${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(readLenientJson(nested(90)).ok).toBe(true);
    expect(readLenientJson(nested(110)).ok).toBe(false);
  });

  test("keys cannot reach the language", () => {
    const read = readLenientJson("{__proto__: {polluted: true}, 'constructor': 1,}");
    expect(read.ok && Object.keys(read.value as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("every JSON document reads as itself", () => {
    const nested = fc.jsonValue({ maxDepth: 4 });
    const object = fc.dictionary(fc.string({ minLength: 1 }), nested);
    fc.assert(
      fc.property(object, (document) => {
        expect(value(JSON.stringify(document))).toEqual(JSON.parse(JSON.stringify(document)));
      }),
    );
  });

  test("never throws", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      ",",
      ":",
      " ",
      "\n",
      "\\",
      "a",
      "//",
      "/*",
      "*/",
      "“",
      "…",
      "1",
      "\\u",
    );
    fc.assert(fc.property(fc.array(pieces, { maxLength: 60 }), (text) => void readLenientJson(text.join(""))));
  });
});

describe("YAML", () => {
  test("is read", () => {
    expect(readShortYaml("a: 1\nb:\n  - c")).toEqual({ ok: true, cut: false, value: { a: 1, b: ["c"] } });
  });

  const bomb = [
    "a: &a [x, x, x, x, x, x, x, x, x]",
    ..."bcdefg".split("").map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdef"[at]}`).join(", ")}]`),
  ].join("\n");

  test.each([
    ["broken", "a: [", /not YAML/],
    ["too long", "a: b\n".repeat(2000), /longer than/],
    ["a bomb of aliases", bomb, /not YAML/],
    ["many brackets", "[".repeat(1000), /too deep/],
    ["many markers", "- ".repeat(1000), /too deep/],
    ["much indentation", `a:\n${" ".repeat(300)}b: 1`, /too deep/],
    ["brackets that seem to close", '{"}": '.repeat(1000), /too deep/],
  ])("%s is refused", (_, text, problem) => {
    const read = readShortYaml(text);
    expect(read.ok ? "read" : read.problem).toMatch(problem);
  });

  test("keys cannot reach the language", () => {
    expect(readShortYaml("__proto__:\n  polluted: true").ok).toBe(true);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
