import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeRepository } from "../../kit/git-repository.ts";
import { missingSandbox } from "../../kit/sandbox.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const missing = missingSandbox();

const TEST = `import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { price } from "prices";
test("the price has tax", () => assert.equal(price(100), 120));
test("git knows the first commit", () => assert.match(execFileSync("git", ["log", "--format=%s"], { encoding: "utf8" }), /^start$/m));
`;

/** The installed package names a file of the project by the path of the user's checkout, as editable installs do. */
function play(sandbox: "required" | "off") {
  const { root, env, write, clear } = makeRepository({
    "package.json": '{ "type": "module" }\n',
    "price.js": "export const price = (cents) => cents;\n",
    "price.test.js": TEST,
    ".gitignore": "node_modules\n",
  });
  onTestFinished(clear);
  write("node_modules/prices/package.json", '{ "name": "prices", "type": "module", "main": "index.js" }\n');
  write("node_modules/prices/index.js", `export * from ${JSON.stringify(join(root, "price.js"))};\n`);
  const agent = 'echo "export const price = (cents) => cents * 1.2;" > price.js';
  const loop = ["loop", "--goal", "add tax", "--worktree", "--max-iterations", "1", "--reporter", "default"];
  return spawnSync(process.execPath, [MAIN, ...loop, "--check", "node --test", "--", "sh", "-c", agent], {
    cwd: root,
    env: { ...env, REMAND_SANDBOX: sandbox },
    encoding: "utf8",
  });
}

test.skipIf(missing !== null)(
  `in a sandbox a clean checkout is at the path of the user's own${missing === null ? "" : ` (${missing})`}`,
  () => {
    const { status, stdout, stderr } = play("required");
    expect(`${stdout}${stderr}`).toMatch(/attempt 1 {3}integrity ✔ {2}checks ✔ {3}accepted/);
    expect(status).toBe(0);
  },
);

test("without one, what names that path leads to the user's files", () => {
  const { status, stdout } = play("off");
  expect(stdout).toMatch(/price\.test\.js:5 the price has tax/);
  expect(status).toBe(4);
});
