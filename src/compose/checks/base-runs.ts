import { dirname, join } from "node:path";
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import { knownDurationMs } from "../../config/duration.ts";
import type { EvidenceId, TreeId } from "../../core/events/ids.ts";
import type { Baseline, Gate } from "../../ports/gate.ts";
import type { BaseFaultStore } from "../../gates/pinned/pinned-run.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { COOKIE_VARIABLE } from "../../adapters/process/leftovers.ts";
import { ownName } from "../../adapters/git/repository.ts";
import { checkVariablesOf, type DecidingOptions, withDecidingVariables } from "./check-variables.ts";
import { commandOf } from "./own-python.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

interface BaseOptions extends Pick<DecidingOptions, "checksWith"> {
  readonly config: Config;
  readonly env: EnvVariables;
  /** Remand's own folder; `null`: work is started whatever the base says. */
  readonly state: string | null;
}

/** The checks, with what is asked of the base before any work: can they start, and do withheld variables decide? */
export function checksAtBase(checks: Gate, { config, env, state, checksWith }: BaseOptions): Gate {
  if (state === null) return withoutBaseTrouble(checks);
  const deciding = withDecidingVariables(checks, {
    withheld: Object.keys(checkVariablesOf(env, config).withheld).toSorted(),
    commands: config.gates.checks.commands.map((each) => commandOf(each).run),
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

/** What the preflight of this process sees of a tree, until the engine asks for it. It may not have ended. */
const seen = new Map<string, Promise<Baseline>>();

export function keepBaseRun(checks: string, tree: TreeId, baseline: Promise<Baseline>): void {
  const key = `${checks}\n${tree}`;
  seen.set(key, baseline);
  // One that ended in an error says nothing; the preflight reports it.
  baseline.catch(() => seen.delete(key));
}

/**
 * The engine's look at the base is the preflight's where that was just made of the same tree, by the same checks in the
 * same environment. It is used once: a second look wants to know what is true now.
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
  /** Commands, environments and variables. */
  readonly checks: string;
  /** The folder of the installed packages; it is named after what they are. */
  readonly packages: string;
}

/** Runs of the base from earlier processes, in the user's state folder. */
export interface KeptBaseRuns {
  find(key: BaseRunKey): Promise<Baseline | null>;
  keep(key: BaseRunKey, baseline: Baseline): Promise<void>;
}

/**
 * Only a base that is green is kept, and for a day: one that is red may be red for a reason outside of the files, such
 * as a database that was not started.
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
      // The names of its tests are evidence of the project: where that was removed, the run is of no use.
      return tests !== undefined && (await readEvidence(tests)) === null ? null : kept;
    },
    async keep(key, baseline) {
      if (baseline.isGreen !== true || baseline.flaky.length > 0 || baseline.needsVariables !== undefined) return;
      await keepFile(fileOf(key), baseline);
    },
  };
}

/** What tests of a base notice of faults planted in it, beside the runs of the base, and for as long. */
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
  const aside = join(folder, `${ownName()}.tmp`);
  await writeFile(aside, JSON.stringify(value));
  await rename(aside, file);
  await removeOld(folder);
}

/** `null` for a file that a power cut left half written: the checks are run again. */
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
