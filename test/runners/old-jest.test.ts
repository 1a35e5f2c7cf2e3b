import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const PRELOAD = fileURLToPath(new URL("../../reporters/node-preload.cjs", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "remand-jest-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What a program gets that asks for the configuration of Jest as one of its versions does. */
function configFrom(readConfigs: string, use: string): unknown {
  const folder = join(root, "node_modules", "jest-config", "build");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index.js"), `exports.readConfigs = ${readConfigs};\n`);
  writeFileSync(
    join(root, "run.cjs"),
    `const { readConfigs } = require("./node_modules/jest-config/build/index.js");
${use}
`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, [`--require=${PRELOAD}`, "run.cjs"], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", REMAND_TEST_NAMES: root },
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

const EXPECTED = {
  globalConfig: {
    reporters: [
      ["default", {}],
      [expect.stringMatching(/jest\.cjs$/), { folder: root }],
    ],
  },
  configs: [1],
};

test.each([
  [
    "at once, up to Jest 24",
    "() => ({ globalConfig: {}, configs: [1] })",
    "console.log(JSON.stringify(readConfigs()));",
  ],
  [
    "by a promise",
    "async () => ({ globalConfig: {}, configs: [1] })",
    "readConfigs().then((read) => console.log(JSON.stringify(read)));",
  ],
])("Jest gets its configuration with the reporter in it %s", (_, readConfigs, use) => {
  expect(configFrom(readConfigs, use)).toEqual(EXPECTED);
});
