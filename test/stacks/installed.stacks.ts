/**
 * A project of each stack, made with the stack's own tools: its check passes in a clean checkout, and fails there when
 * the work breaks it. What is not on this machine is skipped, with the reason.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, type TestContext } from "vitest";
import { STACKS, type Stack } from "./stacks.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const TOOLS = fileURLToPath(new URL("../../node_modules/.cache/remand-stacks", import.meta.url));

/** The user's own environment, with a state folder and an identity of the test's. */
function environmentIn(home: string): NodeJS.ProcessEnv {
  const tools = STACKS.flatMap(({ tools: some = [] }) => some.map((spec) => join(TOOLS, spec, "node_modules/.bin")));
  return {
    ...process.env,
    PATH: [...tools, process.env["PATH"]].join(":"),
    XDG_STATE_HOME: join(home, "state"),
    GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
    REMAND_REPORTER: "default",
  };
}

/** Why a stack cannot be tried here; `null` where it can. */
function problemWith({ needs, tools = [] }: Stack, env: NodeJS.ProcessEnv): string | null {
  for (const spec of tools) {
    const folder = join(TOOLS, spec);
    if (existsSync(join(folder, "node_modules/.bin"))) continue;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const ended = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--silent", spec], {
      cwd: folder,
      encoding: "utf8",
    });
    if (ended.status !== 0) return `npm install ${spec} failed`;
  }
  const missing = needs.filter((program) => spawnSync("sh", ["-c", `command -v ${program}`], { env }).status !== 0);
  return missing.length === 0 ? null : `${missing.join(", ")} is not installed`;
}

interface Project {
  readonly root: string;
  run(command: string): { readonly exit: number | null; readonly out: string };
  write(files: Readonly<Record<string, string>>): void;
}

function makeProject(home: string, env: NodeJS.ProcessEnv): Project {
  const root = join(home, "project");
  mkdirSync(root);
  writeFileSync(
    join(home, "gitconfig"),
    '[user]\n\tname = Ada\n\temail = ada@example.org\n[protocol "file"]\n\tallow = always\n',
  );
  return {
    root,
    run(command) {
      const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: root, env, encoding: "utf8" });
      return { exit: status, out: stdout + stderr };
    },
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
    },
  };
}

function inHome(work: (home: string) => void): void {
  const home = mkdtempSync(join(tmpdir(), "remand-stack-"));
  try {
    work(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

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

const CONFIG = (check: string, more = ""): string =>
  `version: 1\npreset: goal\n${more}gates: { checks: { commands: [${JSON.stringify(check)}], reruns: 0 } }\n`;

function expectStack(stack: Stack, home: string, skip: TestContext["skip"]): void {
  const env = environmentIn(home);
  const problem = problemWith(stack, env);
  if (problem !== null) skip(problem);
  const project = makeProject(home, env);
  project.write({ ...stack.files, "remand.yaml": CONFIG(stack.check, stack.config) });
  expect(project.run("git init -q && git add . && git commit -qm start").exit).toBe(0);
  const installed = project.run(stack.install ?? "true");
  const isOffline = /Could not (?:resolve|transfer|find)|could not be resolved|offline mode|No cached version/i;
  if (installed.exit !== 0 && isOffline.test(installed.out)) skip(`its packages cannot be fetched: ${stack.install}`);
  expect(installed.exit, installed.out).toBe(0);
  project.run("git add . && git commit -qm installed");
  expectVerified(project, stack.broken, stack.names);
}

function expectVerified(project: Project, broken: Readonly<Record<string, string>>, names: string): void {
  const gate = (): ReturnType<Project["run"]> => project.run(`${process.execPath} ${MAIN} gate checks`);
  const good = gate();
  expect(good.exit, good.out).toBe(0);
  expect(good.out).not.toContain("not verified");
  project.write(broken);
  const bad = gate();
  expect(bad.exit, bad.out).toBe(3);
  expect(bad.out).toContain(names);
}
