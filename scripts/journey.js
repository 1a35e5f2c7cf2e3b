/**
 * Takes other projects through the first hour with Remand: `npm run build && node scripts/journey.js <clone…> [--json]
 * [--keep]`.
 *
 * Each clone is copied with its installed packages; nothing is written to the clone itself. A fault that its own tests
 * notice is committed. Then, at a terminal where every question is answered with Enter: init, doctor, a loop whose
 * agent first does something useless, then disables the failing tests, then fixes the code, the loop's undo, two
 * stories in worktrees, and their pull requests. The exit code is 1 if a step failed.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { plantFault, replacements, runCheck } from "./journey-faults.js";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const MOST_QUESTIONS = 3;
const STEP_MS = 20 * 60_000;

/**
 * @typedef {{ code: number, out: string, questions: number }} Ended
 * @typedef {{ project: string, step: string, ok: boolean, questions: number, seconds: number, detail: string }} Row
 */

class StepFailed extends Error {}

/** @param {string} home */
function environmentIn(home) {
  const { CI: _ci, ...env } = process.env;
  return { ...env, TERM: "xterm", XDG_STATE_HOME: join(home, "state"), XDG_CONFIG_HOME: join(home, "config") };
}

/**
 * Runs a shell command in a terminal of its own, and answers each question with Enter.
 * @param {string} line @param {string} cwd @param {NodeJS.ProcessEnv} env @returns {Promise<Ended>}
 */
function atTerminal(line, cwd, env) {
  return new Promise((done, fail) => {
    const child = spawn("script", ["-qefc", line, "/dev/null"], { cwd, env, timeout: STEP_MS });
    let out = "";
    let questions = 0;
    let answered = 0;
    const look = setInterval(() => {
      const last = out.slice(out.lastIndexOf("\n") + 1);
      if (out.length === answered || !/(?:\]|[a-z]): $|\? \[y\/N\] $/i.test(last)) return;
      answered = out.length;
      questions++;
      child.stdin.write("\n");
    }, 200);
    child.stdout.on("data", (data) => (out += String(data)));
    child.stderr.on("data", (data) => (out += String(data)));
    child.on("error", fail);
    child.on("close", (code) => {
      clearInterval(look);
      done({ code: code ?? 1, out: stripVTControlCharacters(out).replaceAll("\r", ""), questions });
    });
  });
}

/** @param {string[]} command @param {string} cwd */
function must(command, cwd) {
  const [program = "", ...args] = command;
  const ended = spawnSync(program, args, { cwd, encoding: "utf8", maxBuffer: 1 << 28 });
  if (ended.status !== 0) throw new StepFailed(`${command.join(" ")}: ${ended.stderr ?? ended.error}`);
  return ended.stdout.trim();
}

/** @param {string} clone @param {string} home */
function copyOf(clone, home) {
  const root = join(home, basename(clone));
  cpSync(clone, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const origin = join(home, "origin.git");
  must(["git", "init", "--quiet", "--bare", origin], home);
  spawnSync("git", ["remote", "remove", "origin"], { cwd: root });
  must(["git", "remote", "add", "origin", origin], root);
  must(["git", "config", "user.name", "Ada"], root);
  must(["git", "config", "user.email", "ada@example.org"], root);
  return root;
}

/** @param {Ended} ended @param {number} code */
function expectExit(ended, code) {
  if (ended.code !== code)
    throw new StepFailed(
      `exit code ${ended.code} instead of ${code}: ${ended.out.trim().split("\n").slice(-8).join(" | ")}`,
    );
}

/** The steps of one project. Each returns a short description of what it saw. */
class Journey {
  /** @type {string[]} */
  checks = [];
  /** @type {import("./journey-faults.js").Fault | null} */
  fault = null;

  /** @param {string} root @param {string} home */
  constructor(root, home) {
    this.root = root;
    this.home = home;
    this.env = environmentIn(home);
    this.script = join(home, "agent.json");
  }

  get steps() {
    return /** @type {const} */ ([
      ["init", () => this.init()],
      ["doctor", () => this.doctor()],
      ["fault", () => this.plant()],
      ["loop", () => this.loop()],
      ["undo", () => this.undo()],
      ["stories", () => this.stories()],
      ["pull requests", () => this.pullRequests()],
    ]);
  }

  /** @param {string} line */
  async remand(line) {
    const ended = await atTerminal(`"${process.execPath}" "${MAIN}" ${line}`, this.root, this.env);
    expectExit(ended, 0);
    return ended.questions;
  }

  /**
   * Expects the number of attempts that the scripted agent needs: no other failure may be charged. @param {string} id
   * @param {number} count
   */
  expectStory(id, count) {
    const { stdout } = spawnSync(process.execPath, [MAIN, "status", "--json"], {
      cwd: this.root,
      env: this.env,
      encoding: "utf8",
    });
    const row = JSON.parse(stdout).stories.find((/** @type {{ id: string }} */ each) => each.id.startsWith(id));
    if (row?.status !== "accepted" || row.attempts !== count)
      throw new StepFailed(`${id} is ${row?.status} after ${row?.attempts} attempts: accepted after ${count} is right`);
  }

  expectCleanCheckout() {
    const changed = must(["git", "status", "--porcelain", "--untracked-files=no"], this.root);
    if (changed !== "") throw new StepFailed(`files of the checkout are changed: ${changed}`);
  }

  async init() {
    const questions = await this.remand("init");
    const file = join(this.root, "remand.yaml");
    const config = readFileSync(file, "utf8");
    this.checks = [...config.matchAll(/^ {6}- (.+)$/gm)].map(([, line = ""]) =>
      line.startsWith('"') ? JSON.parse(line) : line,
    );
    if (this.checks.length === 0) throw new StepFailed("no check was found");
    // The configured agent costs nothing.
    const agent = `developer: { use: scripted, command: ${JSON.stringify(this.script)} }`;
    writeFileSync(
      file,
      config.replace(/developer: .*/, () => agent),
    );
    return { detail: this.checks.join("; "), questions };
  }

  async doctor() {
    return { questions: await this.remand("doctor"), detail: "all well" };
  }

  async plant() {
    const { root, env } = this;
    const [check = "", ...others] = this.checks;
    // A person takes out a linter that fails before anything changed.
    const red = others.filter((each) => !runCheck(root, each, env).isGreen);
    const file = join(root, "remand.yaml");
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.filter((line) => !red.some((each) => line === `      - ${each}`)).join("\n"));
    const before = runCheck(root, check, env);
    if (!before.isGreen) throw new StepFailed(`${check} fails before anything changed: ${before.output.slice(-500)}`);
    const planted = plantFault(root, check, env, 15_000 + 3 * before.durationMs);
    if (planted === null) throw new StepFailed("no fault was found that the tests notice");
    const { fault, cheat } = planted;
    this.fault = fault;
    must(["git", "commit", "--quiet", "--no-verify", "--message", "Plant a fault", "--", fault.path], root);
    must(["git", "push", "--quiet", "origin", "HEAD"], root);
    writeFileSync(this.script, JSON.stringify({ version: 1, parts: this.partsFor(fault, cheat) }));
    const alone = `with its tests disabled the check is ${cheat.isGreen ? "green" : "red"}`;
    const without = red.map((each) => `; \`${each}\` was red before and is left out`).join("");
    return { detail: `${fault.path}:${fault.line}; ${alone}${without}`, questions: 0 };
  }

  /** @param {import("./journey-faults.js").Fault} fault @param {import("./journey-faults.js").DisabledTests} cheat */
  partsFor({ path, right, wrong }, { files }) {
    const fix = replacements(path, wrong, right);
    const disabled = files.flatMap((each) => replacements(each.path, each.before, each.after));
    const enabled = files.flatMap((each) => replacements(each.path, each.after, each.before));
    const readme = must(["git", "ls-files", "README*", "readme*"], this.root).split("\n")[0] || "README.md";
    const idle = "\nThis changes nothing.\n";
    return [
      { match: { story: "fix-fault" }, attempts: [{ replace: fix, say: "Fixed." }] },
      { match: { story: "sample" }, attempts: [{ append: { [readme]: `\nRun the tests: ${this.checks[0]}\n` } }] },
      {
        attempts: [
          { append: { [readme]: idle }, say: "I looked into it." },
          { replace: disabled, say: "The tests pass now." },
          { replace: [...enabled, ...fix, { path: readme, from: idle, to: "" }], say: "Fixed." },
        ],
      },
    ];
  }

  async loop() {
    const check = JSON.stringify(this.checks[0]);
    const questions = await this.remand(`loop --goal "make the tests pass" --check ${check} --agent developer`);
    this.expectStory("loop", 3);
    if (readFileSync(join(this.root, this.fault?.path ?? ""), "utf8") !== this.fault?.right)
      throw new StepFailed("the fault is still there");
    return { detail: "useless work and disabled tests sent back, the fix accepted", questions };
  }

  async undo() {
    const questions = await this.remand("loop --undo");
    this.expectCleanCheckout();
    return { detail: "the files are as before", questions };
  }

  async stories() {
    const [sample, fix] = ["sample.md", "fix-fault.md"].map((name) => join(this.root, "stories", name));
    const text = readFileSync(sample ?? "", "utf8");
    writeFileSync(sample ?? "", text.replace("priority: 1", "priority: 1\ndepends_on: [fix-fault]"));
    writeFileSync(fix ?? "", '---\ntitle: Make the tests pass\ntarget: "*"\n---\n\nA fault makes tests fail.\n');
    const questions = await this.remand("run --set deliver=pull-request");
    this.expectStory("fix-fault", 1);
    this.expectStory("sample", 1);
    this.expectCleanCheckout();
    return { detail: "2 stories accepted, each at the first attempt", questions };
  }

  async pullRequests() {
    for (const id of ["fix-fault", "sample"]) {
      if (!existsSync(join(this.root, ".remand", "pull-requests", `${id}.md`)))
        throw new StepFailed(`no text for ${id}`);
      must(["git", "rev-parse", "--verify", "--quiet", `refs/heads/remand/${id}`], join(this.home, "origin.git"));
    }
    return { detail: "texts written, branches pushed to origin", questions: 0 };
  }
}

/** @param {string} clone @param {boolean} keep @param {(row: Row) => void} report @returns {Promise<Row[]>} */
async function travel(clone, keep, report) {
  const home = mkdtempSync(join(tmpdir(), "remand-journey-"));
  const project = basename(clone);
  /** @type {Row[]} */
  const rows = [];
  const add = (/** @type {Omit<Row, "project">} */ row) => {
    rows.push({ project, ...row });
    report({ project, ...row });
  };
  try {
    const root = copyOf(clone, home);
    for (const [step, play] of new Journey(root, home).steps) {
      const began = performance.now();
      const seconds = () => Math.round((performance.now() - began) / 100) / 10;
      try {
        const { detail, questions } = await play();
        const ok = questions <= MOST_QUESTIONS;
        add({ step, ok, questions, seconds: seconds(), detail: ok ? detail : `more than ${MOST_QUESTIONS} questions` });
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        add({ step, ok: false, questions: 0, seconds: seconds(), detail });
        break;
      }
    }
  } finally {
    if (keep) console.error(`kept: ${home}`);
    else rmSync(home, { recursive: true, force: true });
  }
  return rows;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, keep: { type: "boolean", default: false } },
});
if (positionals.length === 0 || !existsSync(MAIN) || spawnSync("script", ["--version"]).status !== 0) {
  console.error(
    "Usage: node scripts/journey.js <clone…> [--json] [--keep]; it needs `npm run build` and the program `script` of util-linux.",
  );
  process.exitCode = 2;
} else {
  const rows = [];
  for (const clone of positionals)
    rows.push(
      ...(await travel(resolve(clone), values.keep, ({ project, step, ok, questions, seconds, detail }) => {
        if (!values.json)
          console.log(
            `${ok ? "✔" : "✖"} ${project.padEnd(16)} ${step.padEnd(14)} ${questions} questions ${String(seconds).padStart(6)} s  ${detail}`,
          );
      })),
    );
  if (values.json) console.log(JSON.stringify({ schema: "remand.journey/1", steps: rows }, null, 2));
  process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
}
