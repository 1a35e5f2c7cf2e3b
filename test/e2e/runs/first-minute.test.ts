import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, onTestFinished, test } from "vitest";

/* The first minute on a new machine: an empty HOME, no git identity, no config, no terminal. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const FILES = {
  "package.json": '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  "add.js": "export const add = (a, b) => a - b;\n",
  "add.test.js": `import assert from "node:assert/strict";
import test from "node:test";
import { add } from "./add.js";
test("adds", () => assert.equal(add(1, 2), 3));
`,
};

let folder: string;
let root: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-first-minute-"));
  root = join(folder, "project");
  for (const each of ["home", "project"]) mkdirSync(join(folder, each));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function start(program: string, ...args: readonly string[]) {
  const env = { PATH: process.env["PATH"], HOME: join(folder, "home") };
  const { stdout, stderr, status } = spawnSync(program, args, { cwd: root, env, encoding: "utf8", input: "" });
  return { out: stdout + stderr, status };
}
const remand = (...args: readonly string[]) => start(process.execPath, MAIN, ...args);
const git = (...args: readonly string[]) => expect(start("git", ...args)).toMatchObject({ status: 0 });
const write = (name: string, text: string): void => writeFileSync(join(root, name), text);

test("without a repository each command says what is missing and what to do", () => {
  const missing = /(?<!fatal.*)is not in a git repository\n.*Run git init/;
  const [doctor, loop, run] = [remand("doctor"), remand("loop", "--check", "true", "--", "true"), remand("run")];
  expect(doctor).toMatchObject({ status: 1, out: expect.stringMatching(missing) });
  expect(run).toMatchObject({ status: 2, out: expect.stringMatching(missing) });
  expect(loop).toMatchObject({ status: 2, out: expect.stringMatching(missing) });
});

test("init, a loop and a run end with accepted work, and the run's branch is pushed to origin", () => {
  for (const [name, text] of Object.entries(FILES)) write(name, text);
  git("init", "--quiet", "--initial-branch=main");
  expect(remand("init", "--yes")).toMatchObject({ status: 0, out: expect.stringContaining("test   npm test") });
  expect(remand("run")).toMatchObject({ status: 2, out: expect.stringContaining("Make one first: git add --all") });
  git("add", "--all");
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "start");
  const looped = remand(
    "loop",
    "--check",
    "npm test",
    "--reporter",
    "default",
    "--",
    "sed",
    "-i",
    "s/ - / + /",
    "add.js",
  );
  expect(looped, looped.out).toMatchObject({ status: 0, out: expect.stringContaining("1 accepted") });
  expect(remand("loop", "--undo").status).toBe(0);

  git("init", "--quiet", "--bare", "../origin.git");
  git("remote", "add", "origin", "../origin.git");
  const story = '---\ntitle: Add two numbers\ntarget: "*"\n---\n\nThe test fails.\n';
  write("stories/sample.md", story);
  const script = { version: 1, parts: [{ attempts: [{ replace: [{ path: "add.js", from: "a - b", to: "a + b" }] }] }] };
  writeFileSync(join(folder, "agent.json"), JSON.stringify(script));
  const agent = `developer: { use: scripted, command: ${join(folder, "agent.json")} }`;
  write("remand.yaml", readFileSync(join(root, "remand.yaml"), "utf8").replace(/developer: .*/, agent));
  git("add", "--all");
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "plan");
  const ran = remand("run", "--reporter", "default", "--set", "deliver=pull-request");
  expect(ran, ran.out).toMatchObject({ status: 0, out: expect.stringContaining("1 accepted") });
  const pushed = start("git", "--git-dir", "../origin.git", "show", "remand/sample:add.js");
  expect(pushed).toEqual({ status: 0, out: FILES["add.js"].replace("-", "+") });
  expect(readFileSync(join(root, ".remand/pull-requests/sample.md"), "utf8")).toContain("The test fails.");
  expect(ran.out).toContain("--body-file");
});

test("demo --serve leaves one question open, opens the browser, and Ctrl-C ends it", async () => {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of ["xdg-open", "open"])
    writeFileSync(join(bin, name), `#!/bin/sh\necho "opened $1" >&2\necho "$1" > ${folder}/opened\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: join(folder, "home"), TMPDIR: folder };
  const demo = spawn(process.execPath, [MAIN, "demo", "--serve"], { cwd: root, env });
  let out = "";
  for (const stream of [demo.stdout, demo.stderr]) stream.on("data", (data) => (out += String(data)));
  await expect.poll(() => out, { timeout: 180_000 }).toContain("! spread-the-retries  needs you");
  const url = new URL(readFileSync(join(folder, "opened"), "utf8").trim());
  expect(out).toContain(url.href);
  const authorization = `Bearer ${url.hash.replace("#token=", "")}`;
  const now = await fetch(new URL("/api/now", url), { headers: { authorization } });
  expect(await now.text()).toContain("How far may a wait move?");
  demo.kill("SIGINT");
  expect(await once(demo, "exit")).toEqual([0, null]);
});
