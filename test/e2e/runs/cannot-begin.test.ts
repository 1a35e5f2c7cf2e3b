import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { createHost } from "../../../src/compose/host.ts";
import { resolveConfig } from "../../../src/config/resolve.ts";
import type { RemandError } from "../../../src/core/events/error.ts";
import { run, type Stored } from "../../../src/index.ts";
import { makeProject, type Project } from "../critic-audit-project.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

let project: Project;
let empty: TestRepository;
let plain: string;
beforeEach(() => {
  project = makeProject();
  empty = makeRepository({});
  plain = mkdtempSync(join(tmpdir(), "remand-plain-"));
});
afterEach(() => {
  project.clear();
  empty.clear();
  rmSync(plain, { recursive: true });
});

const CONFIG = {
  version: 1,
  preset: "goal",
  agents: { developer: { use: "command", command: "echo 1 > one.txt" } },
  gates: { checks: { commands: ["true"] } },
} as const;

/** A run in that folder: how it is refused, or ends, and the types of what was written down. */
async function tried(root: string): Promise<{ code: unknown; wrote: string[] }> {
  const wrote: string[] = [];
  mkdirSync(join(root, "stories"), { recursive: true });
  writeFileSync(join(root, "stories/one.md"), "---\ntitle: One\n---\n\nOne.\n");
  const onLines = (lines: readonly Stored[]): void => void wrote.push(...lines.map(({ event }) => event.type));
  const code = await run({ root, env: project.repository.env, config: CONFIG, onLines }).then(
    ({ exitCode }) => exitCode,
    (error: unknown) => (error as RemandError).code,
  );
  return { code, wrote };
}

test("without a commit, or outside of a repository, a run says so at once, and no story is asked about", async () => {
  expect(await tried(empty.root)).toEqual({ code: "no-commits", wrote: [] });
  expect(await tried(plain)).toEqual({ code: "not-a-repository", wrote: [] });
  empty.git("commit", "--quiet", "--allow-empty", "-m", "first");
  expect((await tried(empty.root)).code).toBe(0);
});

test("without a commit there is no change that could be blamed, and that is said in words", async () => {
  const { config } = resolveConfig({ layers: [] });
  const asked = createHost(project.repository.env).blame(empty.root, {
    config: config!,
    output: null,
    command: "false",
    prove: true,
    at: null,
    base: null,
    limits: { runs: 5, timeMs: 10_000 },
    signal: new AbortController().signal,
    onRun: () => expect.unreachable("nothing is run"),
    onNotice: () => undefined,
  });
  await expect(asked).rejects.toMatchObject({ code: "no-commits" });
});

test("without a command to judge by nobody is set to work", async () => {
  project.story("one");
  const scripts = { developer: [{ edit: { "src/one.js": "1\n" }, say: "READY_FOR_REVIEW: one\n" }] };
  const without = ["gates.checks.commands=[]", "phases.implement=[integrity, checks]"];
  await expect(project.run(scripts, { set: without })).rejects.toMatchObject({
    code: "config-invalid",
    message: "the checks gate has no command",
  });
  expect(project.asked).toEqual([]);
  expect(
    (await project.run(scripts, { set: ["gates.checks.commands=[]", "phases.implement=[integrity]"] })).exitCode,
  ).toBe(0);
});

test("a branch of the story's name that a person made is asked about, and is left as it is", () => {
  const repository = makeRepository(
    {
      "check.sh": "test -e one.txt\n",
      "remand.yaml": `version: 1\npreset: goal\nagents: { developer: { use: command, command: echo 1 > one.txt } }\ngates: { checks: { commands: [sh check.sh] } }\n`,
      "stories/one.md": '---\ntitle: One\ntarget: "*"\n---\n\nOne.\n',
    },
    "off",
  );
  onTestFinished(() => repository.clear());
  const remand = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], { cwd: repository.root, env: repository.env, encoding: "utf8" });
  repository.git("checkout", "--quiet", "-b", "remand/one");
  repository.git("commit", "--quiet", "--allow-empty", "-m", "my own idea");
  repository.git("checkout", "--quiet", "main");
  const before = repository.git("rev-parse", "remand/one");

  expect(remand("run", "--reporter", "default").status).toBe(4);
  expect(remand("inbox").stdout).toMatch(
    /branch remand\/one that Remand did not make \(\w+ my own idea\)[^]*git branch -m remand\/one one-before/,
  );
  expect(repository.git("rev-parse", "remand/one")).toBe(before);

  repository.git("branch", "-m", "remand/one", "one-before");
  repository.git("config", "user.name", "Ada Lovelace");
  expect(remand("answer", "one", "resolve")).toMatchObject({
    stderr: "",
    stdout: expect.stringContaining("Ada Lovelace says resolve"),
  });
  expect(remand("run", "--reporter", "default").status).toBe(0);
  expect(repository.git("show", "remand/one:one.txt")).toBe("1\n");
});
