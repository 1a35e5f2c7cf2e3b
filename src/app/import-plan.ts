import { join, relative } from "node:path";
import { RemandError } from "../core/events/error.ts";
import { readMarkdownFile } from "../parse/data/front-matter.ts";
import { readJson } from "../parse/data/data-text.ts";
import { readStoryFile } from "../parse/stories/story-file.ts";
import { STORY_FOLDERS } from "../core/stories/story.ts";
import { isRecord } from "../stdx/assert.ts";
import { editFrontMatter, type FrontMatterEdits } from "../write/edits/front-matter-edit.ts";
import { type TextPhase, productIn, replaceProduct } from "../write/edits/story-sections.ts";
import type { Checkout } from "./command.ts";

/** What an import would write. The files of the other tool are never changed. */
export interface ImportPlan {
  readonly stories: readonly ImportedStory[];
  /** The text of remand.yaml. */
  readonly config: string;
  /** Settings and files that are not imported, each with the reason. */
  readonly left: readonly string[];
}

export interface ImportedStory {
  readonly path: string;
  readonly from: string;
  readonly text: string;
  /** Differences from the file that the story comes from; empty: the same bytes. */
  readonly changes: readonly string[];
}

const CONFIG = ".ai-sdlc.json";

/**
 * S4.29: plans the import of the stories in `.ai-sdlc` (each in a folder of its own, or in one named after its status)
 * and of its settings.
 */
export async function planAiSdlcImport(world: Checkout, checks: readonly string[]): Promise<ImportPlan> {
  const settings = await readSettings(world);
  const folder = typeof settings["sdlcFolder"] === "string" ? settings["sdlcFolder"] : ".ai-sdlc";
  const found = await findStories(world, join(world.cwd, folder));
  if (found === null)
    throw new RemandError("usage", `there is no folder ${folder} here`, "Run it in the project that ai-sdlc works in.");
  const left: string[] = [];
  const stories = new Map<string, ImportedStory>();
  for (const one of found) {
    const story = await importedStory(world, one, left);
    if (story === null) continue;
    const earlier = stories.get(story.path.toLowerCase());
    if (earlier === undefined) stories.set(story.path.toLowerCase(), story);
    else left.push(`${story.from}: ${earlier.from} has the same id`);
  }
  return { stories: [...stories.values()], config: configText(settings, checks, left), left };
}

async function readSettings({ files, cwd }: Checkout): Promise<Readonly<Record<string, unknown>>> {
  const text = await files.read(join(cwd, CONFIG));
  if (text === null) return {};
  const data = readJson(text);
  if (data.ok && isRecord(data.value)) return data.value;
  throw new RemandError("config-invalid", `${CONFIG} is not a JSON object`, "Correct it, then import again.");
}

interface FoundStory {
  readonly path: string;
  /** The story's own folder, with what other phases wrote; `null` where there is none. */
  readonly own: string | null;
  /** The status, from the name of the folder that the story is in. */
  readonly status: string;
}

/** Finds the stories below `root`; `null` where there is no such folder. */
async function findStories({ files }: Checkout, root: string): Promise<FoundStory[] | null> {
  const top = await files.look(root);
  if (top.type !== "folder") return null;
  const found: FoundStory[] = [];
  for (const status of top.entries.filter((name) => name === "stories" || isStatus(name))) {
    const folder = join(root, status);
    const inside = await files.look(folder);
    if (inside.type !== "folder") continue;
    for (const name of inside.entries) {
      const path = join(folder, name);
      if (name.endsWith(".md")) found.push({ path, own: null, status });
      else if ((await files.read(join(path, "story.md"))) !== null)
        found.push({ path: join(path, "story.md"), own: path, status });
    }
  }
  return found;
}

/** ai-sdlc also has the status `blocked`. */
const isStatus = (name: string): boolean => name === "blocked" || STORY_FOLDERS.some((known) => known === name);

async function importedStory(
  { files, cwd }: Checkout,
  { path, own, status }: FoundStory,
  left: string[],
): Promise<ImportedStory | null> {
  const from = relative(cwd, path).replaceAll("\\", "/");
  const original = (await files.read(path)) ?? "";
  const { fields } = readMarkdownFile(from, original);
  if (fields === null) {
    left.push(`${from}: its front matter cannot be read`);
    return null;
  }
  const changes: string[] = [];
  const edits = editsFor(fields, own, status, changes);
  let text = Object.keys(edits).length === 0 ? original : editFrontMatter(original, edits);
  const { story, problems } = readStoryFile(from, text);
  if (story === null) {
    left.push(`${from}: ${problems[0]?.message ?? "it has no id"}`);
    return null;
  }
  for (const [phase, name] of PRODUCTS) {
    const product = own === null ? null : await files.read(join(own, name));
    if (product === null || !story.completed.includes(phase) || productIn(text, phase, true) !== null) continue;
    text = replaceProduct(text, phase, product, true);
    changes.push(`${name} is its section for ${phase}`);
  }
  return { path: `stories/${story.id}.md`, from, text, changes };
}

const PRODUCTS: readonly (readonly [TextPhase, string])[] = [
  ["research", "research.md"],
  ["plan", "plan.md"],
];

function editsFor(
  fields: Readonly<Record<string, unknown>>,
  own: string | null,
  folder: string,
  changes: string[],
): FrontMatterEdits {
  const edits: Record<string, string | number> = {};
  const status = fields["status"] ?? (folder === "stories" ? undefined : folder);
  if (status === "blocked") changes.push("blocked is backlog here: a person makes it ready");
  if (status === "blocked" || (fields["status"] === undefined && typeof status === "string"))
    edits["status"] = status === "blocked" ? "backlog" : status;
  if (fields["id"] === undefined && own !== null)
    edits["id"] = own.slice(own.replaceAll("\\", "/").lastIndexOf("/") + 1);
  const retries = fields["max_retries"];
  if (typeof retries === "number" && fields["max_refinement_attempts"] === undefined) {
    edits["max_refinement_attempts"] = Math.min(9, Math.max(0, Math.floor(retries)));
    changes.push(`max_retries is max_refinement_attempts: ${edits["max_refinement_attempts"]}`);
  }
  return edits;
}

function configText(settings: Readonly<Record<string, unknown>>, checks: readonly string[], left: string[]): string {
  const taken = new Set<string>(["sdlcFolder"]);
  const take = <T extends "string" | "number" | "boolean">(path: string, type: T): Scalars[T] | null => {
    const value = path.split(".").reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), settings);
    if (typeof value !== type) return null;
    taken.add(path);
    return value as Scalars[T];
  };
  const reworks = take("refinement.maxIterations", "number") ?? take("reviewConfig.maxRetries", "number") ?? 3;
  const failures = Math.min(10, Math.max(1, Math.floor(reworks) + 1));
  const actions = take("maxActions", "number");
  const timeout = take("timeouts.agentTimeout", "number");
  const own = [take("buildCommand", "string"), take("testCommand", "string")].filter((command) => command !== null);
  const commands = own.length === 0 ? checks : own;
  const ending = take("refinement.escalateOnMaxAttempts", "string");
  const hasBreaker = take("refinement.enableCircuitBreaker", "boolean");
  left.push(
    ...leavesOf(settings)
      .filter((path) => !taken.has(path))
      .map((path) => `${CONFIG} ${path}: ${whyLeft(path)}`),
  );
  const onExhausted = ["manual", "error", "skip"].find((each) => each === ending);
  return `# yaml-language-server: $schema=./node_modules/remand/schema/config.json
# From ${CONFIG}, by remand import ai-sdlc.
version: 1
preset: story
agents:
  developer: { use: claude }
  # Reviews for security, as product owner, and of the code; each of the three can have a role of its own.
  critic: { use: claude }
gates:
  checks:
    commands: ${JSON.stringify(commands)}
limits:
  # ${reworks} reworks, then a person is asked.
  failures: ${failures}
  perLocation: ${failures}
${
  actions === null
    ? ""
    : `  run: { actions: ${Math.max(1, Math.floor(actions))} }
`
}${timeout === null ? "" : `  timeout: { developer: ${Math.max(1, Math.round(timeout / 1000))}s }\n`}${onExhausted === undefined ? "" : `onExhausted: ${onExhausted}\n`}${hasBreaker === null ? "" : `enableCircuitBreaker: ${hasBreaker}\n`}`;
}

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

/** The paths of the single settings, joined with dots. */
function leavesOf(value: Readonly<Record<string, unknown>>, above = ""): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    isRecord(inner) ? leavesOf(inner, `${above}${key}.`) : [`${above}${key}`],
  );
}

function whyLeft(path: string): string {
  const [first = ""] = path.split(".");
  return WHY_LEFT[first] ?? "Remand has no such setting";
}

const WHY_LEFT: Readonly<Record<string, string>> = {
  worktree: "each story has a worktree in .remand",
  merge: "the work ends in a pull request, which your forge merges; or set deliver: merge",
  stageGates: "a person is asked before each rework with autonomy: conservative",
  timeouts: "checks have a timeout of their own: gates.checks.commands: [{ run: …, timeout: 5m }]",
};
