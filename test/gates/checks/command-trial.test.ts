import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCommandTrial } from "../../../src/gates/checks/command-trial.ts";
import { NO_SANDBOX } from "../../../src/adapters/process/launch.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-trial-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const signal = new AbortController().signal;
const env = { PATH: process.env["PATH"] ?? "", FORCE_COLOR: "1", PYTHONPATH: "/mine" };
const run = (command: string) =>
  createCommandTrial(env, NO_SANDBOX).run({ command, path: folder, timeoutMs: 20_000 }, { signal });

test("reports how a command ended and its output", async () => {
  expect(await run("echo fine")).toMatchObject({ passed: true, timedOut: false, output: "fine\n" });
  expect(await run("echo bad; exit 3")).toMatchObject({ passed: false, timedOut: false, output: "bad\n" });
});

test("the environment is that of a check", async () => {
  const { output } = await run('echo "$NO_COLOR $CI $FORCE_COLOR $PYTHONDONTWRITEBYTECODE $PYTHONPATH"');
  expect(output).toMatch(/^ 1 {2}1 (?:\S+:)?\/mine\n$/);
});

test("the environment may depend on the folder", async () => {
  const trial = createCommandTrial(async (path) => ({ ...env, WHERE: path }), NO_SANDBOX);
  const { output } = await trial.run({ command: 'echo "$WHERE"', path: folder, timeoutMs: 20_000 }, { signal });
  expect(output).toBe(`${folder}\n`);
});

test("counts the failed and the passed tests that run a line", async () => {
  writeFileSync(
    join(folder, "price.py"),
    "RATE = 2\n\ndef price(n):\n    if n < 0:\n        return (\n            0)\n    return n\n",
  );
  const cases = ["def test_a(self): self.assertEqual(price(1), 1)", "def test_b(self): self.assertEqual(price(-1), 9)"];
  const head = ["import unittest", "from price import price", "class P(unittest.TestCase):"];
  writeFileSync(join(folder, "test_price.py"), [...head, ...cases.map((line) => `    ${line}`), ""].join("\n"));
  const counted = new Map([["price.py", [1, 4, 6, 7]]]);
  const request = { command: "python3 -m unittest -q test_price", path: folder, timeoutMs: 20_000, counted };
  const { coverage } = await createCommandTrial({ PATH: env.PATH }, NO_SANDBOX).run(request, { signal });
  expect(coverage?.map(({ line, failed, passed }) => [line, failed, passed])).toEqual([
    [1, 1, 1],
    [4, 1, 1],
    [6, 1, 0],
    [7, 0, 1],
  ]);
});

test("names every test that ran, unless it runs without reports", async () => {
  writeFileSync(
    join(folder, "a.test.mjs"),
    'import test from "node:test";\ntest("adds", () => {});\ntest("breaks", () => { throw new Error("no"); });\n',
  );
  const { tests, passed } = await run("node --test a.test.mjs");
  expect(passed).toBe(false);
  expect(tests?.map(({ identity, outcome }) => [identity, outcome])).toEqual([
    ["a.test.mjs > adds", "passed"],
    ["a.test.mjs > breaks", "failed"],
  ]);
  const trial = createCommandTrial(env, NO_SANDBOX);
  const bare = await trial.run(
    { command: "node --test a.test.mjs", path: folder, timeoutMs: 20_000, isBare: true },
    { signal },
  );
  expect(bare.tests).toBeUndefined();
});
