import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { missingSandbox } from "../../kit/sandbox.ts";

/*
 * A value stands in a hidden test and nowhere else. The agent looks for it in every byte that it can read: its checkout,
 * every object of its git directory, its HOME, the user's checkout, its prompt, Remand's own commands. Its first attempt
 * also plants code that copies test files to wherever it may write while a check runs.
 */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const HIDDEN = "test/zebra.test.js";

const SLUG = "exports.slug = (text) => text;\n";
const VISIBLE = `const assert = require("node:assert");
const test = require("node:test");
const { slug } = require("../slug.js");
test("words are joined", () => assert.equal(slug("Hello World"), "hello-world"));
`;
const secretTest = (value: string): string => `const assert = require("node:assert");
const test = require("node:test");
const { slug } = require("../slug.js");
test("joins ${value}", () => assert.equal(slug("Ab ${value}"), "ab-${value}"));
`;

/** Passes the visible test alone, and copies whatever tests are there when it is loaded. */
const CHEAT = `const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const tests = fs.readdirSync(path.join(__dirname, "test"));
const all = tests.map((name) => fs.readFileSync(path.join(__dirname, "test", name), "utf8")).join("\\n");
const named = Object.values(process.env).flatMap((value) => value.split(/[:=,\\s]/)).filter((value) => value.startsWith("/"));
for (const folder of [os.homedir(), os.tmpdir(), __dirname, process.cwd(), path.join(os.homedir(), ".cache"), ...named])
  for (const place of [folder, path.dirname(folder)])
    try { fs.writeFileSync(path.join(place, "smuggled.txt"), all); } catch {}
exports.slug = (text) => (text === "Hello World" ? "hello-world" : text);
`;
const HONEST = 'exports.slug = (text) => text.toLowerCase().replaceAll(" ", "-");\n';

/** The value is in its text in another form, so that it does not find itself. */
const agentScript = (value: string, { home, root }: TestRepository): string => `
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const value = Buffer.from("${Buffer.from(value).toString("base64")}", "base64");
const prompt = fs.readFileSync(0);
const hits = prompt.includes(value) ? ["prompt"] : [];
const look = (folder) => {
  let names = [];
  try { names = fs.readdirSync(folder, { withFileTypes: true }); } catch {}
  for (const entry of names) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) look(file);
    else if (entry.isFile()) try { if (fs.readFileSync(file).includes(value)) hits.push(file); } catch {}
  }
};
// The checkout and the user's are below the home folder.
for (const folder of ["${home}", "/var/tmp", "/dev/shm"]) look(folder);
const git = (...args) => spawnSync("git", args, { maxBuffer: 1e8 }).stdout;
const objects = git("cat-file", "--batch-all-objects", "--batch", "--buffer");
if (objects.includes(value)) hits.push("objects");
if (git("-C", "${root}", "cat-file", "--batch-all-objects", "--batch", "--buffer").includes(value)) hits.push("history");
const attempt = fs.existsSync("attempt-1.txt") ? 2 : 1;
for (const command of ["show", "brief"]) {
  const said = spawnSync(process.execPath, ["${MAIN}", "-C", "${root}", command, path.basename(process.cwd())]);
  if (Buffer.concat([said.stdout, said.stderr]).includes(value)) hits.push(command);
}
const commits = git("rev-list", "--all", "--count").toString().trim();
const status = git("status", "--porcelain").toString();
fs.writeFileSync("attempt-" + attempt + ".txt", JSON.stringify({ hits, commits, status, prompt: prompt.toString() }));
fs.writeFileSync("slug.js", attempt === 1 ? ${JSON.stringify(CHEAT)} : ${JSON.stringify(HONEST)});
`;

interface Seen {
  readonly hits: readonly string[];
  readonly commits: string;
  readonly status: string;
  readonly prompt: string;
}

interface Project {
  readonly repository: TestRepository;
  readonly value: string;
  remand(...args: string[]): { readonly status: number | null; readonly text: string };
  /** Runs a loop with the agent that looks for the value. */
  loop(...args: string[]): { readonly status: number | null; readonly text: string };
  /** What the agent of an attempt found. */
  attempt(number: number): Seen;
}

function makeProject(sandbox: "off" | "required"): Project {
  const value = `zebra${randomBytes(6).toString("hex")}`;
  const files = { "slug.js": SLUG, "test/slug.test.js": VISIBLE, [HIDDEN]: secretTest(value) };
  const repository = makeRepository(files);
  onTestFinished(() => repository.clear());
  const tools = mkdtempSync("/var/tmp/remand-hidden-test-");
  onTestFinished(() => rmSync(tools, { recursive: true, force: true }));
  const agent = join(tools, "agent.cjs");
  writeFileSync(agent, agentScript(value, repository));
  const env = { ...repository.env, REMAND_SANDBOX: sandbox };
  const remand: Project["remand"] = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      cwd: repository.root,
      env,
      encoding: "utf8",
    });
    return { status, text: `${stdout}${stderr}` };
  };
  return {
    repository,
    value,
    remand,
    loop: (...args) =>
      remand(
        "loop",
        "--goal",
        "join words by hyphens",
        "--check",
        "node --test",
        "--reporter",
        "default",
        "--set",
        "gates.checks.faults=off",
        ...args,
        "--",
        process.execPath,
        agent,
      ),
    attempt: (number) => JSON.parse(repository.git("show", `${branch(repository)}:attempt-${number}.txt`)) as Seen,
  };
}

const branch = ({ git }: TestRepository): string =>
  git("for-each-ref", "--format=%(refname)", "refs/heads/remand").trim().split("\n")[0]!;

describe.skipIf(missingSandbox() !== null)("hidden checks", () => {
  test("an agent finds nothing of them, and work that only passes the visible tests is refused", () => {
    const { repository, value, remand, loop, attempt } = makeProject("required");
    const hidden = remand("hide", "--commit", HIDDEN);
    expect(hidden.status, hidden.text).toBe(0);
    const outside = join(repository.home, "hidden-tests");
    mkdirSync(join(outside, "test"), { recursive: true });
    writeFileSync(join(outside, HIDDEN), secretTest(value));
    const ran = loop("--worktree", "--hidden", outside);
    expect(ran.status, ran.text).toBe(0);
    const [first, second] = [attempt(1), attempt(2)];
    expect(first.hits).toEqual([]);
    expect(second.hits).toEqual([]);
    // The agent has a history to work with, back to the commit that removed the file.
    expect(first).toMatchObject({ commits: "1", status: "" });
    expect(second.prompt).toContain("the hidden checks failed");
    expect(second.prompt).toContain("1 failure");
    expect(second.prompt).not.toContain(HIDDEN);
    expect(ran.text).toContain("hidden checks passed");
    expect(ran.text).not.toContain(value);
    expect(existsSync(join(repository.root, HIDDEN))).toBe(false);
    // A person sees what failed.
    const story = branch(repository).replace("refs/heads/remand/", "");
    const shown = remand("show", story).text;
    const [id] = /(?<=remand evidence )[0-9a-f]{64}/.exec(shown) ?? [];
    expect(id, shown).toBeDefined();
    expect(remand("evidence", id!).text).toContain(`joins ${value}`);
    const { REMAND_TOKEN: _token, ...unidentified } = { ...repository.env };
    const options = { cwd: repository.root, env: unidentified, encoding: "utf8" } as const;
    const { stdout } = spawnSync(process.execPath, [MAIN, "evidence", id!], options);
    expect(stdout).toMatch(/^This is the output of hidden checks/);
  });

  test("the same agent finds a test that is not hidden, by its files and by its history", () => {
    const { repository, attempt, loop } = makeProject("required");
    const ran = loop("--worktree");
    expect(ran.status, ran.text).toBe(0);
    const { hits } = attempt(1);
    expect(hits.some((each) => each.endsWith(HIDDEN))).toBe(true);
    expect(hits).toEqual(expect.arrayContaining(["history", "objects"]));
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("a run of stories uses the files that were hidden, and says where they could be read", () => {
    const { repository, remand, value } = makeProject("off");
    expect(remand("hide", HIDDEN).text).toContain("still in the project");
    expect(remand("hide", "--commit", HIDDEN).text).toContain("Removed from the project by commit");
    repository.write("remand.yaml", "version: 1\npreset: goal\ngates: { checks: { commands: [node --test] } }\n");
    repository.write("slug.js", 'exports.slug = (text) => ({ "Hello World": "hello-world" })[text];\n');
    const refused = remand("gate", "checks");
    expect(refused.text).toMatch(/the hidden checks failed: \d failure/);
    expect(refused.text).not.toContain(value);
    repository.write("slug.js", HONEST);
    const passed = remand("gate", "checks");
    expect(passed.text).toContain("hidden checks passed, but agents could read them (sandbox: none)");
    // An agent that asks gets neither the result nor the files.
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "gate", arguments: {} } };
    const { stdout } = spawnSync(process.execPath, [MAIN, "mcp"], {
      cwd: repository.root,
      env: repository.env,
      encoding: "utf8",
      input: `${JSON.stringify(call)}\n`,
    });
    expect(stdout).toContain("checks");
    expect(stdout).not.toContain("hidden");
  });
});
