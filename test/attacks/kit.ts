import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeRepository, write, type TestRepository } from "../kit/git-repository.ts";
import { installPackage } from "../runners/installed.ts";
import { missingSandbox } from "../kit/sandbox.ts";
import { checkWithout, type Experiment, optionsWithout } from "./without.ts";

/** Files by path; `null` takes one away. */
export type Files = Readonly<Record<string, string | null>>;

/** A project whose bug one test shows, and the command that people type to check it. */
export interface Stack {
  readonly name: string;
  readonly check: string;
  readonly files: Readonly<Record<string, string>>;
  /** The same project without the bug. */
  readonly fixed: Files;
  /** The test that shows the bug, as messages name it. */
  readonly test: string;
  /** Programs that must be on this machine. */
  readonly needs?: readonly string[];
  /** Packages of npm with the test runner, such as `jest@30`. */
  readonly modules?: string | readonly string[];
  /** What the user ran to set the project up. */
  readonly prepare?: string;
  /** Prints 42 in the finished work if the bug is out. No test knows these numbers. */
  readonly held: string;
}

/** What an agent does, and what must come of it. */
export interface Row {
  /** The class that the guide counts it in. */
  readonly kind: string;
  readonly does: string;
  readonly stack: Stack;
  /** Files of the project at the start that differ from the stack's. */
  readonly base?: Files;
  /** Files that the agent writes. */
  readonly files?: Files;
  /** What it runs after that, in the project's folder. */
  readonly shell?: string;
  /** Prints 42 if the work is right, where the stack's own command does not fit. */
  readonly held?: string;
  /** What it runs after it has tried the check. */
  readonly after?: string;
  readonly check?: string;
  /** More options of `remand loop`. */
  readonly options?: readonly string[];
  /** Words of the answer, where they are not the name of the stack's test. */
  readonly says?: string;
  /** Words of the accept line, where the work is accepted with a note. */
  readonly noted?: string;
  /** Why the right answer is not given yet. */
  readonly pending?: string;
  /** Played in a sandbox; without one it is not refused. */
  readonly needs?: "sandbox";
  /** The first attempt leaves the bug in without any trick; this is the second. */
  readonly isRework?: true;
}

export interface Outcome {
  readonly exit: number | null;
  /** All that was printed. */
  readonly out: string;
  /** What was printed after the agent was started. */
  readonly answer: string;
  /** How the check ended at the start, and in the agent's folder when the agent was done. */
  readonly before: number | null;
  readonly bare: number | null;
  readonly bareOutput: string;
  /** What the work that was kept gives for a value that no test asks for. */
  readonly held: string;
}

const MAIN = join(process.cwd(), "dist/main.js");

/** Why a row cannot be run on this machine; `null`: it can. */
export function missingFor({ stack: { needs = [], modules }, needs: isolation }: Row): string | null {
  if (isolation === "sandbox" && missingSandbox() !== null) return missingSandbox();
  const missing = needs.find((program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0);
  if (missing !== undefined) return `${missing} is not installed`;
  for (const spec of listOf(modules)) {
    const found = installPackage(spec);
    if ("problem" in found) return found.problem;
  }
  return null;
}

const listOf = (modules: Stack["modules"] = []): readonly string[] =>
  typeof modules === "string" ? [modules] : modules;

/** Runs `remand loop` with an agent that does what the row says, in a repository and a home folder made for it. */
export function playRow(row: Row, without: readonly Experiment[] = []): Outcome {
  const { stack } = row;
  const check = checkWithout(row.check ?? stack.check, without);
  const isolation = row.needs === "sandbox" ? { REMAND_SANDBOX: "required" } : {};
  const repository = makeRepository(present({ ...stack.files, ...row.base }), "off");
  const { home, root } = repository;
  try {
    linkModules(stack, root);
    const env = {
      ...repository.env,
      ...toolchains(),
      GIT_AUTHOR_NAME: "Ada",
      GIT_COMMITTER_NAME: "Ada",
      PROGRAM: MAIN,
      ...isolation,
    };
    write(home, ".gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n");
    const before = inClone(repository, check, env);
    writeAgent(home, row, check);
    const options = [
      "--max-iterations",
      row.isRework ? "2" : "1",
      "--reporter",
      "default",
      ...(row.options ?? []),
      ...optionsWithout(without),
    ];
    const args = ["loop", "--goal", "Fix the cart", "--check", check, ...options, "--", "sh", join(home, "agent.sh")];
    const ended = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, env, encoding: "utf8", timeout: 300_000 });
    const out = ended.stdout + ended.stderr;
    const bare = join(home, "bare");
    return {
      exit: ended.status,
      out,
      answer: out.slice(Math.max(0, out.indexOf(row.isRework ? "developer works, rework" : "developer works"))),
      before,
      bare: existsSync(bare) ? Number(readFileSync(bare, "utf8")) : null,
      bareOutput: existsSync(`${bare}.out`) ? readFileSync(`${bare}.out`, "utf8") : "",
      held: heldOut(repository, { ...stack, held: row.held ?? stack.held }, env),
    };
  } finally {
    writeFileSync(join(home, "over"), "");
    repository.clear();
  }
}

const present = (files: Files): Record<string, string> =>
  Object.fromEntries(Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== null));

/** A folder of its own with links: what a row adds or replaces there stays in it. */
function linkModules({ modules, prepare }: Stack, root: string): void {
  const folder = join(root, "node_modules");
  const link = (from: string, to: string): void => {
    if (!existsSync(to)) symlinkSync(from, to);
  };
  for (const spec of listOf(modules)) {
    const found = installPackage(spec);
    if ("problem" in found) throw new Error(found.problem);
    mkdirSync(join(folder, ".bin"), { recursive: true });
    for (const name of readdirSync(found.modules))
      if (!name.startsWith(".")) link(join(found.modules, name), join(folder, name));
    for (const name of readdirSync(join(found.modules, ".bin")))
      link(join(found.modules, ".bin", name), join(folder, ".bin", name));
  }
  if (prepare !== undefined) spawnSync("sh", ["-c", prepare], { cwd: root });
}

/** The work as it was kept, read by git without any setting of the agent, with the user's packages. */
function heldOut({ home, root, git }: TestRepository, stack: Stack, env: Readonly<Record<string, string>>): string {
  const clean = { ...env, HOME: join(home, "none"), GIT_CONFIG_GLOBAL: "/dev/null", GIT_NO_REPLACE_OBJECTS: "1" };
  const folder = join(home, "held");
  const refs = git("for-each-ref", "--format=%(refname)", "refs/remand/loop", "refs/heads/remand").split("\n");
  const last = refs.find((ref) => ref.endsWith("/last")) ?? refs.findLast((ref) => ref.startsWith("refs/heads/"));
  if (last === undefined) return "nothing was kept";
  const run = (command: string, ...args: string[]): string =>
    spawnSync(command, args, { cwd: folder, env: clean, encoding: "utf8", timeout: 60_000 }).stdout ?? "";
  mkdirSync(folder);
  run("git", "init", "--quiet");
  run("git", "fetch", "--quiet", root, `+${last}:refs/heads/work`);
  run("git", "checkout", "--quiet", "work");
  // What a link leads to outside of the work is not kept with it.
  run(
    "sh",
    "-c",
    `find . -type l | while read -r link; do case "$(realpath "$link")" in "$PWD"/*) ;; *) rm "$link" ;; esac; done`,
  );
  linkModules(stack, folder);
  return run("sh", "-c", stack.held).trim().split("\n").at(-1)!;
}

/** Where the toolchains are, which would look for themselves in the home folder; and one build cache for all rows. */
function toolchains(): Record<string, string> {
  const { RUSTUP_HOME = join(homedir(), ".rustup") } = process.env;
  return { RUSTUP_HOME, GOCACHE: join(tmpdir(), "remand-attacks-go") };
}

/** How the check ends at the start, in a copy, so that nothing of the run is left in the project. */
function inClone({ home, root }: TestRepository, check: string, env: Readonly<Record<string, string>>): number | null {
  const copy = join(home, "copy");
  spawnSync("cp", ["-a", root, copy]);
  const { status } = spawnSync("sh", ["-c", check], { cwd: copy, env });
  spawnSync("rm", ["-rf", copy]);
  return status;
}

/** The agent's last act is to run the check, as it would to see whether its trick works. */
function writeAgent(
  home: string,
  { files = {}, shell = "true", after = "true", isRework, stack }: Row,
  check: string,
): void {
  const lines = Object.entries(files).map(([path, text]) => {
    if (text === null) return `rm "${path}"`;
    write(home, `files/${path}`, text);
    return `mkdir -p "${dirname(path)}"; cp "$HOME/files/${path}" "${path}"`;
  });
  const own = `( ${check} ) > "$HOME/bare.out" 2>&1`;
  write(
    home,
    "agent.sh",
    [
      "set -e",
      ...(isRework ? honestTry(stack) : ["echo 'Adds again.' >> NOTES.md"]),
      ...lines,
      shell,
      "set +e",
      own,
      'echo $? > "$HOME/bare"',
      after,
      "exit 0",
      "",
    ].join("\n"),
  );
  chmodSync(join(home, "agent.sh"), 0o755);
}

/** The first attempt: the bug's file is touched, and the bug is still in. */
function honestTry({ fixed }: Stack): readonly string[] {
  const [path = "NOTES.md"] = Object.keys(fixed);
  return [`if [ ! -e "$HOME/tried" ]; then touch "$HOME/tried"; echo >> "${path}"; exit 0; fi`];
}
