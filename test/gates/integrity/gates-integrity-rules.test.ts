import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readChanges } from "../../../src/gates/integrity/file-changes.ts";
import { INTEGRITY_RULES } from "../../../src/core/gates/registry.ts";
import { integrityTrees, lines, scopeOf, type IntegrityTrees, type Tree } from "../../kit/integrity-trees.ts";

let trees: IntegrityTrees;
beforeAll(() => {
  trees = integrityTrees();
});
afterAll(() => trees.clear());

const CODE: Tree = { "src/a.js": "a\n" };
const DONE: Tree = { "src/a.js": "aa\n" };

/** Returns the rules that new work violates, without those that only inform. */
async function broken(base: Tree, now: Tree): Promise<string[]> {
  const { findings } = await trees.judge({ ...CODE, ...base }, { ...DONE, ...now });
  return findings
    .filter(({ severity }) => severity !== "info")
    .map(({ category }) => category.replace("integrity/", ""));
}

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

describe("code that detects tests", () => {
  test.each([
    ["src/b.js", "if (process.env.NODE_ENV === 'test') return 1;", "environment-detected"],
    ["src/b.js", "const fast = 'JEST_WORKER_ID' in process.env || process.env.VITEST;", "environment-detected"],
    ["src/b.py", 'if "pytest" in sys.modules:', "environment-detected"],
    ["src/b.py", 'if os.environ.get("PYTEST_CURRENT_TEST"):', "environment-detected"],
    ["src/b.go", "if testing.Testing() {", "environment-detected"],
    ["src/b.rs", "if cfg!(test) {", "environment-detected"],
  ])("%s: %s", async (path, line, rule) => {
    expect(await broken({}, { [path]: `${line}\n` })).toEqual([rule]);
  });

  test("similar words are ignored", async () => {
    expect(await broken({}, { "src/b.js": "// NODE_ENV === 'test' is not looked at\n" })).toEqual([]);
    expect(await broken({}, { "test/price.test.js": "if (process.env.VITEST) x();\n" })).toEqual([]);
    expect(await broken({}, { "src/lib.rs": "#[cfg(test)]\nmod tests {}\n" })).toEqual([]);
  });
});

describe("files that decide about the work", () => {
  const severities = async (base: Tree, now: Tree, scope = scopeOf("add-only")) =>
    (await trees.judge({ ...CODE, ...base }, { ...DONE, ...now }, scope)).findings.map(
      ({ severity, category, file }) => `${severity} ${category.replace("integrity/", "")} ${file}`,
    );

  test.each([
    ["vitest.config.ts", "a\n", "b\n"],
    [".eslintrc.json", "{}", '{ "rules": {} }'],
    [".eslintignore", "dist\n", "dist\nsrc\n"],
    ["ruff.toml", "a = 1\n", "a = 2\n"],
    ["biome.json", "{}", "{ }"],
    ["conftest.py", "", "import os\n"],
    [".github/workflows/ci.yml", "- run: npm test\n", "- run: npm test || true\n"],
    ["package.json", '{ "scripts": { "test": "vitest run" } }', '{ "scripts": { "test": "true" } }'],
    ["package.json", '{ "scripts": { "test": "vitest run" } }', '{ "scripts": {} }'],
  ])("%s: it is shown, in new work and in rework, and decided by running", async (path, before, after) => {
    const shown = [`info runner-changed ${path}`];
    expect(await severities({ [path]: before }, { [path]: after })).toEqual(shown);
    expect(await severities({ [path]: before }, { [path]: after }, null!)).toEqual(shown);
  });

  test("a script that checks nothing, a first one, and an invalid package file are not shown", async () => {
    const scripts = (own: object): Tree => ({ "package.json": JSON.stringify({ scripts: own }) });
    expect(await severities(scripts({ build: "a" }), scripts({ build: "b", test: "vitest" }))).toEqual([]);
    expect(await severities({ "package.json": "{" }, { "package.json": "{{" })).toEqual([]);
  });

  test.each(["remand.yaml", "remand.yml", "remand.keys"])(
    "%s belongs to a person: its change is rejected",
    async (path) => {
      expect(await severities({ [path]: "a\n" }, { [path]: "b\n" }, null!)).toEqual([`critical rules-changed ${path}`]);
      expect(await severities({ [path]: "a\n" }, { [path]: "b\n" })).toEqual([`blocker rules-changed ${path}`]);
      expect(await severities({}, { [path]: "b\n" }, null!)).toEqual([`critical rules-changed ${path}`]);
      expect(await severities({}, { [`docs/${path}`]: "b\n" }, null!)).toEqual([]);
    },
  );
});

test("a snapshot is a test: in rework it must stay, in new work its change is shown", async () => {
  const file = (value: number): Tree => ({ "src/__snapshots__/a.snap": `exports[\`a 1\`] = \`${value}\`;\n` });
  const judge = (scope: Parameters<typeof trees.judge>[2]) =>
    trees.judge({ ...CODE, ...file(1) }, { ...DONE, ...file(2) }, scope);
  const message = "src/__snapshots__/a.snap: a file that belongs to the tests was changed";
  expect(lines((await judge(scopeOf("add-only"))).findings)).toEqual([`blocker ${message}`]);
  expect(lines((await judge(null)).findings)).toEqual([`info ${message}`]);
});

describe("leftovers", () => {
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

  test("a large file, and a binary one, are shown; a picture is not", async () => {
    expect(await broken({}, { "data.csv": "0123456789\n".repeat(120_000) })).toEqual(["large-file"]);
    const bytes = Uint8Array.from({ length: 5000 }, (_, n) => n % 256);
    expect(await broken({}, { "tool.bin": bytes })).toEqual(["binary-file"]);
    expect(await broken({}, { "logo.png": bytes })).toEqual([]);
  });
});

test("a change that is too long to be read completely does not pass", async () => {
  const diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,9 @@\n-a\n+b\n[1234 bytes were cut here]\n+z\n";
  expect(readChanges(diff)).toMatchObject({ isCut: true, files: [{ path: "x" }] });
  const cut = { ...trees.workspace, diff: () => Promise.resolve(diff) };
  const judgement = await trees.judge(CODE, DONE, null, CODE, { workspace: cut });
  expect(judgement).toMatchObject({ result: "fail", findings: [{ category: "integrity/not-looked-at" }] });
});

test("only changed files are read, and all of them, whatever their number", async () => {
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
  expect(judgement.findings).toHaveLength(30);
  expect(new Set(read)).toEqual(new Set(Object.keys(many(""))));
});

test("every rule has an explanation, also in the guide", () => {
  const guide = readFileSync(new URL("../../../docs/guide/integrity-rules.md", import.meta.url), "utf8");
  const reasons = guide.slice(guide.indexOf("| rule | kept because |"));
  for (const [name, { newWork, rework, excusable, why }] of Object.entries(INTEGRITY_RULES)) {
    expect(why).toMatch(/^[A-Z].*\.$/);
    expect(guide).toContain(`| \`${name}\` | ${newWork} | ${rework} | ${excusable ? "yes" : ""} | ${why} |`);
    expect(reasons).toContain(`\`${name}\``);
  }
});
