import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { createChecksGate } from "../../../src/gates/checks/checks-gate.ts";
import { createExperimentRunner } from "../../../src/adapters/git/experiment-runner.ts";
import { createWorktrees } from "../../../src/adapters/git/worktree/worktrees.ts";
import { createCommandTrial } from "../../../src/gates/checks/command-trial.ts";
import { outputOfLog } from "../../../src/core/gates/check-output.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { type TreeId, evidenceId, storyId, treeId } from "../../../src/core/events/ids.ts";
import type { Evidence } from "../../../src/ports/evidence.ts";
import type { ExperimentCheckout, Trial } from "../../../src/ports/experiment-runner.ts";
import type { Workspace } from "../../../src/ports/workspace.ts";
import { sha256 } from "../../../src/stdx/sha256.ts";
import { Unusable } from "../../bench-result.ts";
import { requestFor } from "./story.ts";
import { NO_SANDBOX } from "../../../src/adapters/process/launch.ts";

export type Texts = ReadonlyMap<string, string | null>;

/** The result of the full check on a tree. */
export interface SuiteRun {
  readonly passed: boolean;
  /** Whether it ran to its end and rejected the work. */
  readonly failed: boolean;
  readonly output: string;
  readonly judgement: Judgement;
  /** The stored log that the judgement names. */
  readonly log: string | null;
}

/** A clone of a given repository, with a checkout in which any tree can be tried. The original is only read. */
export interface Workshop {
  readonly name: string;
  readonly command: string;
  readonly clone: string;
  readonly bench: ExperimentCheckout;
  readonly trial: Trial;
  readonly work: Workspace;
  readonly evidence: Evidence;
  git(...args: string[]): string;
  /** A tree runs only once, unless `afresh` is set. */
  suite(tree: string, options?: { readonly afresh?: boolean; readonly trouble?: Trouble }): Promise<SuiteRun>;
  /** Runs an action while the environment is broken. */
  under<T>(trouble: Trouble | undefined, action: () => Promise<T>): Promise<T>;
  treeWith(tree: string, texts: Texts): Promise<TreeId>;
  text(tree: string, path: string): string | null;
  paths(tree: string): readonly string[];
  diff(base: string, tree: string): Promise<string>;
  close(): Promise<void>;
}

/** How the environment is broken while a case is tried: another command, a missing package, a port that is taken. */
export interface Trouble {
  readonly command?: string;
  /** A folder below the checkout that is hidden. */
  readonly hidden?: string;
  readonly port?: number;
}

const SUITE_TIMEOUT_MS = 15 * 60_000;
const SIGNAL = new AbortController().signal;

/** `kept`: a folder for a clone that outlives this run, so that its cases can be repeated. */
export async function openWorkshop(path: string, command: string, kept: string | null = null): Promise<Workshop> {
  const top = topOf(path);
  if (kept !== null) mkdirSync(kept, { recursive: true });
  const place = realpathSync(kept ?? mkdtempSync(join(tmpdir(), "remand-blame-")));
  const clone = join(place, "clone");
  if (!existsSync(clone)) run(place, ["clone", "--quiet", "--local", top, clone]);
  const root = join(clone, relative(top, realpathSync(path)));
  const state = join(place, "state");
  // Nothing is installed: the clone gets links to the original's packages.
  const bench = await createExperimentRunner({ root, userState: state, setup: "true", share: null }).open({
    signal: SIGNAL,
  });
  const env = surroundings(bench.path);
  lend(top, run(bench.path, ["rev-parse", "--show-toplevel"]).trim());
  const evidence = memoryEvidence();
  const gateFor = (line: string) =>
    createChecksGate({
      commands: [{ name: "test", run: line, timeoutMs: SUITE_TIMEOUT_MS }],
      environments: {},
      evidence,
      clock: { now: () => Date.now(), sleep: () => Promise.resolve() },
      env,
    });
  const under = <T>(trouble: Trouble | undefined, action: () => Promise<T>): Promise<T> =>
    inTrouble(bench.path, trouble ?? {}, action);
  const work = createWorktrees({ root, state });
  const git = (...args: string[]): string => run(clone, args);
  return {
    name: basename(top),
    command,
    clone,
    bench,
    trial: createCommandTrial(env, NO_SANDBOX),
    work,
    evidence,
    git,
    suite: suiteRunner({ bench, evidence, gateFor: (trouble) => gateFor(trouble?.command ?? command), under }),
    under,
    treeWith: async (tree, texts) => bench.set(tree, texts),
    text: (tree, file) => textAt(clone, tree, file),
    paths: (tree) =>
      git("ls-tree", "-r", "-z", "--name-only", tree)
        .split("\0")
        .filter((each) => each !== ""),
    diff: (base, tree) => work.diff(storyId("bench"), base, tree),
    async close() {
      await bench.close();
      if (kept === null) rmSync(place, { recursive: true, force: true });
    },
  };
}

/** Runs the full check on a tree, as the gate does. */
function suiteRunner({
  bench,
  evidence,
  gateFor,
  under,
}: Pick<Workshop, "bench" | "evidence" | "under"> & {
  gateFor(trouble: Trouble | undefined): ReturnType<typeof createChecksGate>;
}): Workshop["suite"] {
  const known = new Map<string, SuiteRun>();
  return async (tree, options = {}) => {
    const { afresh = false, trouble } = options;
    const before = afresh || trouble !== undefined ? undefined : known.get(tree);
    if (before !== undefined) return before;
    await bench.set(tree, new Map());
    const request = requestFor(bench.path, treeId(tree), SUITE_TIMEOUT_MS);
    const gate = gateFor(trouble);
    const control = { signal: SIGNAL, onOutput: () => undefined };
    const judgement = await under(trouble, () => gate.run(request, control));
    const log = judgement.evidence[0] === undefined ? null : await evidence.read(judgement.evidence[0]);
    const output = log === null ? judgement.summary : outputOfLog(log);
    const { result } = judgement;
    const ran = { passed: result === "pass", failed: result === "fail", output, judgement, log };
    if (trouble === undefined) known.set(tree, ran);
    return ran;
  };
}

async function inTrouble<T>(path: string, { hidden, port }: Trouble, action: () => Promise<T>): Promise<T> {
  const aside = hidden === undefined ? null : { from: join(path, hidden), to: join(path, `${hidden}.hidden`) };
  const server = port === undefined ? null : createServer().listen(port, "127.0.0.1");
  if (server !== null) await once(server, "listening");
  if (aside !== null) renameSync(aside.from, aside.to);
  try {
    return await action();
  } finally {
    if (aside !== null) renameSync(aside.to, aside.from);
    server?.close();
  }
}

function topOf(path: string): string {
  if (!existsSync(path)) throw new Unusable(`there is no folder ${path}`);
  const { status, stdout } = spawnSync("git", ["rev-parse", "--show-toplevel"], { cwd: path, encoding: "utf8" });
  if (status !== 0) throw new Unusable(`${path} is no git repository; name one by --repo`);
  return realpathSync(stdout.trim());
}

function run(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", ["-c", "core.quotePath=false", ...args], {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 29,
    env: { ...process.env, LC_ALL: "C", GIT_CONFIG_NOSYSTEM: "1" },
  });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout;
}

function textAt(clone: string, tree: string, file: string): string | null {
  const { status, stdout } = spawnSync("git", ["cat-file", "blob", `${tree}:${file}`], {
    cwd: clone,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  return status !== 0 || stdout.includes("\0") || stdout.includes("\uFFFD") ? null : stdout;
}

/** The environment of test runs, without the variables that npm set for this one. */
function surroundings(path: string): Record<string, string> {
  const shown = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|INIT_CWD$|NODE_ENV$|VITEST|JEST|FORCE_COLOR$|NODE_TEST_CONTEXT$|GIT_)/.test(name),
  );
  const known = Object.fromEntries(shown.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  // Trees change within a second, but Python compares whole seconds to decide whether compiled code is fresh.
  const isPython = ["pyproject.toml", "setup.py", "setup.cfg"].some((file) => existsSync(join(path, file)));
  // A Python project that is installed as a link would lead to the original's files, which have no slip.
  const sources = isPython ? [join(path, "src"), path].filter((folder) => existsSync(folder)) : [];
  const all = [...sources, ...(known["PYTHONPATH"] ? [known["PYTHONPATH"]] : [])].join(delimiter);
  return { ...known, PYTHONDONTWRITEBYTECODE: "1", ...(all === "" ? {} : { PYTHONPATH: all }) };
}

const DEPENDENCIES = /^(?:node_modules|\.venv|venv|vendor|bower_components|\.pnp\.[a-z]+|\.yarn)$/;

/** Links the original's installed packages, wherever they are: folders are real, their entries are links. */
function lend(top: string, to: string): void {
  const ignored = run(top, ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]).split(
    "\0",
  );
  for (const each of ignored) {
    const folder = each.replace(/\/$/, "");
    const parts = folder.split("/");
    if (!DEPENDENCIES.test(parts.at(-1)!) || parts.slice(0, -1).some((part) => DEPENDENCIES.test(part))) continue;
    linkInto(join(top, folder), join(to, folder));
  }
}

function linkInto(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  if (existsSync(to)) return;
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (/^\.(?:cache|vite|vitest|tmp)/.test(entry.name)) continue;
    if (entry.name.startsWith("@") && entry.isDirectory()) linkInto(source, target);
    // A package of the repository itself links to the clone's own files, as in the original.
    else if (entry.isSymbolicLink() && !readlinkSync(source).startsWith("/")) symlinkSync(localLink(source), target);
    else symlinkSync(source, target);
  }
}

function localLink(source: string): string {
  const way = readlinkSync(source);
  return /(?:^|\/)node_modules(?:\/|$)|^\.[^.]|^\w/.test(way) ? source : way;
}

function memoryEvidence(): Evidence {
  const texts = new Map<string, string>();
  return {
    keep(text) {
      const id = evidenceId(sha256(text));
      texts.set(id, text);
      return Promise.resolve(id);
    },
    read: (id) => Promise.resolve(texts.get(id) ?? null),
    placeOf: (id) => `.remand/evidence/${id.slice(0, 12)}.log`,
  };
}
