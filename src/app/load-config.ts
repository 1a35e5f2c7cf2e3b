import { isAbsolute, join, relative, resolve } from "node:path";
import { readFile } from "node:fs/promises";
import { type ConfigLayer, type Tree, isMap, setLayer } from "../config/layer.ts";
import { type ResolvedConfig, resolveConfig } from "../config/resolve.ts";
import { type Problem, RemandError, sortByLocation } from "../core/events/error.ts";
import { readYaml } from "../parse/data/yaml-text.ts";
import type { Config } from "../config/config.ts";
import { type StoriesReading, type StorySource, readStoryFiles } from "../parse/stories/story-files.ts";
import type { Checkout } from "./command.ts";

export interface ConfigOptions {
  /** The project's config file, if not `remand.yaml`. */
  readonly config?: string | undefined;
  /** The project's config as a value, instead of a file. */
  readonly value?: object | undefined;
  /** `path=value`, as typed. */
  readonly set?: readonly string[] | undefined;
}

/** Loads the config for the current folder: flags, the project's file, the user's own file. */
export async function loadConfig(world: Checkout, options: ConfigOptions): Promise<ResolvedConfig> {
  const layers: ConfigLayer[] = [];
  const problems: Problem[] = [];
  const take = (read: { readonly layer: ConfigLayer; readonly problems: readonly Problem[] } | null): void => {
    if (read === null) return;
    layers.push(read.layer);
    problems.push(...read.problems);
  };
  const { REMAND_SANDBOX: sandbox = "" } = world.env;
  const set = [...(sandbox === "" ? [] : [`sandbox=${sandbox}`]), ...(options.set ?? [])];
  if (set.length > 0) take(setLayer(set));
  take(options.value === undefined ? await projectLayer(world, options.config) : valueLayer(options.value));
  const own = userFile(world.env);
  if (own !== null) take(await fileLayer(world, own, "user"));
  const resolved = resolveConfig({ layers });
  const all = sortByLocation([...problems, ...resolved.problems]);
  if (!all.some((problem) => problem.severity === "error")) return { ...resolved, problems: all };
  return { config: null, policy: null, origins: new Map(), problems: all };
}

/**
 * The user's own file as a layer, which applies to every project on this machine; for commands that read nothing else
 * of it.
 */
export async function machineLayer(world: Checkout): Promise<ConfigLayer | null> {
  const own = userFile(world.env);
  const read = own === null ? null : await fileLayer(world, own, "user");
  const isUsable = read !== null && !read.problems.some(({ severity }) => severity === "error");
  const { env, sandbox } = (isUsable ? (read.layer.value ?? {}) : {}) as {
    readonly env?: Tree;
    readonly sandbox?: Tree;
  };
  const { REMAND_SANDBOX: mode = "" } = world.env;
  const decided = mode === "" ? sandbox : isMap(sandbox) ? { ...sandbox, mode } : mode;
  if (env === undefined && decided === undefined) return null;
  const place = { file: "REMAND_SANDBOX", line: 1, column: 1 };
  const { layer } = read ?? { layer: { name: "user", keyPlace: () => place, valuePlace: () => place } as const };
  const value = { ...(env === undefined ? {} : { env }), ...(decided === undefined ? {} : { sandbox: decided }) };
  return { ...layer, value };
}

async function projectLayer(world: Checkout, file: string | undefined) {
  if (file === undefined) return fileLayer(world, join(world.cwd, "remand.yaml"), "project");
  const layer = await fileLayer(world, resolve(world.cwd, file), "project");
  if (layer !== null) return layer;
  throw new RemandError("usage", `there is no file ${file}`, "Give --config a file that exists.");
}

function valueLayer(value: object) {
  const place = { file: "the config that was handed in", line: 1, column: 1 };
  const layer: ConfigLayer = {
    name: "project",
    value: value as ConfigLayer["value"],
    keyPlace: () => place,
    valuePlace: () => place,
  };
  return { layer, problems: [] };
}

async function fileLayer(world: Checkout, path: string, name: ConfigLayer["name"]) {
  const bytes = await world.files.read(path);
  if (bytes === null) return null;
  const text = bytes.startsWith("\uFEFF") ? bytes.slice(1) : bytes;
  const yaml = readYaml(shownPath(world, path), text);
  const layer: ConfigLayer = {
    name,
    value: yaml.value,
    keyPlace: yaml.keyPlace,
    valuePlace: yaml.valuePlace,
  };
  return { layer, problems: yaml.problems };
}

export function userFile(env: Checkout["env"]): string | null {
  const base = env["XDG_CONFIG_HOME"];
  // The XDG standard says to ignore a relative path here.
  if (base !== undefined && isAbsolute(base)) return join(base, "remand", "config.yaml");
  const home = env["HOME"] ?? env["USERPROFILE"];
  return home === undefined || home === "" ? null : join(home, ".config", "remand", "config.yaml");
}

/** Shows a path relative to the current folder if it is below it. */
export function shownPath(world: Checkout, path: string): string {
  const below = relative(world.cwd, path);
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : below.replaceAll("\\", "/");
}

/**
 * The folder of the project's stories. If the config is broken, a changed setting cannot be read, so the default
 * applies.
 */
export function storiesFolder(world: Checkout, config: Config | null): string {
  return resolve(world.cwd, config?.stories ?? "stories");
}

export async function loadStories(world: Checkout, folder: string): Promise<StoriesReading> {
  const files: StorySource[] = [];
  const links = new Set(await world.files.listLinks(folder, ".md"));
  for (const path of links) files.push({ path: shownPath(world, path), text: null });
  for (const path of await world.files.list(folder, ".md")) {
    if (links.has(path)) continue;
    const text = await world.files.read(path);
    // The file was deleted after the folder was listed.
    if (text !== null) files.push({ path: shownPath(world, path), text });
  }
  const reading = readStoryFiles(files);
  const isElsewhere = files.length === 0 && (await world.files.look(join(world.cwd, ".ai-sdlc"))).type === "folder";
  return isElsewhere ? { ...reading, problems: [...reading.problems, OF_AI_SDLC] } : reading;
}

/** S4.29: a project of ai-sdlc has its stories in other folders; "zero stories" would not tell the user that. */
const OF_AI_SDLC: Problem = {
  file: ".ai-sdlc",
  line: 1,
  column: 1,
  severity: "warning",
  message: "the stories of ai-sdlc are in folders that are not read",
  hint: "Copy them to stories/ with their settings: remand import ai-sdlc --dry-run",
};

/** Where an editor finds the JSON Schema of remand.yaml, in any kind of project and without a network. */
export const SCHEMA_PATH = "./.remand/config.schema.json";

/**
 * Writes this version's schema to that path. git ignores the folder, so a fresh clone gets the schema with its first
 * run.
 */
export async function writeConfigSchema({ cwd, files }: Checkout): Promise<void> {
  const text = await readFile(new URL("../../schema/config.json", import.meta.url), "utf8");
  const [file, ignores] = [join(cwd, SCHEMA_PATH), join(cwd, ".remand", ".gitignore")];
  if ((await files.read(file)) === text) return;
  if ((await files.look(ignores)).type === "absent") await files.write(ignores, "*\n");
  await files.write(file, text);
}
