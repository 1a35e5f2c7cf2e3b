import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeRepository } from "../../kit/git-repository.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const testOf = (body: string): string => `const assert = require("node:assert");
const test = require("node:test");
const { total } = require("../total.js");
test("totals", () => { ${body} });
`;

test("a test that the work adds must notice a fault in what the work changed", () => {
  const repository = makeRepository({
    "total.js": "exports.total = (a, b) => a;\n",
    "remand.yaml": "version: 1\npreset: goal\ngates: { checks: { commands: [node --test] } }\n",
  });
  onTestFinished(() => repository.clear());
  const gate = (): string => {
    const options = { cwd: repository.root, env: repository.env, encoding: "utf8" } as const;
    const { stdout, stderr } = spawnSync(process.execPath, [MAIN, "gate", "checks"], options);
    return `${stdout}${stderr}`;
  };
  repository.write("total.js", "exports.total = (a, b) => a + b;\n");
  repository.write("test/total.test.js", testOf("total(2, 1);"));
  expect(gate()).toContain("test/total.test.js > totals passes with faults planted in the code that it runs");
  repository.write("test/total.test.js", testOf("assert.equal(total(2, 1), 3);"));
  const passed = gate();
  expect(passed).toContain("passed: 1 gate");
  expect(passed).not.toMatch(/contested|not shown to fail: /);
});
