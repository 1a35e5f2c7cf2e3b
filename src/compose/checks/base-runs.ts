import { dirname, join } from "node:path";
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import { knownDurationMs } from "../../config/duration.ts";
import type { EvidenceId, TreeId } from "../../core/events/ids.ts";
import type { Baseline, Gate } from "../../ports/gate.ts";
import type { BaseFaultStore } from "../../gates/pinned/pinned-run.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { COOKIE_VARIABLE } from "../../adapters/process/leftovers.ts";
import { processUniqueName } from "../../adapters/git/repository.ts";
import { checkVariablesOf, type WithheldOptions, compareWithWithheld } from "./check-variables.ts";
import { normalizeCommand } from "../../config/normalize-command.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

interface BaseOptions extends Pick<WithheldOptions, "checksWith"> {
  readonly config: Config;
  readonly env: EnvVariables;
  /** Remand's own folder; `null`: work starts whatever the base shows. */
  readonly state: string | null;
}

/**
 * Adds to the checks what must be known about the base before any work: whether they can start, and whether withheld
 * variables make a difference.
 */
export function checksAtBase(checks: Gate, { config, env, state, checksWith }: BaseOptions): Gate {
  if (state === null) return withoutBaseTrouble(checks);
  const deciding = compareWithWithheld(checks, {
    withheld: Object.keys(checkVariablesOf(env, config).withheld).toSorted(),
    commands: config.gates.checks.commands.map((each) => normalizeCommand(each).run),
    noteFile: join(state, "withheld-variables"),
    checksWith,
  });
  return withBaseRuns(deciding, checksKey(config, env));
}

function withoutBaseTrouble(gate: Gate): Gate {
  if (gate.baseline === undefined) return gate;
  const baseline: Gate["baseline"] = async (request, control) => {
    const { unusable: _1, needsVariables: _2, ...seen } = await gate.baseline!(request, control);
    return seen;
  };
  return { ...gate, baseline };
}

/** What a run of the checks depends on besides the files. */
export function checksKey(config: Config, env: EnvVariables): string {
  const { [COOKIE_VARIABLE]: _cookie, ...variables } = checkVariablesOf(env, config).seen;
  const named = Object.keys(variables)
    .toSorted()
    .map((name) => [name, variables[name]]);
  return sha256(JSON.stringify([config.gates.checks, config.environments, named]));
}

/** How long the first attempt waits for the checks of the base. */
export const baseWaitMs = ({ gates }: Config): number => knownDurationMs(gates.checks.baseWait ?? "60s");

/**
 * Runs of the checks on a tree that this process's preflight started, until the engine takes them over. They may not
 * have finished.
 */
const seen = new Map<string, Promise<Baseline>>();

export function keepBaseRun(checks: string, tree: TreeId, baseline: Promise<Baseline>): void {
  const key = `${checks}\n${tree}`;
  seen.set(key, baseline);
  // A run that ended in an error shows nothing; the preflight reports the error.
  baseline.catch(() => seen.delete(key));
}

/**
 * Lets the engine take over the base run of a preflight of the same tree, with the same checks in the same environment.
 * A run is taken over only once: a second request needs the current state.
 */
function withBaseRuns(gate: Gate, checks: string): Gate {
  if (gate.baseline === undefined) return gate;
  return {
    ...gate,
    async baseline(request, control) {
      const key = `${checks}\n${request.tree}`;
      const known = seen.get(key);
      seen.delete(key);
      return known === undefined ? gate.baseline!(request, control) : known;
    },
  };
}

/** What a run of the checks on the base depends on. */
export interface BaseRunKey {
  readonly tree: string;
  /** The commands, environments and variables. */
  readonly checks: string;
  /** The folder of the installed packages, which is named after its content. */
  readonly packages: string;
}

/** Runs of the base from earlier processes, in the user's state folder. */
export interface KeptBaseRuns {
  find(key: BaseRunKey): Promise<Baseline | null>;
  keep(key: BaseRunKey, baseline: Baseline): Promise<void>;
}

/**
 * Stores only green runs, for one day: a base may be red for a reason outside of its files, such as a database that was
 * not started.
 */
export function createKeptBaseRuns(
  userState: string,
  readEvidence: (id: EvidenceId) => Promise<string | null>,
): KeptBaseRuns {
  const folder = join(userState, "base-runs");
  const fileOf = ({ tree, checks, packages }: BaseRunKey): string =>
    join(folder, `${sha256([tree, checks, packages, process.version].join("\n"))}.json`);
  return {
    async find(key) {
      const file = fileOf(key);
      const at = (await stat(file).catch(() => null))?.mtimeMs;
      if (at === undefined || Date.now() - at > A_DAY) return null;
      const kept = jsonIn(await readFile(file, "utf8")) as Baseline | null;
      if (kept === null) return null;
      const tests = kept.run?.tests;
      // The names of its tests are evidence of the project. If that evidence was removed, the run is useless.
      return tests !== undefined && (await readEvidence(tests)) === null ? null : kept;
    },
    async keep(key, baseline) {
      if (baseline.isGreen !== true || baseline.flaky.length > 0 || baseline.needsVariables !== undefined) return;
      await keepFile(fileOf(key), baseline);
    },
  };
}

/** Stores which planted faults the tests of a base notice, next to the base runs, and for as long. */
export function createKeptBaseFaults(userState: string, checks: string): BaseFaultStore {
  const folder = join(userState, "base-runs");
  const fileOf = (base: string, tests: string): string =>
    join(folder, `${sha256(["faults", base, tests, checks, process.version].join("\n"))}.json`);
  return {
    async find(base, tests) {
      const file = fileOf(base, tests);
      const at = (await stat(file).catch(() => null))?.mtimeMs;
      return at === undefined || Date.now() - at > A_DAY ? null : jsonIn(await readFile(file, "utf8"));
    },
    keep: (base, tests, found) => keepFile(fileOf(base, tests), found),
  };
}

async function keepFile(file: string, value: unknown): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = join(folder, `${processUniqueName()}.tmp`);
  await writeFile(aside, JSON.stringify(value));
  await rename(aside, file);
  await removeOld(folder);
}

/** `null` for a file that a crash left half written: then the checks run again. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const A_DAY = 24 * 60 * 60 * 1000;

async function removeOld(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const at = (await stat(join(folder, name)).catch(() => null))?.mtimeMs;
    if (at !== undefined && Date.now() - at > A_DAY) await rm(join(folder, name), { force: true });
  }
}
