/** What makes tests prove less without taking one away, and what lets other programs judge: in several languages. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { integrityTrees, scopeOf, type Tree } from "../../kit/integrity-trees.ts";

const trees = integrityTrees();
afterAll(() => trees.clear());

const told = ({ findings }: Judgement): string[] =>
  findings
    .filter(({ severity }) => severity !== "info")
    .map(({ severity, category, message }) => `${severity} ${category.replace("integrity/", "")}: ${message}`);

async function rules(before: Tree, after: Tree, commands: readonly string[] = []): Promise<string[]> {
  const judgement = await trees.judge(before, after, null, before, { commands });
  return told(judgement).map((line) => line.slice(0, line.indexOf(":")));
}

const PY = `from price import price


class TestPrice:
    def test_one(self):
        assert price(1) == 10

    def test_many(self):
        assert price(20) == 180
`;
const py = (from: string, to: string): [Tree, Tree] => [
  { "tests/test_price.py": PY },
  { "tests/test_price.py": PY.replace(from, () => to) },
];
const LAST = "        assert price(20) == 180\n";

describe("Python tests that prove less", () => {
  test.each([
    ["in a class that is not collected", py("class TestPrice:", "class PriceChecks:"), "test-skipped"],
    ["in a class that says so", py("class TestPrice:\n", "class TestPrice:\n    __test__ = False\n\n"), "test-skipped"],
    ["skipped by an error", py(LAST, `        raise unittest.SkipTest("later")\n${LAST}`), "test-skipped"],
    ["under a mark with another name", py("    def test_many", "    @later\n    def test_many"), null],
    [
      "with a mark that has another name",
      py("class Test", "later = pytest.mark.xfail\n\n\nclass Test"),
      "test-skipped",
    ],
    [
      "whose failure is printed",
      py(LAST, `        try:\n    ${LAST}        except AssertionError as error:\n            print(error)\n`),
      "assertion-unreached",
    ],
    [
      "whose error is looked at",
      py(
        LAST,
        `${LAST}        try:\n            assert price(None)\n        except TypeError as error:\n            assert "None" in str(error)\n`,
      ),
      null,
    ],
    ["that end early", py(LAST, `        if price(20) != 180: return\n${LAST}`), "assertion-unreached"],
    ["that assert under a condition", py(LAST, `        if price(20) == 180:\n    ${LAST}`), "assertion-unreached"],
    [
      "with another assertion in each case",
      py(LAST, `        if price(0):\n    ${LAST}        else:\n            assert price(20) == 0\n`),
      null,
    ],
    ["that only compare", py("price(20) == 180", "price(20) > 0"), "assertion-loosened"],
    ["that are always true", py("price(20) == 180", "price(20) == 180 or True"), "assertion-trivial"],
    ["that assert a tuple", py("price(20) == 180", '(price(20) == 180, "wrong")'), "assertion-trivial"],
    ["that assert with a message", py("price(20) == 180", 'price(20) == 180, f("a", "b")'), null],
    [
      "of a function of their own",
      py("from price import price\n", "def price(n):\n    return n * 9\n"),
      "subject-mocked",
    ],
    ["of a stub", py("from price import", "from tests.stubs import"), "subject-mocked"],
    ["of code that moved", py("from price import", "from shop.prices import"), null],
    [
      "that replace the code",
      py(LAST, `        monkeypatch.setattr(price, "price", lambda n: 180)\n${LAST}`),
      "subject-mocked",
    ],
    ["that replace what it uses", py(LAST, `        monkeypatch.setattr(clock, "now", lambda: 0)\n${LAST}`), null],
  ] as const)("%s", async (_name, [before, after], rule) => {
    const broken = await rules(before, after);
    expect(broken).toEqual(rule === null ? [] : [`critical ${rule}`]);
  });

  test("rows that were taken out of a table, and rows that were only moved to another test", async () => {
    const rows =
      '@pytest.mark.parametrize("n, sum", [(1, 10), (2, 20), (20, 180)])\ndef test_price(n, sum):\n    assert price(n) == sum\n';
    const fewer = rows.replace(", (20, 180)", "");
    const more = `${fewer}\n\ndef test_many():\n    assert price(20) == 180\n`;
    expect(await rules({ "tests/test_price.py": rows }, { "tests/test_price.py": fewer })).toEqual([
      "critical test-deleted",
    ]);
    expect(await rules({ "tests/test_price.py": rows }, { "tests/test_price.py": more })).toEqual([]);
  });
});

describe("tests that may never be run", () => {
  const JS = 'test("one", () => {\n  expect(price(1)).toBe(10);\n});\n';
  const RS =
    "fn price() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn many() {\n        assert_eq!(price(20), 180);\n    }\n}\n";
  const SKIPPED = ["critical test-skipped"];
  test.each([
    ["after a short cut", "a.test.js", JS, `process.env.ALL && ${JS}`, SKIPPED],
    [
      "after the end of the file's work",
      "a.test.cjs",
      JS,
      `if (process.env.CI) return;\n${JS}`,
      ["critical assertion-unreached"],
    ],
    ["in a group", "a.test.js", JS, `describe("prices", () => {\n${JS}});\n`, []],
    ["in a loop", "a.test.js", JS, `for (const a of all) {\n${JS}}\n`, []],
    ["in a function that others call", "a.test.js", JS, `export function contract() {\n${JS}}\n`, []],
    [
      "in Python under a condition",
      "test_a.py",
      "def test_a():\n    assert a() == 1\n",
      "if SLOW:\n    def test_a():\n        assert a() == 1\n",
      SKIPPED,
    ],
    [
      "in Python in another class of tests",
      "test_a.py",
      "def test_a():\n    assert a() == 1\n",
      "class TestA:\n    def test_a(self):\n        assert a() == 1\n",
      [],
    ],
    [
      "in Rust under a feature",
      "src/a.rs",
      RS,
      RS.replace("    #[test]", '    #[cfg(feature = "slow")]\n    #[test]'),
      SKIPPED,
    ],
    [
      "in Rust in a module under a feature",
      "src/a.rs",
      RS,
      RS.replace("cfg(test)", 'cfg(all(test, feature = "slow"))'),
      SKIPPED,
    ],
    [
      "in Rust expected to fail",
      "src/a.rs",
      RS,
      RS.replace("    #[test]", "    #[test]\n    #[should_panic]"),
      SKIPPED,
    ],
    [
      "in Rust caught",
      "src/a.rs",
      RS,
      RS.replace("assert_eq!(price(20), 180);", "let _ = std::panic::catch_unwind(|| assert_eq!(price(20), 180));"),
      ["critical assertion-unreached"],
    ],
    [
      "beside Rust code under a feature",
      "src/a.rs",
      RS,
      RS.replace("fn price", '#[cfg(feature = "slow")]\nfn other() {}\n\nfn price'),
      [],
    ],
  ] as const)("%s", async (_name, path, before, after, expected) => {
    expect(await rules({ [path]: before }, { [path]: after })).toEqual(expected);
  });
});

describe("what runs Python's tests", () => {
  const base: Tree = { "price.py": "x = 1\n", "pytest.ini": "[pytest]\npythonpath = .\n" };
  test.each([
    ["tests by name", { "pytest.ini": "[pytest]\npythonpath = .\naddopts = -k one\n" }, "critical tests-left-out"],
    ["tests by mark", { "pytest.ini": "[pytest]\naddopts =\n    -ra\n    -m 'not slow'\n" }, "critical tests-left-out"],
    ["no test at all", { "pytest.ini": "[pytest]\naddopts = --collect-only\n" }, "critical tests-left-out"],
    ["more words", { "pytest.ini": "[pytest]\npythonpath = .\naddopts = -ra -q --strict-markers\n" }, null],
    ["a hook", { "conftest.py": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n" }, "critical tests-left-out"],
    ["other code", { "conftest.py": "import price\nprice.price = lambda n: 180\n" }, "critical subject-mocked"],
    ["a fixture", { "conftest.py": "import pytest\n\n@pytest.fixture\ndef shop():\n    return Shop()\n" }, null],
    ["a runner of its own", { "pytest.py": "print('2 passed')\n" }, "critical runner-changed"],
    ["a module with such a word in its name", { "src/shop/coverage.py": "x = 1\n" }, null],
  ] as const)("%s", async (_name, change, rule) => {
    expect(await rules(base, { ...base, ...change })).toEqual(rule === null ? [] : [rule]);
  });
});

describe("other languages", () => {
  const GO =
    "func TestPrice(t *testing.T) {\n\tcases := []struct{ n, sum int }{\n\t\t{1, 10},\n\t\t{20, 180},\n\t}\n\tfor _, c := range cases {\n\t\trequire.Equal(t, c.sum, Price(c.n))\n\t}\n}\n";
  test("a row of a Go table", async () => {
    const fewer = GO.replace("\t\t{20, 180},\n", "");
    expect(await rules({ "price_test.go": GO }, { "price_test.go": fewer })).toEqual(["critical test-deleted"]);
    expect(await rules({ "price_test.go": fewer }, { "price_test.go": GO })).toEqual([]);
  });

  test.each([
    ["Cargo.toml", "[lib]\ntest = false\n", "critical tests-left-out"],
    [".cargo/config.toml", '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n', "critical tests-left-out"],
    ["Cargo.toml", '[[bench]]\nname = "speed"\nharness = false\n', null],
    ["pom.xml", "<testFailureIgnore>true</testFailureIgnore>\n", "critical tests-left-out"],
    [".npmrc", "node-options=--require ./x.cjs\n", "critical tests-left-out"],
    [".npmrc", "engine-strict=true\nnode-options=--max-old-space-size=4096\n", null],
  ] as const)("%s: %j", async (path, text, rule) => {
    expect(await rules({ "a.txt": "a\n" }, { "a.txt": "a\n", [path]: text })).toEqual(rule === null ? [] : [rule]);
  });
});

describe("configs that look at less", () => {
  test.each([
    [".eslintignore", "dist\n", "dist\nsrc/bad.js\n", "critical strictness-lowered"],
    [".eslintignore", "dist\n", "dist\ncoverage/\n", null],
    [
      "pyproject.toml",
      "[tool.mypy]\nstrict = true\n",
      '[tool.mypy]\nstrict = true\nexclude = ["src/bad.py"]\n',
      "critical strictness-lowered",
    ],
    ["pyproject.toml", "[tool.ruff]\n", '[tool.ruff]\n[tool.setuptools.packages.find]\nexclude = ["tests"]\n', null],
    ["tsconfig.json", '{ "include": ["src"] }\n', '{ "include": ["src/**/*.ts", "test"] }\n', null],
    ["tsconfig.json", '{ "include": ["src", "test"] }\n', '{ "include": ["src"] }\n', "critical strictness-lowered"],
    ["tsconfig.json", '{ "include": ["src", "test"] }\n', "{ }\n", null],
    [".oxlintrc.json", '{ "rules": { "eqeqeq": "error" } }\n', '{ "extends": ["./base.json"], "rules": {} }\n', null],
  ] as const)("%s: %j", async (path, before, after, rule) => {
    expect(await rules({ [path]: before }, { [path]: after })).toEqual(rule === null ? [] : [rule]);
  });
});

describe("what a check starts", () => {
  const base: Tree = {
    "package.json":
      '{ "scripts": { "test": "run-s unit types", "unit": "bin/unit", "types": "tsc", "build": "sh build.sh" } }\n',
    "bin/unit": "#!/bin/sh\nexec node tools/run.js\n",
    "tools/run.js": "run();\n",
    "build.sh": "tsc\n",
  };
  test.each([
    ["a program at the end of the chain", { "tools/run.js": "\n" }, ["npm test"], ["critical runner-changed"]],
    ["a program that no check starts", { "build.sh": "tsc -b\n" }, ["npm test"], []],
    [
      "the same one, where a check starts it",
      { "build.sh": "tsc -b\n" },
      ["npm run build && npm test"],
      ["critical runner-changed"],
    ],
  ] as const)("%s", async (_name, change, commands, expected) => {
    expect(await rules(base, { ...base, ...change }, commands)).toEqual(expected);
  });

  test("in a folder of the repository, too: files are named from its top, and checks run below", async () => {
    const top = mkdtempSync(join(tmpdir(), "remand-folder-"));
    mkdirSync(join(top, ".git"));
    mkdirSync(join(top, "shop"));
    const below = (files: Tree): Tree =>
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`shop/${path}`, text]));
    const outside = { "bin/unit": "node x.js\n", "tools/run.js": "run();\n" };
    const judge = async (change: Tree): Promise<string[]> => {
      const before = { ...outside, ...below(base) };
      const options = { commands: ["npm test"] };
      const at = { path: join(top, "shop") };
      return told(await trees.judge(before, { ...before, ...change }, null, before, options, at));
    };
    try {
      expect(await judge({ "shop/tools/run.js": "\n" })).toEqual([expect.stringContaining("critical runner-changed")]);
      expect(
        await judge({ "shop/package.json": '{ "scripts": { "test": "run-s unit types", "unit": "true" } }\n' }),
      ).toEqual([
        expect.stringContaining("the script `unit` was changed from `bin/unit` to `true`"),
        expect.stringContaining("the script `types` was taken out"),
      ]);
      // The same names at the top are other programs.
      expect(await judge({ "tools/run.js": "\n", "bin/unit": "\n" })).toEqual([]);
    } finally {
      rmSync(top, { recursive: true });
    }
  });

  test("what is loaded before the tests is shown in new work, and blocks rework", async () => {
    const before = { "vitest.config.js": "export default {\n  test: {},\n};\n" };
    const after = { "vitest.config.js": 'export default {\n  test: {\n    setupFiles: ["./setup.js"],\n  },\n};\n' };
    expect(await trees.judge(before, after)).toMatchObject({ result: "pass", findings: [{ severity: "major" }] });
    expect(await trees.judge(before, after, scopeOf("add-only"))).toMatchObject({ result: "fail" });
  });
});

test("a spy on a part of what is tested is no other subject", async () => {
  const before = 'test("saves", () => {\n  expect(cart.total()).toBe(1);\n});\n';
  const spied =
    'test("saves", () => {\n  vi.spyOn(console, "log").mockImplementation(() => {});\n  expect(cart.total()).toBe(1);\n});\n';
  expect(await rules({ "test/cart.test.js": before }, { "test/cart.test.js": spied })).toEqual([]);
  const own = spied.replace("vi.spyOn(console", "vi.spyOn(cart");
  expect(await rules({ "test/cart.test.js": before }, { "test/cart.test.js": own })).toEqual([
    "critical subject-mocked",
  ]);
});
