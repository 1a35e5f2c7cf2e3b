import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MAIN = join(ROOT, "dist/main.js");

interface Step {
  readonly id: string;
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: string;
  readonly "working-directory": string;
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}
const action = parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as Action;

let home: string;
let project: string;
const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    cwd: project,
    encoding: "utf8",
  });
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
};

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "remand-action-"));
  project = join(home, "project");
  mkdirSync(project);
  git("init", "--quiet", "--initial-branch=main");
  write(".gitignore", "node_modules/\n");
  write("answer.txt", "42\n");
  write("remand.yaml", "version: 1\npreset: goal\ngates: { checks: { commands: ['grep -qx 42 answer.txt'] } }\n");
  git("add", "--all");
  git("commit", "--quiet", "--message=start");
  // A program of that name in the project is never run: the change under the gate may have brought it.
  mkdirSync(join(project, "node_modules/.bin"), { recursive: true });
  writeFileSync(join(project, "node_modules/.bin/remand"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs the action as GitHub does: expressions become values, outputs are lines of a file, a failed step is the last. */
function runAction(
  inputs: Readonly<Record<string, string>>,
  event: Readonly<Record<string, string>> = {},
  { actionPath = ROOT, path = process.env["PATH"] ?? "" } = {},
) {
  const values: Record<string, string> = { "github.action_path": actionPath };
  for (const [name, { default: usual }] of Object.entries(action.inputs))
    values[`inputs.${name}`] = inputs[name] ?? usual;
  for (const [name, value] of Object.entries(event)) values[`github.event.${name}`] = value;
  const filled = (text: string): string =>
    text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => values[name] ?? "");
  let output = "";
  let status = 0;
  for (const step of action.runs.steps) {
    if (status !== 0) break;
    const file = join(home, `output-${step.id}`);
    writeFileSync(file, "");
    const env = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, filled(value)]));
    const ran = spawnSync(step.shell, ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.run], {
      cwd: resolve(project, filled(step["working-directory"])),
      env: { PATH: path, HOME: home, RUNNER_TEMP: home, GITHUB_ACTIONS: "true", GITHUB_OUTPUT: file, ...env },
      encoding: "utf8",
    });
    status = ran.status ?? -1;
    output += ran.stdout + ran.stderr;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      const at = line.indexOf("=");
      if (at > 0) values[`steps.${step.id}.outputs.${line.slice(0, at)}`] = line.slice(at + 1);
    }
  }
  const outputs = Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value)]));
  return { status, output, outputs };
}

describe("the action", () => {
  test("is a composite one, whose scripts hold no expression: what a branch is called is never run", () => {
    expect(action.runs.using).toBe("composite");
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(["gates", "base", "format", "output"]));
    for (const { run, shell } of action.runs.steps) {
      expect(run).not.toContain("${{");
      expect(shell).toBe("bash");
    }
  });

  test("passes a good change, and writes a report", () => {
    const before = git("rev-parse", "HEAD").trim();
    write("more.txt", "more\n");
    git("add", "--all");
    git("commit", "--quiet", "--message=more");
    const ran = runAction({}, { before });
    expect(ran.output).toContain(`passed: 2 gates · the files as they are since ${before.slice(0, 12)}`);
    const report = join(home, "remand.sarif");
    expect(ran).toMatchObject({ status: 0, outputs: { passed: "true", report } });
    const sarif = JSON.parse(readFileSync(report, "utf8")) as { version: string };
    expect(sarif.version).toBe("2.1.0");
    expect(git("status", "--porcelain").trim()).toBe("");
  });

  test("builds the program of its own ref, where that was not built", () => {
    const actionPath = join(home, "action");
    const bin = join(home, "bin");
    for (const folder of [actionPath, bin]) mkdirSync(folder);
    const build = `#!/bin/sh\necho "npm $*" >> ${home}/asked\n[ "$1" = ci ] || { mkdir dist && ln -s ${ROOT}dist/main.js dist/main.js; }\n`;
    writeFileSync(join(bin, "npm"), build, { mode: 0o755 });
    const path = [bin, process.env["PATH"]].join(delimiter);
    const ran = runAction({ gates: "checks", base: "HEAD" }, {}, { actionPath, path });
    expect(ran, ran.output).toMatchObject({ status: 0 });
    expect(readFileSync(join(home, "asked"), "utf8")).toMatch(/^npm ci .*\nnpm run --silent build\n$/);
  });

  test("fails a bad one, with annotations", () => {
    write("answer.txt", "<<<<<<< ours\n41\n=======\n42\n>>>>>>> theirs\n");
    git("commit", "--quiet", "--all", "--message=worse");
    const inputs = { gates: "integrity checks", base: "HEAD~1", format: "junit", output: "remand.xml" };
    const ran = runAction(inputs);
    expect(ran).toMatchObject({ status: 3, outputs: { passed: "false", report: "remand.xml" } });
    expect(ran.output).toMatch(/^::error file=answer\.txt,line=1,title=remand%3A integrity::/m);
    expect(readFileSync(join(project, "remand.xml"), "utf8")).toContain("<testsuites");
  });

  test("takes no name for a command, and says what is wrong", () => {
    const ran = runAction({ gates: "$(touch pwned)", base: '"; touch pwned; "' });
    expect(ran.status).not.toBe(0);
    expect(existsSync(join(project, "pwned"))).toBe(false);
    expect(runAction({ gates: "chekcs" })).toMatchObject({
      status: 2,
      output: expect.stringContaining("Did you mean checks?"),
      outputs: { passed: "false", report: "" },
    });
  });

  test("hands on what may change, and whether it is strict", () => {
    const actionPath = join(home, "action");
    mkdirSync(join(actionPath, "dist"), { recursive: true });
    const echo =
      'console.log([...process.argv.slice(2), process.env.GITHUB_TOKEN].map((each) => `<${each}>`).join(""));';
    writeFileSync(join(actionPath, "dist/main.js"), `${echo}\nprocess.exit(4);\n`);
    const inputs = { gates: "checks", "tests-may-change": "test/** rounds*", strict: "true", "github-token": "ghs_1" };
    const ran = runAction(inputs, {}, { actionPath });
    expect(ran).toMatchObject({ status: 4, outputs: { passed: "false" } });
    expect(ran.output).toContain(
      "<gate><checks><--tests-may-change><test/**><--tests-may-change><rounds*><--strict><--format>",
    );
    expect(ran.output).toContain("/remand.sarif><ghs_1>");
    expect(runAction({}, {}, { actionPath }).output).toContain("<gate><--format>");
  });

  test("a branch that is new is compared with the default one, and a shallow clone fetches what it needs", () => {
    write("more.txt", "more\n");
    git("add", "--all");
    git("commit", "--quiet", "--message=more");
    const fresh = runAction({}, { before: "0".repeat(40) });
    expect(fresh, fresh.output).toMatchObject({ status: 0, output: expect.stringContaining("the commit before") });
    const base = git("rev-parse", "HEAD~1").trim();
    const source = project;
    git("config", "uploadpack.allowAnySHA1InWant", "true");
    project = join(home, "shallow");
    execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${source}`, project]);
    const ran = runAction({}, { "pull_request.base.sha": base });
    expect(ran, ran.output).toMatchObject({ status: 0, output: expect.stringContaining(`since ${base.slice(0, 12)}`) });
  });

  test("requires receipts where that is asked for, by the keys of the base", () => {
    const remand = (...args: string[]) => {
      const env = { PATH: process.env["PATH"] ?? "", HOME: home, REMAND_SANDBOX: "off" };
      return spawnSync(process.execPath, [MAIN, ...args], { cwd: project, env, encoding: "utf8" });
    };
    write("answer.txt", "41\n");
    write("remand.keys", remand("key", "show").stdout);
    git("add", "--all");
    git("commit", "--quiet", "--message=the key");
    const base = git("rev-parse", "HEAD").trim();
    const loop = ["loop", "--worktree", "--goal", "say 42", "--check", "grep -qx 42 answer.txt", "--"];
    const looped = remand(...loop, "sh", "-c", "echo 42 > answer.txt");
    expect(looped.status, looped.stderr).toBe(0);
    const [branch = ""] = git("for-each-ref", "--format=%(refname)", "refs/heads/remand").split("\n");
    git("checkout", "--quiet", "-B", "proposed", branch);
    const required = (receipts: string) => runAction({ base, receipts, gates: "checks" });
    expect(required("require")).toMatchObject({ status: 0, outputs: { passed: "true", verified: "true" } });
    git("commit", "--quiet", "--allow-empty", "--message=mine");
    expect(required("require").status).toBe(0);
    write("more.txt", "more\n");
    git("add", "more.txt");
    git("commit", "--quiet", "--message=more\n\nRemand-Story: other");
    const refused = required("require");
    expect(refused).toMatchObject({ status: 3, outputs: { passed: "true", verified: "false" } });
    expect(refused.output).toContain("No receipt holds for it");
    expect(required("require-all").status).toBe(3);
    expect(required("sometimes")).toMatchObject({ status: 2 });
    expect(runAction({ base, gates: "checks" })).toMatchObject({ status: 0, outputs: { verified: "" } });
  });
});
