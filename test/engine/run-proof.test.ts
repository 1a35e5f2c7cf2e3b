import { expect, test } from "vitest";
import { looksLikeTest } from "../../src/core/blame/change.ts";
import { treeId } from "../../src/core/events/ids.ts";
import { findBlame } from "../../src/engine/find-blame.ts";
import type { ExperimentCheckout, TrialRequest, TrialRun } from "../../src/ports/experiment-runner.ts";

const BASE: Readonly<Record<string, string>> = {
  "src/cart.js": "export const one = () => 1;\n",
  "src/other.js": "export const two = () => 2;\n",
  "test/cart.test.js": 'import { one } from "../src/cart.js";\ntest("adds", () => expect(one()).toBe(1));\n',
};
const NOW: Readonly<Record<string, string>> = {
  ...BASE,
  "src/cart.js": "export const one = () => 2;\n",
  "src/other.js": "export const two = () => 3;\n",
};
const DIFF = ["src/cart.js", "src/other.js"]
  .map((path) =>
    [
      `diff --git a/${path} b/${path}`,
      `--- a/${path}`,
      `+++ b/${path}`,
      "@@ -1 +1 @@",
      `-${BASE[path]!.trim()}`,
      `+${NOW[path]!.trim()}`,
      "",
    ].join("\n"),
  )
  .join("");
const FAILED =
  " FAIL  test/cart.test.js > adds\nAssertionError: expected 2 to be 1\n\n- Expected\n+ Received\n\n- 1\n+ 2\n\n ❯ test/cart.test.js:2:1\n\n      Tests  1 failed (1)\n";
const PASSED = " ✓ test/cart.test.js (1 test)\n\n      Tests  1 passed (1)\n";

/** Blames with a check that fails where `isRed` says so, by the text of `src/cart.js` and the command. */
async function blamed(isRed: (cart: string, command: string) => boolean) {
  const files = new Map<string, string | null>();
  const commands: string[] = [];
  const checkout: ExperimentCheckout = {
    path: "/app",
    set(_, texts) {
      files.clear();
      for (const [path, text] of [...Object.entries(NOW), ...texts]) files.set(path, text);
      return Promise.resolve(treeId(JSON.stringify([...files])));
    },
    paths: () => Promise.resolve(Object.keys(NOW)),
    text: (path) => files.get(path) ?? null,
    close: () => Promise.resolve(),
  };
  const run = ({ command }: TrialRequest): Promise<TrialRun> => {
    commands.push(command);
    const passed = !isRed(files.get("src/cart.js")!, command);
    return Promise.resolve({ passed, timedOut: false, output: passed ? PASSED : FAILED, tookMs: 1 });
  };
  const given = { output: FAILED, root: "/app", base: "base", tree: "now", diff: DIFF, isTest: looksLikeTest };
  const found = await findBlame(given, {
    checkout,
    textBefore: (path) => Promise.resolve(BASE[path] ?? null),
    proof: { trial: { run }, command: "npx vitest run", limits: { runs: 30, timeMs: 60_000 } },
    signal: new AbortController().signal,
    now: () => 0,
  });
  return { found, commands };
}

const NARROW = "npx vitest run test/cart.test.js";

test("only the failing tests are run", async () => {
  const { found, commands } = await blamed((cart) => cart.includes("2"));
  expect(found.proof).toMatchObject({ kind: "culprit", proven: true, hunks: [0] });
  expect(new Set(commands)).toEqual(new Set([NARROW]));
});

test("a test that fails only after others is searched for with the whole check", async () => {
  const { found, commands } = await blamed((cart, command) => command !== NARROW && cart.includes("2"));
  expect(found.proof).toMatchObject({ kind: "culprit", proven: true, hunks: [0] });
  // By itself it passes, with reports and without; after that only the whole check is run.
  expect(commands.slice(0, 2)).toEqual([NARROW, NARROW]);
  expect(new Set(commands.slice(2))).toEqual(new Set(["npx vitest run"]));
  // It may be a flake as well: the whole check is seen failing more often before anything else.
  expect(found.proof!.experiments!.filter(({ purpose }) => purpose === "untouched")).toHaveLength(3);
});

test("a failure that does not come again either way is flaky", async () => {
  const { found } = await blamed(() => false);
  expect(found.proof).toMatchObject({ kind: "flaky", proven: false });
});
