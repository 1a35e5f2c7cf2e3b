import { describe, expect, test } from "vitest";
import { readTestText } from "../../../src/parse/tests/test-text.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

describe("the tests of a file", () => {
  test.each([
    [
      "a.test.ts",
      'it("a", () => expect(1).toBe(1));\nit.each([1])("b %i", (n) => assert.equal(n, 1));\nxit("c", f);\ndescribe.skip("d", f);\nfit("e", f)\ntest(`f`, { skip: true }, f); /regex/.test("x"); exit("y");',
      ["a", "b %i", "c", "e", "f"],
    ],
    [
      "test_a.py",
      '@pytest.mark.skip\ndef test_a():\n    assert x == 1\n# def test_no(): pass\nclass T:\n    def test_b(self):\n        self.assertEqual(1, 1)\n    @unittest.skipIf(x, "y")\n    async def test_c(self): pass\n',
      ["test_a", "test_b", "test_c"],
    ],
    [
      "lib.rs",
      "#[test]\nfn a() { assert_eq!(1, 1); }\n#[test]\n#[ignore]\nfn b() { assert!(x); }\n#[tokio::test]\nasync fn c() {}\nfn d() {}\n",
      ["a", "b", "c"],
    ],
    [
      "a_test.go",
      'func TestA(t *testing.T) { t.Errorf("x") }\nfunc TestB(t *testing.T) { t.Skip("later") }\n/* func TestC(t *testing.T) {\n} */\n',
      ["TestA", "TestB"],
    ],
    [
      "ATest.java",
      "@Test\npublic void adds() { assertEquals(1, 1); }\n@Disabled\n@Test\nvoid later() {}\n",
      ["adds", "later"],
    ],
  ])("%s: its tests by name", (path, text, titles) => {
    expect(readTestText(path, text).tests.map(({ title }) => title)).toEqual(titles);
  });

  test("a reformatted test is the same, and a test with another modifier or value is not", () => {
    const [first] = readTestText("a.test.ts", 'test("a", () => {\n  expect(f(1)).toBe(2);\n});\n').tests;
    const read = (text: string) => readTestText("a.test.ts", text).tests[0];
    expect(read("test('a', () => { expect(f(1)).toBe(2) })")).toEqual(first);
    expect(read('test.skip("a", () => { expect(f(1)).toBe(2); });')!.head).not.toBe(first!.head);
    expect(read('test("a", () => { expect(f(1)).toBe(3); });')!.shape).not.toBe(first!.shape);
  });

  test("lines around the tests are read without imports and groups", () => {
    const text = 'import a from "a";\nconst data = [1, 2];\ndescribe("x", () => {\n  test("a", () => {});\n});\n';
    expect(readTestText("a.test.ts", text).around).toEqual(["constdata=[1,2]"]);
  });

  test("takes time in proportion to the length of any text", () => {
    for (const unit of ["test(", 'it("', "#[test]", "@Test ", "def test", " ", "expect", "describe.a.b", "assert.a"])
      expectLinearCost(2_000_000, (n) => {
        const text = unit.repeat(n / unit.length);
        return () => readTestText("a.test.ts", text);
      });
  });
});
