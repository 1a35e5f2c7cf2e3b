import { readFileSync } from "node:fs";
import { join, dirname } from "node:path";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import {
  allowedEnvironment,
  checkVariables,
  type CheckVariables,
  type Environment,
} from "../../adapters/process/environment.ts";
import { COOKIE_VARIABLE } from "../../adapters/process/leftovers.ts";
import { runProcess } from "../../adapters/process/run-process.ts";
import { secretValues } from "../../parse/secrets/secret-literals.ts";
import { withNote } from "../../gates/pinned/pinned-run.ts";
import type { Baseline, Gate } from "../../ports/gate.ts";
import { sha256 } from "../../stdx/sha256.ts";
import type { WorkStarter } from "../../adapters/git/dependencies/work-start.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** The variables that the checks of a project see, and those that are withheld from them. */
export const checkVariablesOf = (env: EnvVariables, { env: named }: Pick<Config, "env">): CheckVariables =>
  checkVariables(env, [...named, COOKIE_VARIABLE]);

/**
 * The variables for `workspace.setup`: those of the checks, and the logins of package registries. `workspace.env` names
 * these, or `${NAME}` in the registry settings of the user or of the user's own checkout.
 */
export function setupVariablesOf(
  root: string,
  env: EnvVariables,
  config: Pick<Config, "env" | "workspace">,
): Environment {
  return checkVariables(env, setupNames(root, env, config)).seen;
}

function setupNames(root: string, env: EnvVariables, { env: named, workspace }: Pick<Config, "env" | "workspace">) {
  return [...named, ...(workspace.env ?? []), ...registryNames(root, env), "npm_config_*"];
}

/** The values that must not be stored: variables that are passed although their names or values look like secrets. */
export function passedSecrets(
  root: string,
  env: EnvVariables,
  config: Pick<Config, "env" | "workspace">,
): readonly string[] {
  const usual = allowedEnvironment(env);
  const named = checkVariables(env, setupNames(root, env, config)).seen;
  const { seen: unnamed } = checkVariables(env);
  const passed = Object.entries(named).filter(([name]) => !Object.hasOwn(unnamed, name) && !Object.hasOwn(usual, name));
  return secretValues(Object.fromEntries(passed));
}

/** Names of variables that the settings of npm, pnpm, yarn and bun use for logins. */
function registryNames(root: string, env: EnvVariables): readonly string[] {
  const home = env["HOME"] ?? env["USERPROFILE"];
  const files = [
    ...["npmrc", "yarnrc.yml"].flatMap((name) => [root, home].map((folder) => folder && join(folder, `.${name}`))),
    join(root, "bunfig.toml"),
    env["npm_config_userconfig"],
    env["NPM_CONFIG_USERCONFIG"],
  ];
  return files.flatMap((file) => (file === undefined || file === "" ? [] : variablesIn(textOf(file))));
}

/** Matches `${NAME}`, `${NAME-default}`, `${NAME?}`, and bun's `$NAME`. */
function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\{([A-Za-z_]\w*)[^}]*\}|\$([A-Za-z_]\w*)/g)].map(([, braced, bare]) => (braced ?? bare)!);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // A missing or unreadable file names no variable; npm itself reports what is wrong with it.
    return "";
  }
}

export interface WithheldOptions {
  /** Names of the variables that are withheld from the checks. */
  readonly withheld: readonly string[];
  readonly commands: readonly string[];
  /** Where variables that made no difference are recorded, so that they are tried once. */
  readonly noteFile: string;
  /** The same checks with these variables. */
  checksWith(names: readonly string[]): Gate;
}

/**
 * Runs a red base once more with the withheld variables, to see whether they make a difference. A green base, or one
 * with nothing withheld, is not run twice. Variables that made no difference are tried again only when the commands or
 * names change, or on another tree whose files name one of them.
 */
export function compareWithWithheld(checks: Gate, options: WithheldOptions): Gate {
  const { withheld, commands, noteFile, checksWith } = options;
  if (withheld.length === 0 || checks.baseline === undefined) return checks;
  return {
    ...checks,
    async baseline(request, control) {
      const without = await checks.baseline!(request, control);
      if (without.isGreen === true || without.failing.length === 0 || control.signal.aborted) return without;
      const named = await namedIn(request.path, withheld);
      const note = sha256(JSON.stringify([commands, withheld, named.length === 0 ? "" : request.tree]));
      if ((await notesIn(noteFile)).includes(note)) return without;
      const all = await checksWith(withheld).baseline!(request, control);
      if (control.signal.aborted) return without;
      if (!isBetter(all, without)) {
        await addNote(noteFile, note);
        return without;
      }
      const again = await checks.baseline!(request, control);
      if (control.signal.aborted || !isBetter(all, again)) return asFlaky(without, again);
      const isPart = named.length > 0 && named.length < withheld.length;
      const enough = isPart && isBetter(await checksWith(named).baseline!(request, control), without);
      return { ...without, needsVariables: enough ? named : withheld };
    },
  };
}

/** Compares two runs of one base that differ by chance: tests that failed in only one of them are flaky. */
function asFlaky(one: Baseline, other: Baseline): Baseline {
  const isInBoth = (name: string): boolean => one.failing.includes(name) && other.failing.includes(name);
  const failed = new Set([...one.failing, ...other.failing]);
  const failing = [...failed].filter(isInBoth);
  const flaky = new Set([...one.flaky, ...other.flaky, ...[...failed].filter((name) => !isInBoth(name))]);
  const least = one.failing.length < other.failing.length ? one : other;
  return { ...least, failing, flaky: [...flaky].filter((name) => !failing.includes(name)) };
}

const isBetter = ({ failing }: Baseline, before: Baseline): boolean =>
  failing.length < before.failing.length && failing.every((name) => before.failing.includes(name));

/** The names that occur in a file of the project. */
export async function namedIn(path: string, names: readonly string[]): Promise<readonly string[]> {
  const patterns = names.flatMap((name) => ["-e", name]);
  const ended = await runProcess({
    command: ["git", "grep", "-ohwF", ...patterns],
    cwd: path,
    env: allowedEnvironment(process.env),
    timeoutMs: 60_000,
    sandbox: null,
  });
  const found = new Set(ended.stdout.split("\n"));
  return names.filter((name) => found.has(name));
}

const MOST_NOTES = 100;

async function notesIn(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

async function addNote(file: string, note: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, [...(await notesIn(file)), note].slice(-MOST_NOTES).join("\n"));
}

interface RealHomeOptions {
  readonly start: Pick<WorkStarter, "now" | "notes">;
  /** The same checks with the user's own HOME, and without a sandbox unless it is required. */
  readonly withRealHome: Gate;
  readonly commands: readonly string[];
  /** Whether there is a sandbox that these checks would leave. */
  readonly leavesSandbox: boolean;
}

/**
 * Compares a base that is red with its private HOME and sandbox to a run with the user's own HOME and without a
 * sandbox. If the second run is better, Remand caused the failure: then the checks keep running that way, and a notice
 * says so. The comparison is made once for the same commands and the same withheld secrets.
 */
export function compareWithRealHome(
  checks: Gate,
  { start, withRealHome, commands, leavesSandbox }: RealHomeOptions,
): Gate {
  if (checks.baseline === undefined) return checks;
  const { notes } = start;
  const chosen = async (): Promise<Gate> => ((await notes.isReal()) ? withRealHome : checks);
  return {
    ...checks,
    async run(request, control) {
      const gate = await chosen();
      const judged = await gate.run(request, control);
      const isLess = leavesSandbox && gate === withRealHome && judged.result === "pass";
      return isLess ? withNote(judged, "checked without the sandbox, in which the base fails") : judged;
    },
    ...(checks.prepare === undefined
      ? {}
      : { prepare: async (request, control) => (await chosen()).prepare!(request, control) }),
    async baseline(request, control) {
      if (await notes.isReal()) return inRealHome(await withRealHome.baseline!(request, control));
      const own = await checks.baseline!(request, control);
      const { leftOut } = await start.now();
      if (own.isGreen === true || (leftOut.length === 0 && !leavesSandbox) || control.signal.aborted) return own;
      const note = sha256(JSON.stringify([commands, leftOut, ...(leavesSandbox ? ["sandbox"] : [])]));
      if (await notes.isSame(note)) return own;
      const real = await withRealHome.baseline!(request, control);
      if (control.signal.aborted) return own;
      if (!isBetterWithHome(real, own)) {
        await notes.add("same", note);
        return own;
      }
      // A flaky test must not switch the sandbox off, so the difference must show twice.
      const again = await checks.baseline!(request, control);
      if (control.signal.aborted || !isBetterWithHome(real, again)) return asFlaky(own, again);
      await notes.add("real", note);
      return inRealHome(real);
    },
  };
}

const inRealHome = (seen: Baseline): Baseline =>
  seen.summary === undefined ? seen : { ...seen, summary: `${seen.summary}; with your own HOME` };

/** Whether fewer tests fail and no others do, or tests ran or loaded that did not before. */
function isBetterWithHome(real: Baseline, own: Baseline): boolean {
  const count = ({ failing, unusable = [] }: Baseline): number => failing.length + unusable.length;
  if (count(real) < count(own) && real.failing.every((name) => own.failing.includes(name))) return true;
  const [ran, ranBefore] = [real.run?.ranTests ?? [], own.run?.ranTests ?? []];
  const [lost, lostBefore] = [real.run?.notLoaded ?? [], own.run?.notLoaded ?? []];
  return ran.length > ranBefore.length || (ran.length === ranBefore.length && lost.length < lostBefore.length);
}
