import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, type TestContext } from "vitest";
import { STACKS, type Stack } from "./stacks.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const TOOLS = fileURLToPath(new URL("../../node_modules/.cache/remand-stacks", import.meta.url));

/** The user's own environment, with a state folder and an identity of the test's. */
export function environmentIn(home: string): NodeJS.ProcessEnv {
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

export function makeProject(home: string, env: NodeJS.ProcessEnv): Project {
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

export function inHome(work: (home: string) => void): void {
  const home = mkdtempSync(join(tmpdir(), "remand-stack-"));
  try {
    work(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

export const CONFIG = (check: string, more = ""): string =>
  `version: 1\npreset: goal\n${more}gates: { checks: { commands: [${JSON.stringify(check)}], reruns: 0 } }\n`;

export function expectStack(stack: Stack, home: string, skip: TestContext["skip"]): void {
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

export function expectVerified(project: Project, broken: Readonly<Record<string, string>>, names: string): void {
  const gate = (): ReturnType<Project["run"]> => project.run(`${process.execPath} ${MAIN} gate checks`);
  const good = gate();
  expect(good.exit, good.out).toBe(0);
  expect(good.out).not.toContain("not verified");
  project.write(broken);
  const bad = gate();
  expect(bad.exit, bad.out).toBe(3);
  expect(bad.out).toContain(names);
}
