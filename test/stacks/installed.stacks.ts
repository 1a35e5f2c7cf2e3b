/**
 * A project of each stack, made with the stack's own tools: its check passes in a clean checkout, and fails there when
 * the work breaks it. What is not on this machine is skipped, with the reason.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CONFIG, environmentIn, expectStack, expectVerified, inHome, makeProject } from "./kit.ts";
import { STACKS } from "./stacks.ts";

describe("in a clean checkout the check passes, and fails for broken work", () => {
  for (const stack of STACKS)
    test(stack.name, ({ skip }) => {
      inHome((home) => expectStack(stack, home, skip));
    });

  test("submodules", () => {
    inHome((home) => {
      const env = environmentIn(home);
      const library = join(home, "library");
      mkdirSync(library);
      const project = makeProject(home, env);
      writeFileSync(join(library, "add.js"), "export const add = (a, b) => a + b;\n");
      writeFileSync(join(library, "package.json"), '{ "type": "module" }\n');
      expect(project.run("cd ../library && git init -q && git add . && git commit -qm add").exit).toBe(0);
      project.write({
        "package.json": '{ "type": "module", "scripts": { "test": "node --test" } }\n',
        "more.js": 'export { add } from "./library/add.js";\n',
        "add.test.js":
          'import test from "node:test";\nimport assert from "node:assert/strict";\nimport { add } from "./more.js";\ntest("adds", () => assert.equal(add(1, 2), 3));\n',
        "remand.yaml": CONFIG("npm test"),
      });
      expect(
        project.run("git init -q && git submodule --quiet add ../library library && git add . && git commit -qm s")
          .exit,
      ).toBe(0);
      expectVerified(project, { "more.js": "export const add = () => 0;\n" }, "adds");
    });
  });
});
