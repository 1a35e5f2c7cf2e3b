import { describe, expect, test } from "vitest";
import type { FilePair } from "../../../src/gates/integrity/file-changes.ts";
import { createRuleReporter } from "../../../src/gates/integrity/integrity-rules.ts";
import { readTestText } from "../../../src/gates/integrity/test-text.ts";
import { weakenedTests } from "../../../src/gates/integrity/weakened-tests.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

describe("what a file of tests holds", () => {
  test.each([
    [
      "a.test.ts",
      'it("a", () => expect(1).toBe(1));\nit.each([1])("b %i", (n) => assert.equal(n, 1));\nxit("c", f);\ndescribe.skip("d", f);\nfit("e", f)\ntest(`f`, { skip: true }, f); /regex/.test("x"); exit("y");',
      { titles: ["a", "b %i", "c", "e", "f"], tests: 5, skipped: 3, focused: 1, assertions: 2 },
    ],
    [
      "test_a.py",
      '@pytest.mark.skip\ndef test_a():\n    assert x == 1\n# def test_no(): pass\nclass T:\n    def test_b(self):\n        self.assertEqual(1, 1)\n        with pytest.raises(E): pass\n    @unittest.skipIf(x, "y")\n    async def test_c(self): pass\n',
      { titles: ["test_a", "test_b", "test_c"], tests: 3, skipped: 2, focused: 0, assertions: 3 },
    ],
    [
      "lib.rs",
      "#[test]\nfn a() { assert_eq!(1, 1); }\n#[test]\n#[ignore]\nfn b() { assert!(x); }\n#[tokio::test]\nasync fn c() {}\n",
      { titles: ["a", "b", "c"], tests: 3, skipped: 1, focused: 0, assertions: 2 },
    ],
    [
      "a_test.go",
      'func TestA(t *testing.T) { t.Errorf("x") }\nfunc TestB(t *testing.T) { t.Skip("later"); require.Equal(t, 1, 1) }\n/* func TestC(t *testing.T) {\n} */\n',
      { titles: ["TestA", "TestB"], tests: 2, skipped: 1, focused: 0, assertions: 2 },
    ],
    [
      "ATest.java",
      "@Test\npublic void adds() { assertEquals(1, 1); }\n@Disabled\n@Test\nvoid later() {}\n",
      { titles: ["adds", "later"], tests: 2, skipped: 1, focused: 0, assertions: 1 },
    ],
  ])("%s", (path, text, expected) => {
    const { tests, skipped, focused, assertionsAround } = readTestText(path, text);
    expect({
      titles: tests.flatMap(({ title }) => title ?? []),
      tests: tests.length,
      skipped,
      focused,
      assertions: assertionsAround + tests.reduce((sum, each) => sum + each.assertions, 0),
    }).toEqual(expected);
  });

  test("costs in proportion to its length, whatever is in it", () => {
    for (const unit of ["test(", 'it("', "#[test]", "@Test ", "def test", " ", "expect", "describe.a.b", "assert.a"])
      expectLinearCost(2_000_000, (n) => {
        const text = unit.repeat(n / unit.length);
        return () => readTestText("a.test.ts", text);
      });
  });
});

/** The rules that a change of one or several test files breaks, in rework. */
function broken(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>, isRework = false) {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const files: FilePair[] = paths.map((path) => ({ path, before: before[path] ?? null, after: after[path] ?? null }));
  const gone = new Set(paths.filter((path) => after[path] === undefined));
  const look = { files, gone, isTest: (path: string) => !path.startsWith("src/") };
  return weakenedTests(look, createRuleReporter({ isRework, settings: {} }))
    .filter(({ severity }) => severity !== "info")
    .map(({ category }) => category.replace("integrity/", ""));
}

describe("what makes tests prove less, in four languages", () => {
  const JS = 'test("adds", () => {\n  expect(add(1, 2)).toBe(3);\n  expect(add(0, 0)).toBe(0);\n});\n';
  const PY = "def test_adds():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n";
  const GO =
    'func TestAdds(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Errorf("no")\n\t}\n\trequire.Equal(t, 0, Add(0, 0))\n}\n';
  const RS =
    "fn add() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n        assert_eq!(add(0, 0), 0);\n    }\n}\n";

  test.each([
    ["a.test.js", JS, JS.replace("test(", "test.only("), "test-focused"],
    ["a.test.js", JS, JS.replace("test(", "test.todo("), "test-skipped"],
    ["a.test.js", JS, JS.replace("{\n", "{\n  return;\n"), "assertion-unreached"],
    ["a.test.js", JS, JS.replace("{\n", "{\n  if (false) {\n").replace("});", "}});"), "assertion-unreached"],
    [
      "a.test.js",
      JS,
      JS.replace("expect(add(1", "try { expect(add(1").replace("(0);", "(0); } catch {}"),
      "assertion-unreached",
    ],
    ["a.test.js", JS, `if (false) {\n${JS}}\n`, "assertion-unreached"],
    ["a.test.js", JS, JS.replace(".toBe(3)", ".toBeDefined()"), "assertion-loosened"],
    ["a.test.js", JS, JS.replace("expect(add(1, 2)).toBe(3)", "expect(true).toBe(true)"), "assertion-trivial"],
    ["a.test.js", JS, JS.replace("add(1, 2)", "3"), "assertion-trivial"],
    ["a.test.js", JS, JS.replace("  expect(add(1, 2)).toBe(3);\n", ""), "assertion-removed"],
    ["a.test.js", JS, 'test("adds", () => {});\n', "assertion-trivial"],
    ["a.test.js", JS, JS.replace('"adds", ', '"adds", { retry: 3 }, '), "test-retried"],
    ["test_a.py", PY, PY.replace("def", "@pytest.mark.skip\ndef"), "test-skipped"],
    ["test_a.py", PY, PY.replace("def", "@pytest.mark.xfail(strict=False)\ndef"), "test-skipped"],
    ["test_a.py", PY, PY.replace("add(1, 2) == 3", "True"), "assertion-trivial"],
    ["test_a.py", PY, PY.replace("    assert add(1, 2) == 3\n", ""), "assertion-removed"],
    ["test_a.py", PY, PY.replace("add(1, 2) == 3", "add(1, 2) is not None"), "assertion-loosened"],
    ["test_a.py", PY, PY.replace("():\n", "():\n    return\n"), "assertion-unreached"],
    ["test_a.py", PY, PY.replace("def test_adds", "def adds"), "test-deleted"],
    ["a_test.go", GO, GO.replace("{\n\tif", '{\n\tt.Skip("later")\n\tif'), "test-skipped"],
    ["a_test.go", GO, GO.replace("TestAdds", "testAdds"), "test-deleted"],
    ["a_test.go", GO, GO.replace("\trequire.Equal(t, 0, Add(0, 0))\n", ""), "assertion-removed"],
    ["src/lib.rs", RS, RS.replace("#[test]", "#[test]\n    #[ignore]"), "test-skipped"],
    ["src/lib.rs", RS, RS.replace("    #[test]\n", ""), "test-deleted"],
    ["src/lib.rs", RS, RS.replace("        assert_eq!(add(1, 2), 3);\n", ""), "assertion-removed"],
    ["src/lib.rs", RS, RS.replace("assert_eq!(add(1, 2), 3)", "assert!(true)"), "assertion-trivial"],
  ])("%s: %j → %j", (path, before, after, rule) => {
    expect(broken({ [path]: before }, { [path]: after })).toContain(rule);
    expect(broken({ [path]: before }, { [path]: before })).toEqual([]);
  });

  test("the code around Rust's tests is not a part of them", () => {
    expect(
      broken({ "src/lib.rs": RS }, { "src/lib.rs": RS.replace("fn add() {}", "fn add() { sum() }") }, true),
    ).toEqual([]);
  });

  test.each([
    ["formatted", JS, "test('adds', () => { expect(add(1, 2)).toBe(3)\n\n  expect(\n    add(0, 0),\n  ).toBe(0) })\n"],
    ["put into a group", JS, `describe("sums", () => {\n${JS}});\n`],
    ["a comment added", JS, JS.replace("  expect", "  // the sum\n  expect")],
    ["a comment taken out", JS.replace("test(", "// first\ntest("), JS],
  ])("%s: nothing is said even in rework", (_what, before, after) => {
    expect(broken({ "a.test.js": before }, { "a.test.js": after }, true)).toEqual([]);
  });

  test("several assertions made one about the whole, and several tests one table, prove as much", () => {
    const whole = 'test("adds", () => {\n  expect([add(1, 2), add(0, 0)]).toEqual([3, 0]);\n});\n';
    expect(broken({ "a.test.js": JS }, { "a.test.js": whole })).toEqual([]);
    const three = [1, 2, 3].map((n) => `test("adds ${n}", () => { expect(add(${n}, 5)).toBe(${n + 5}); });\n`).join("");
    const table = 'test.each([[1, 6], [2, 7], [3, 8]])("adds %i", (n, sum) => { expect(add(n, 5)).toBe(sum); });\n';
    expect(broken({ "a.test.js": three }, { "a.test.js": table })).toEqual([]);
    expect(broken({ "a.test.js": three }, { "a.test.js": table.replace(", [3, 8]", "") })).toEqual(["test-deleted"]);
  });

  test("a test that moved is not lost, one that moved out of the run is, and one that lost something on the way shows", () => {
    expect(broken({ "a.test.js": JS }, { "deep/b.test.ts": JS }, true)).toEqual([]);
    expect(broken({ "a.test.js": JS }, { "a.test.js.bak": JS })).toEqual(["test-out-of-run"]);
    expect(broken({ "a.test.js": JS }, { "a.js": JS })).toEqual(["test-out-of-run"]);
    expect(broken({ "a.test.js": JS }, { ".old/a.test.js": JS })).toEqual(["test-out-of-run"]);
    expect(broken({ "a.test.js": JS }, { "b.test.js": JS.replace(".toBe(3)", ".toBeDefined()") })).toEqual([
      "assertion-loosened",
    ]);
  });

  test("another file's test of the same name does not stand in for it", () => {
    const other = { "b.test.js": JS };
    expect(broken({ "a.test.js": JS, ...other }, { "b.test.js": `${JS}// more\n` })).toEqual(["test-deleted"]);
  });

  test("a test whose subject is deleted too may go", () => {
    const before = { "test/old.test.js": `import { add } from "../src/old.js";\n${JS}`, "src/old.js": "x" };
    expect(broken(before, {})).toEqual([]);
    expect(broken(before, { "src/old.js": "x" })).toEqual(["test-deleted"]);
  });
});
