import { join } from "node:path";
import { presetPolicy } from "../config/presets.ts";
import type { GateName } from "../core/gates/gate.ts";
import { isRecord } from "../stdx/assert.ts";
import type { Checkout } from "./command.ts";

/** A gate of the preset `factory`, with the commands that the project has for it. */
export interface FoundGate {
  readonly gate: GateName;
  /** The commands that were found; empty: the config leaves the gate out. */
  readonly commands: readonly string[];
  /** Lines for the config file, next to the commands or instead of the gate. */
  readonly notes: readonly string[];
}

/** The project's own commands: its package manager's, and those of the linters and type checkers that were found. */
export interface ProjectCommands {
  readonly manager: { readonly run: string; readonly exec: string; readonly add: string };
  readonly checks: readonly string[];
}

/**
 * Finds what the preset `factory` needs besides tests: a mutation tool, and the commands that CI runs. Guesses nothing.
 */
export async function findFactoryGates(checkout: Checkout, own: ProjectCommands): Promise<readonly FoundGate[]> {
  const manifest = manifestIn(await checkout.files.read(join(checkout.cwd, "package.json")));
  return [await findMutation(checkout, manifest, own), await findCi(checkout, manifest, own)];
}

/** The gates of the preset that can run here, in their order. */
export function factoryPhases(found: readonly FoundGate[]): readonly GateName[] {
  const missing = found.filter(({ commands }) => commands.length === 0).map(({ gate }) => gate);
  return presetPolicy("factory").phases.flatMap(({ gates }) => gates.filter((gate) => !missing.includes(gate)));
}

interface Manifest {
  readonly scripts: readonly string[];
  readonly packages: readonly string[];
}

/** A manifest that cannot be read counts as empty; npm itself reports what is wrong with it. */
function manifestIn(text: string | null): Manifest {
  const names = (value: unknown): string[] => (isRecord(value) ? Object.keys(value) : []);
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    if (!isRecord(value)) return { scripts: [], packages: [] };
    return {
      scripts: names(value["scripts"]),
      packages: [...names(value["devDependencies"]), ...names(value["dependencies"])],
    };
  } catch {
    return { scripts: [], packages: [] };
  }
}

async function findMutation(
  { cwd, files }: Checkout,
  { packages }: Manifest,
  { manager: { exec, add } }: ProjectCommands,
): Promise<FoundGate> {
  const stryker = `${exec} ${STRYKER}`;
  const configs = await Promise.all(
    STRYKER_CONFIGS.map(async (name) => (await files.look(join(cwd, name))).type === "file"),
  );
  if (packages.includes("@stryker-mutator/core") || configs.includes(true))
    return { gate: "mutation", commands: [stryker], notes: ["{files} becomes the files that the story changed."] };
  return {
    gate: "mutation",
    commands: [],
    notes: [
      "mutation is left out of phases: no mutation tool was found here. Any tool will do whose report is in the",
      "mutation-testing schema, as those of StrykerJS and Stryker.NET are. For JavaScript:",
      `  ${add} @stryker-mutator/core, then mutation: { commands: ["${stryker}"] }`,
    ],
  };
}

const STRYKER = "stryker run --mutate {files} --reporters json";
const STRYKER_CONFIGS = ["stryker.conf", "stryker.config", ".stryker.conf", ".stryker.config"].flatMap((name) =>
  ["json", "js", "mjs", "cjs"].map((ending) => `${name}.${ending}`),
);

async function findCi(checkout: Checkout, manifest: Manifest, own: ProjectCommands): Promise<FoundGate> {
  const commands = await ciCommands(checkout, manifest, own);
  const workflows = await checkout.files.look(join(checkout.cwd, ".github/workflows"));
  const github =
    workflows.type === "folder"
      ? ["For the runs of .github/workflows: forge: { use: github }, and no commands here."]
      : [];
  if (commands.length > 0)
    return {
      gate: "ci",
      commands,
      notes: ["What CI would run beside the tests; it must pass before the work begins.", ...github],
    };
  const why =
    "ci is left out of phases: nothing was found here that CI would run beside the tests. With such a command:";
  return { gate: "ci", commands: [], notes: [why, "  ci: { commands: [make lint] }", ...github] };
}

/** Linters, type checkers and builds that the project itself names. */
async function ciCommands(
  { cwd, files }: Checkout,
  { scripts }: Manifest,
  { manager, checks }: ProjectCommands,
): Promise<string[]> {
  const text = (name: string): Promise<string | null> => files.read(join(cwd, name));
  const makefile = (await text("Makefile")) ?? (await text("GNUmakefile")) ?? "";
  return [
    ...checks,
    ...(scripts.includes("build") ? [`${manager.run} build`] : []),
    ...((await text("go.mod")) === null ? [] : ["go vet ./...", "go build ./..."]),
    ...((await text("Cargo.toml")) === null ? [] : ["cargo build --all-targets"]),
    ...(/^lint\s*:(?!=)/m.test(makefile) ? ["make lint"] : []),
  ];
}
