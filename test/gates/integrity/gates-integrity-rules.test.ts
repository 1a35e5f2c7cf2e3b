import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readChanges } from "../../../src/gates/integrity/file-changes.ts";
import { INTEGRITY_RULES } from "../../../src/core/gates/integrity-rule.ts";
import { integrityTrees, lines, scopeOf, type IntegrityTrees, type Tree } from "../../kit/integrity-trees.ts";

let trees: IntegrityTrees;
beforeAll(() => {
  trees = integrityTrees();
});
afterAll(() => trees.clear());

const CODE: Tree = { "src/a.js": "a\n" };
const DONE: Tree = { "src/a.js": "aa\n" };

/** The rules that new work breaks, those left out that only inform. */
async function broken(base: Tree, now: Tree): Promise<string[]> {
  const { findings } = await trees.judge({ ...CODE, ...base }, { ...DONE, ...now });
  return findings
    .filter(({ severity }) => severity !== "info")
    .map(({ category }) => category.replace("integrity/", ""));
}

describe("thresholds and strictness", () => {
  test.each([
    [
      "jest.config.js",
      "coverageThreshold: { global: { branches: 80, lines: 90 } }",
      "coverageThreshold: { global: { branches: 80, lines: 70 } }",
    ],
    [".nycrc.json", '{ "check-coverage": true, "lines": 90 }', '{ "check-coverage": true, "lines": 89.5 }'],
    ["package.json", '{ "c8": { "lines": 90 } }', '{ "c8": {} }'],
    ["pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 50\n"],
    ["pytest.ini", "[pytest]\naddopts = --cov-fail-under=90\n", "[pytest]\naddopts = --cov-fail-under=10\n"],
    [".github/workflows/ci.yml", "run: eslint --max-warnings 0\n", "run: eslint --max-warnings 50\n"],
    ["stryker.conf.json", '{ "thresholds": { "break": 80 } }', '{ "thresholds": { "break": 10 } }'],
  ])("%s: %s → %s", async (path, before, after) => {
    expect(await broken({ [path]: before }, { [path]: after })).toContain("threshold-lowered");
    expect(await broken({ [path]: after }, { [path]: after })).toEqual([]);
  });

  test.each([
    ["tsconfig.json", '{ "compilerOptions": { "strict": true } }', '{ "compilerOptions": {} }'],
    ["tsconfig.build.json", '{ "noImplicitAny": true }', '{ "noImplicitAny": false }'],
    ["mypy.ini", "[mypy]\ndisallow_untyped_defs = True\n", "[mypy]\ndisallow_untyped_defs = False\n"],
    ["mypy.ini", "[mypy]\n", "[mypy]\nignore_errors = True\n"],
    [
      "eslint.config.js",
      'rules: { "no-console": "error", eqeqeq: ["error", "always"] }\n',
      'rules: { "no-console": "warn", eqeqeq: ["error", "always"] }\n',
    ],
    [".eslintrc.json", '{ "rules": {} }', '{ "rules": { "@typescript-eslint/no-explicit-any": "off" } }'],
  ])("%s: %s → %s", async (path, before, after) => {
    expect(await broken({ [path]: before }, { [path]: after })).toEqual(["strictness-lowered"]);
  });

  test("raising one, adding one and writing a first config are welcome", async () => {
    expect(
      await broken({ "jest.config.js": "lines: 80\n" }, { "jest.config.js": "lines: 90, branches: 50\n" }),
    ).toEqual([]);
    expect(await broken({}, { ".eslintrc.json": '{ "rules": { "no-console": "off" } }' })).toEqual([]);
    expect(await broken({ "tsconfig.json": "{}" }, { "tsconfig.json": '{ "strict": true }' })).toEqual([]);
  });
});

describe("silenced complaints", () => {
  test.each([
    ["src/b.ts", "// @ts-expect-error"],
    ["src/b.js", "/* eslint-disable */"],
    ["src/b.js", "x(); // eslint-disable-line no-undef"],
    ["src/b.js", "/* c8 ignore next */"],
    ["src/b.py", "import x  # noqa: F401"],
    ["src/b.py", "x = y()  # type: ignore[attr-defined]"],
    ["src/b.py", "def f():  # pragma: no cover"],
    ["src/b.go", "//nolint:errcheck"],
    ["src/b.rs", "#[allow(dead_code)]"],
  ])("%s: %s", async (path, line) => {
    expect(await broken({}, { [path]: `${line}\n` })).toEqual(["suppression-added"]);
    expect(await broken({ [path]: `${line}\n` }, { [path]: `${line}\nx\n` })).toEqual([]);
  });

  test.each([
    ["src/b.js", "// eslint-disable-next-line no-console -- this is the program's output"],
    ["src/b.ts", "// @ts-expect-error -- the types of the package are behind"],
    ["src/b.py", "import x  # noqa: F401 # it registers itself"],
    ["src/b.go", "x() //nolint:errcheck // closing cannot fail here"],
  ])("with a reason it is only shown: %s: %s", async (path, line) => {
    expect(await broken({}, { [path]: `${line}\n` })).toEqual(["suppression-explained"]);
  });
});

describe("code that knows it is tested, and runs that end by themselves", () => {
  test.each([
    ["src/b.js", "if (process.env.NODE_ENV === 'test') return 1;", "environment-detected"],
    ["src/b.js", "const fast = 'JEST_WORKER_ID' in process.env || process.env.VITEST;", "environment-detected"],
    ["src/b.py", 'if "pytest" in sys.modules:', "environment-detected"],
    ["src/b.py", 'if os.environ.get("PYTEST_CURRENT_TEST"):', "environment-detected"],
    ["src/b.go", "if testing.Testing() {", "environment-detected"],
    ["src/b.rs", "if cfg!(test) {", "environment-detected"],
    ["tests/conftest.py", "    os._exit(0)", "exit-forced"],
    ["conftest.py", "    session.exitstatus = 0", "exit-forced"],
    ["test/setup.js", "process.exit(0);", "exit-forced"],
    ["test/price.test.js", 'vi.mock("../src/price.js");', "subject-mocked"],
    ["test/price.test.js", 'mock.module("../src/price.js", {});', "subject-mocked"],
    ["tests/test_price.py", '@patch("shop.price.total")', "subject-mocked"],
  ])("%s: %s", async (path, line, rule) => {
    expect(await broken({}, { [path]: `${line}\n` })).toEqual([rule]);
  });

  test("what only sounds like it is let alone", async () => {
    expect(await broken({}, { "src/b.js": "// NODE_ENV === 'test' is not looked at\nprocess.exit(0);\n" })).toEqual([]);
    expect(
      await broken({}, { "test/price.test.js": 'vi.mock("../src/clock.js");\nif (process.env.VITEST) x();\n' }),
    ).toEqual([]);
    expect(await broken({}, { "src/lib.rs": "#[cfg(test)]\nmod tests {}\n" })).toEqual([]);
  });
});

describe("what runs the tests", () => {
  test.each([
    ["Makefile", "test:\n\tpytest -q\n", "test:\n\ttrue\n", "runner-changed"],
    ["Makefile", "test:\n\tpytest -q\n", "test:\n\t-pytest -q\n", "tests-left-out"],
    ["pyproject.toml", 'testpaths = ["tests"]\n', 'testpaths = ["tests/unit"]\n', "tests-left-out"],
    ["conftest.py", "", "def pytest_collection_modifyitems(items):\n    items.clear()\n", "tests-left-out"],
    [".github/workflows/ci.yml", "- run: npm test\n", "- run: npm test || true\n", "tests-left-out"],
    [".gitlab-ci.yml", "script: go test ./...\n", "script: go test ./...\nallow_failure: true\n", "tests-left-out"],
    [
      "package.json",
      '{ "devDependencies": { "vitest": "^4" } }',
      '{ "devDependencies": { "vitest": "file:./fake" } }',
      "runner-changed",
    ],
    ["package.json", '{ "devDependencies": { "vitest": "^4" } }', '{ "devDependencies": {} }', "runner-changed"],
    ["package.json", '{ "scripts": { "lint": "eslint ." } }', '{ "scripts": { "lint": "exit 0" } }', "runner-changed"],
  ])("%s: %j → %j", async (path, before, after, rule) => {
    expect(await broken({ [path]: before }, { [path]: after })).toContain(rule);
  });

  test("more of the same, and newer versions, are shown or welcome", async () => {
    const scripts = (test: string): Tree => ({
      "package.json": JSON.stringify({ scripts: { test }, devDependencies: { vitest: "^4" } }),
    });
    expect(await broken(scripts("vitest run"), scripts("vitest run --reporter=dot"))).toEqual(["runner-adjusted"]);
    expect(await broken(scripts("vitest run"), scripts("vitest run -t adds"))).toEqual(["runner-changed"]);
    expect(
      await broken({ "package.json": '{ "devDependencies": { "vitest": "^3" } }' }, scripts("vitest run")),
    ).toEqual([]);
    expect(await broken({ Makefile: "test:\n\tpytest -q\n" }, { Makefile: "test:\n\tpytest -q -x\n" })).toEqual([]);
  });
});

describe("snapshots", () => {
  const file = (values: readonly number[]): Tree => ({
    "test/__snapshots__/a.snap": values.map((value, n) => `exports[\`a ${n} 1\`] = \`${value}\`;\n`).join("\n"),
  });
  const many = Array.from({ length: 12 }, (_, n) => n);

  test("a few are shown, by the dozen they fail, new ones are welcome", async () => {
    expect(await broken(file(many), file([99, ...many.slice(1)]))).toEqual(["snapshot-changed"]);
    expect(await broken(file(many), file(many.map((n) => n + 1)))).toEqual(["snapshot-rewritten"]);
    expect(await broken(file(many), {})).toEqual(["snapshot-rewritten"]);
    expect(await broken(file(many.slice(0, 3)), file(many))).toEqual([]);
  });

  test("in rework one is enough", async () => {
    const base = { ...CODE, ...file(many) };
    const judgement = await trees.judge(base, { ...DONE, ...file([99, ...many.slice(1)]) }, scopeOf("add-only"));
    expect(lines(judgement.findings)).toContain(
      "blocker test/__snapshots__/a.snap: 1 of 12 snapshots says something else now",
    );
  });

  test("those in the test itself count too", async () => {
    const inline = (value: string): Tree => ({
      "test/a.test.js": `test("a", () => {\n  expect(a()).toMatchInlineSnapshot(\`${value}\`);\n});\n`,
    });
    expect(await broken(inline("1"), inline("2"))).toEqual(["snapshot-changed"]);
  });
});

describe("what should not stay", () => {
  test.each([
    ["src/b.py", "    breakpoint()", "debug-stop"],
    ["src/b.rb", "binding.pry", "debug-stop"],
    ["src/b.rs", "    dbg!(x);", "debug-output"],
    ["src/b.js", "x(); // TODO: remove this", "remove-marker"],
    ["src/b.js", "// DO NOT COMMIT", "remove-marker"],
  ])("%s: %s", async (path, line, rule) => {
    expect(await broken({}, { [path]: `${line}\n` })).toEqual([rule]);
    expect(await broken({}, { "notes.md": `${line}\n` })).toEqual([]);
  });

  test("a large file, and one that is no text, are shown; a picture is not", async () => {
    expect(await broken({}, { "data.csv": "0123456789\n".repeat(120_000) })).toEqual(["large-file"]);
    const bytes = Uint8Array.from({ length: 5000 }, (_, n) => n % 256);
    expect(await broken({}, { "tool.bin": bytes })).toEqual(["binary-file"]);
    expect(await broken({}, { "logo.png": bytes })).toEqual([]);
  });
});

test("a change that is too long to be read whole is not called fine", async () => {
  const diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,9 @@\n-a\n+b\n[1234 bytes were cut here]\n+z\n";
  expect(readChanges(diff)).toMatchObject({ isCut: true, files: [{ path: "x" }] });
  const cut = { ...trees.workspace, diff: () => Promise.resolve(diff) };
  const judgement = await trees.judge(CODE, DONE, null, CODE, { workspace: cut });
  expect(judgement).toMatchObject({ result: "fail", findings: [{ category: "integrity/not-looked-at" }] });
});

test("only files that changed are read, and each of them, however many they are", async () => {
  const many = (text: string): Tree =>
    Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`test/t${n}.test.js`, `test("t${n}", () => { ${text} });\n`]),
    );
  const still: Tree = { "test/still.test.js": 'test("still", () => {});\n', "src/still.js": "x\n" };
  const read: string[] = [];
  const workspace: IntegrityTrees["workspace"] = {
    ...trees.workspace,
    fileAt: (story, at, path) => {
      read.push(path);
      return trees.workspace.fileAt(story, at, path);
    },
  };
  const base = { ...still, ...many("expect(a).toBe(1);") };
  const judgement = await trees.judge(base, { ...still, ...many("") }, null, base, { workspace });
  expect(judgement.blocking).toHaveLength(30);
  expect(new Set(read)).toEqual(new Set(["package.json", ...Object.keys(many(""))]));
});

test("every rule explains itself", () => {
  for (const { why } of Object.values(INTEGRITY_RULES)) expect(why).toMatch(/^[A-Z].*\.$/);
});
