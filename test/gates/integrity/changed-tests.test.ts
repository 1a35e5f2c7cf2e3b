import { describe, expect, test } from "vitest";
import { changedTests } from "../../../src/gates/integrity/changed-tests.ts";
import type { FilePair } from "../../../src/gates/integrity/file-changes.ts";
import { createRuleReporter } from "../../../src/gates/integrity/integrity-rules.ts";

type Files = Readonly<Record<string, string>>;

/** Returns the findings for a change of test files. */
function said(before: Files, after: Files): readonly string[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const files: FilePair[] = paths.map((path) => ({ path, before: before[path] ?? null, after: after[path] ?? null }));
  const look = { files, isTest: (path: string) => !path.startsWith("src/") };
  return changedTests(look, createRuleReporter({ isRework: true, settings: {} })).map(({ message }) => message);
}

const JS = 'test("adds", () => {\n  expect(add(1, 2)).toBe(3);\n  expect(add(0, 0)).toBe(0);\n});\n';
const PY = "def test_adds():\n    assert add(1, 2) == 3\n";
const RS = "#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n";
const GO = 'func TestAdds(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Error("no")\n\t}\n}\n';

describe("changes of existing tests", () => {
  test.each([
    ["a.test.js", JS, JS.replace("(3)", "(4)"), "adds"],
    ["a.test.js", JS, JS.replace("test(", "test.skip("), "adds"],
    ["a.test.js", JS, JS.replace('"adds"', '"sums"'), "adds"],
    ["test_a.py", PY, `@pytest.mark.skip\n${PY}`, "test_adds"],
    ["test_a.py", PY, PY.replace("== 3", "== 4"), "test_adds"],
    ["src/lib.rs", RS, RS.replace("#[test]", "#[test]\n#[ignore]"), "adds"],
    ["a_test.go", GO, GO.replace("t.Error", "t.Log"), "TestAdds"],
  ])("%s: %j → %j", (path, before, after, title) => {
    expect(said({ [path]: before }, { [path]: after })).toEqual([`existing tests were changed: "${title}"`]);
  });

  test.each([
    [
      "deleted from its file",
      { "a.test.js": `${JS}test("b", f);\n` },
      { "a.test.js": 'test("b", f);\n' },
      'a test is no longer there: "adds"',
    ],
    ["deleted with its file", { "a.test.js": JS }, {}, "the test file was deleted, and the test in it"],
    [
      "replaced by another file's test of the same name",
      { "a.test.js": JS },
      { "b.test.js": 'test("adds", () => {});\n' },
      null,
    ],
    [
      "a function that tests call",
      { "a.test.js": `const n = 3;\n${JS}` },
      { "a.test.js": `const n = 4;\n${JS}` },
      "what stands around the existing tests was changed",
    ],
    ["data", { "test/a.json": "1\n2\n" }, { "test/a.json": "1\n3\n" }, "a file that belongs to the tests was changed"],
    ["data that is gone", { "test/a.json": "[1, 2]\n" }, {}, "a file that belongs to the tests was deleted"],
  ])("%s", (_what, before, after, message) => {
    expect(said(before as Files, after as Files)).toEqual(message === null ? [] : [message]);
  });
});

describe("no change", () => {
  test.each([
    [
      "formatted",
      { "a.test.js": JS },
      { "a.test.js": "test('adds', () => { expect(add(1, 2)).toBe(3)\n\n  expect(\n    add(0, 0),\n  ).toBe(0) })\n" },
    ],
    ["put into a group", { "a.test.js": JS }, { "a.test.js": `describe("sums", () => {\n${JS}});\n` }],
    ["others added", { "a.test.js": JS }, { "a.test.js": `${JS}test("more", () => expect(1).toBe(1));\n` }],
    ["moved to another file", { "a.test.js": JS }, { "b.test.js": JS }],
    ["a skip taken away", { "a.test.js": JS.replace("test(", "test.skip(") }, { "a.test.js": JS }],
    ["the code around Rust's tests", { "src/lib.rs": `fn add() {}\n${RS}` }, { "src/lib.rs": `fn add() { 1 }\n${RS}` }],
    ["data that moved", { "test/a.json": "[1]\n" }, { "test/b.json": "[1]\n" }],
  ])("%s", (_what, before, after) => {
    expect(said(before as Files, after as Files)).toEqual([]);
  });
});
