/** What judges the work, and is in no change: what is installed, and what git is told to overlook. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { control, integrityTrees } from "../../kit/integrity-trees.ts";

const trees = integrityTrees();
const folder = mkdtempSync(join(tmpdir(), "remand-untracked-"));
afterAll(() => {
  trees.clear();
  rmSync(folder, { recursive: true, force: true });
});

let path: string;
let count = 0;
const put = (file: string, text: string): void => {
  mkdirSync(dirname(join(path, file)), { recursive: true });
  writeFileSync(join(path, file), text);
};

beforeEach(() => {
  path = join(folder, String(count++));
  put(".git/config", "[core]\n\tbare = false\n");
  put(".git/info/exclude", "# nothing\n");
  put("node_modules/vitest/package.json", '{ "name": "vitest", "version": "4.0.0" }\n');
  put("node_modules/vitest/dist/run.js", "run();\n");
  put("node_modules/left-pad/index.js", "pad();\n");
  put("node_modules/.bin/mytest", "#!/bin/sh\nexec node --test\n");
  symlinkSync("../vitest/dist/run.js", join(path, "node_modules/.bin/vitest"));
  put(".venv/lib/python3.12/site-packages/pytest/__init__.py", "main = run\n");
});

/** What is said of work during which something else was done. */
async function told(meanwhile: () => void, more: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const gate = trees.gateOf();
  const before = { "src/a.js": "one\n" };
  const request = { ...trees.requestFor(before, { "src/a.js": "two\n", ...more }), path };
  expect(await gate.baseline!(request, control())).toEqual({ failing: [], flaky: [] });
  meanwhile();
  const { findings } = await gate.run(request, control());
  return findings.map(({ severity, message }) => `${severity}: ${message}`);
}

const RUNNER = "critical: what runs the tests was changed where git does not look";
const GIT = "critical: git was told to overlook files while the work was done";

test.each([
  [
    "a file of the runner",
    () => put("node_modules/vitest/dist/run.js", "process.exit(0);\n"),
    `${RUNNER}: node_modules/vitest/dist/run.js`,
  ],
  [
    "a program beside the packages",
    () => put("node_modules/.bin/mytest", "exit 0\n"),
    `${RUNNER}: node_modules/.bin/mytest`,
  ],
  [
    "where a program's name leads",
    () => {
      rmSync(join(path, "node_modules/.bin/vitest"));
      symlinkSync("/bin/true", join(path, "node_modules/.bin/vitest"));
    },
    `${RUNNER}: node_modules/.bin/vitest`,
  ],
  [
    "a file of Python's runner",
    () => put(".venv/lib/python3.12/site-packages/pytest/__init__.py", "main = exit\n"),
    `${RUNNER}: .venv/lib/python3.12/site-packages/pytest/__init__.py`,
  ],
  [
    "what git ignores here",
    () => appendFileSync(join(path, ".git/info/exclude"), "vitest.config.ts\n"),
    `${GIT}: .git/info/exclude: vitest.config.ts`,
  ],
  [
    "what git sees in files",
    () => appendFileSync(join(path, ".git/config"), '[filter "same"]\n\tclean = cat x\n'),
    `${GIT}: .git/config: [filter "same"]`,
  ],
] as const)("%s is told", async (_what, meanwhile, message) => {
  expect(await told(meanwhile)).toEqual([message]);
});

test.each([
  ["nothing", (): void => {}, {}],
  ["the same installed once more", () => put("node_modules/vitest/dist/run.js", "run();\n"), {}],
  ["another package", () => put("node_modules/left-pad/index.js", "other();\n"), {}],
  [
    "the runner in another version",
    () => {
      put("node_modules/vitest/package.json", '{ "name": "vitest", "version": "4.1.0" }\n');
      put("node_modules/vitest/dist/run.js", "run(2);\n");
      put("node_modules/.bin/mytest", "#!/bin/sh\nexec node --test --v2\n");
    },
    { "package-lock.json": "{}\n" },
  ],
  ["caches", () => put("node_modules/.vite/results.json", "{}\n"), {}],
  ["what a person's editor leaves", () => appendFileSync(join(path, ".git/info/exclude"), ".idea/\n*.swp\n"), {}],
  ["a name for commits", () => appendFileSync(join(path, ".git/config"), "[user]\n\tname = Ada\n"), {}],
] as const)("%s is no cause for complaint", async (_what, meanwhile, more) => {
  expect(await told(meanwhile, more)).toEqual([]);
});
