import { describe, expect, test } from "vitest";
import { comparisonsIn, otherValues, plainData, valueAfter } from "../../../src/parse/code/comparisons.ts";

const pairs = (path: string, text: string, title = "adds"): readonly string[] =>
  comparisonsIn(path, text, title).map(
    ({ actual, expected }) => `${text.slice(actual.from, actual.to)} <> ${text.slice(expected.from, expected.to)}`,
  );

describe("comparisons of a test", () => {
  test.for([
    ["arguments", "a.test.js", 'test("adds", () => {\n  assert.equal(add(2, 1), 3, "sum");\n});', ["add(2, 1) <> 3"]],
    ["a list", "a.test.js", "deepEqual(sort([3, 1]), [1, 3]);", ["sort([3, 1]) <> [1, 3]"]],
    ["a chain", "a.test.ts", 'it("adds", () => expect(f(1)).not.to.equal({ a: "x" }));', ['f(1) <> { a: "x" }']],
    ["a name", "a.test.ts", 'expect(result).toBe("q b");', ['result <> "q b"']],
    [
      "a sign",
      "a.py",
      "def adds():\n    assert add(2, 1) == 3\n    assert not f(x) == (1, 2)\n",
      ["add(2, 1) <> 3", "f(x) <> (1, 2)"],
    ],
    ["a condition", "a_test.go", 'if got := Add(2, 1); got != 3 {\n\tt.Fatalf("%d", got)\n}', ["got <> 3"]],
    ["the fixed value first", "a.rs", 'assert_eq!("abc", name(1));', ['name(1) <> "abc"']],
    ["words of a shell", "run.sh", `same "adds" "$(slug 'A B')" "a-b"`, [`"$(slug 'A B')" <> "a-b"`]],
  ] as const)("%s", ([, path, text, found]) => {
    expect(pairs(path, text)).toEqual(found);
  });

  test("do not include the title with its function, or input values", () => {
    expect(pairs("a.test.js", 'test("adds", () => run());')).toEqual([]);
    expect(pairs("a.test.js", 'open("/", "hi"); // equal(x, 3)')).toEqual([]);
  });
});

describe("other values", () => {
  test.for([
    ["a.js", '"Ab"', ['"AB"', '"A"', '"Abq"']],
    ["a.js", "3", ["4", '"3"']],
    ["a.py", "True", ["False"]],
    ["a.js", "[1, [2, 3], 4]", ["[4, [2, 3], 1]", "[1, [2, 3]]"]],
    ["a.js", "[1, 1]", ["[1]"]],
    ["a.py", "(1, 2)", ["(2, 1)"]],
    ["a.js", "{ a: 1, b: 2 }", ["{a: 1}"]],
  ] as const)("%s %s", ([path, text, others]) => {
    expect(otherValues(path, text).map((each) => each.text)).toEqual(others);
  });

  test("and plain data are written in the language", () => {
    expect(plainData("a.ts", "f(1)")).toBe("JSON.parse(JSON.stringify(structuredClone(f(1))))");
    expect(plainData("a.go", "f(1)")).toBeNull();
    expect(valueAfter("a.js", "await f(1)", "3")).toBe("(await f(1), 3)");
    expect(valueAfter("a.py", "f(1)", '"a"')).toBe('(f(1), "a")[-1]');
    expect(valueAfter("a.go", "f(1)", "3")).toBeNull();
  });
});
