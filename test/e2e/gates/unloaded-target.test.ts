import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeRepository } from "../../kit/git-repository.ts";

/* The test imports what is still to be written: at the base its file does not load, and none of its tests has a name. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { taxed } from "./price.mjs";
test("tax is added and rounded", () => assert.equal(taxed(99), 119));
`;

function loop(work: string) {
  const repository = makeRepository({ "price.test.mjs": TEST });
  onTestFinished(() => repository.clear());
  const options = ["--reporter", "default", "--max-iterations", "1", "--check", "node --test"];
  const args = [MAIN, "loop", ...options, "--", "sh", "-c", work];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: repository.root,
    env: repository.env,
    encoding: "utf8",
  });
  return { out: stdout + stderr, status };
}

test("the module is written: accepted, and the target has the name of its file", () => {
  const { out, status } = loop('echo "export const taxed = (cents) => Math.round(cents * 1.2);" > price.mjs');
  expect(out).toContain("target: price.test.mjs > price.test.mjs\n");
  expect(status, out).toBe(0);
});

test.each([
  ["a module that is wrong, and an empty test file", "echo 'export const taxed = 1;' > price.mjs; : > price.test.mjs"],
  [
    "another test in place of the file",
    'git mv price.test.mjs a.txt; printf \'import test from "node:test";\\ntest("x", () => {});\\n\' > other.test.mjs',
  ],
])("%s: refused", (_, work) => {
  const { out, status } = loop(work);
  expect(out).toContain("the target price.test.mjs > price.test.mjs fails with the base's version of its tests");
  expect(out).not.toContain("repairing the infrastructure");
  expect(status).not.toBe(0);
});
