import { lstat, realpath, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { Files, StoryPages, StoryStore } from "../../ports/files.ts";
import { readStoryFile } from "../../parse/stories/story-file.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { isTextPhase, productIn } from "../../write/edits/story-sections.ts";
import { assert } from "../../stdx/assert.ts";
import { type StorySource, readStoryFiles } from "../../parse/stories/story-files.ts";
import { type EditValue, type FrontMatterEdits, editFrontMatter } from "../../write/edits/front-matter-edit.ts";

export interface StoryPagesOptions {
  /** The person's checkout. */
  readonly root: string;
  /** The folder of the stories, relative to the root, as in the config. */
  readonly folder: string;
  readonly files: Files;
}

/** Story files in worktrees. The person's own checkout tells which file is a story's; it is never written to. */
export function createStoryPages({ root, folder, files }: StoryPagesOptions): StoryPages {
  const below = relative(root, resolve(root, folder));
  if (below.split(sep)[0] === "..") return outside(resolve(root, folder));

  async function fileIn(checkout: string, story: StoryId): Promise<{ path: string; text: string } | null> {
    const links = new Set(await files.listLinks(join(checkout, below), ".md"));
    const all = (await files.list(join(checkout, below), ".md")).filter((path) => !links.has(path));
    // Most files are named after their story; look there first.
    for (const path of all.toSorted((a, b) => Number(isNamed(b, story)) - Number(isNamed(a, story)))) {
      const text = await files.read(path);
      if (text !== null && readStoryFile(path, text).story?.id === story)
        return { path: relative(checkout, path), text };
    }
    return null;
  }

  return {
    async find(story, place) {
      const own = await fileIn(root, story);
      // Use the path of the person's checkout if the branch has it; otherwise the file was moved after the branch
      // began.
      const isWhereItWas = own !== null && (await isThere(join(place, own.path)));
      const path = isWhereItWas ? own.path : ((await fileIn(place, story))?.path ?? own?.path);
      if (path === undefined) return null;
      // A folder may be a link inside the repository; git names the file by its real path.
      const folder = join(await realpath(place), dirname(path));
      const at = join((await isThere(folder)) ? await realpath(folder) : folder, basename(path));
      return { path: relative(await topOf(place), at).replaceAll(sep, "/"), original: own?.text ?? null };
    },
    async read(place, path) {
      const file = await within(place, path);
      // Do not follow a link, which an agent may have left there: its target is not the story's file.
      return (await isLink(file)) ? null : files.read(file);
    },
    async write(place, path, text) {
      const file = await within(place, path);
      if (await isLink(file)) await rm(file);
      await files.write(file, text);
    },
  };
}

const isNamed = (path: string, story: StoryId): boolean => basename(path) === `${story}.md`;

/** Rejects every call: story files outside of the checkout cannot be on a branch of this repository. */
function outside(folder: string): StoryPages {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new RemandError(
        "config-invalid",
        `the stories are in ${folder}, outside of the checkout: their phases have no place for what they write`,
        "Set `stories` to a folder of the checkout, or leave out the phases refine, research and plan.",
      ),
    );
  return { find: refuse, read: refuse, write: refuse, isOutside: true };
}

/** Returns the top of the worktree: the nearest folder with git's own entry in it. */
async function topOf(place: string): Promise<string> {
  const start = await realpath(place);
  for (let at = start; ; at = dirname(at)) {
    if (await isThere(join(at, ".git"))) return at;
    if (dirname(at) === at) return start;
  }
}

/** Returns the file's path. Throws if a folder on the path is a link or leads out of the worktree. */
async function within(place: string, path: string): Promise<string> {
  const top = await topOf(place);
  const file = resolve(top, path);
  if (!file.startsWith(top + sep)) throw leadsOut(path);
  for (let at = dirname(file); at !== top; at = dirname(at)) if (await isLink(at)) throw leadsOut(path);
  return file;
}

function leadsOut(path: string): RemandError {
  const hint = "Take the link away on the story's branch.";
  return new RemandError("workspace-broken", `${path} leads out of the story's place`, hint);
}

async function isLink(path: string): Promise<boolean> {
  return (await isThere(path)) && (await lstat(path)).isSymbolicLink();
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}

export interface PhaseProductOptions {
  readonly workspace: Pick<Workspace, "diff" | "fileAt">;
  readonly pages: Pick<StoryPages, "find">;
}

/**
 * Returns what a phase produced, for its reviewers: the section of the story's file, or the code since the story began.
 */
export function createPhaseProduct(options: PhaseProductOptions): (request: GateRequest) => Promise<string> {
  const { workspace, pages } = options;
  return async ({ story, phase, path, base, tree }) => {
    if (!isTextPhase(phase)) return workspace.diff(story.id, base, tree);
    const page = await pages.find(story.id, path);
    const text = page === null ? null : await workspace.fileAt(story.id, tree, page.path);
    return text === null ? "" : (productIn(text, phase, story.completed.includes(phase)) ?? "");
  };
}

export interface StoryStoreOptions {
  readonly folder: string;
  readonly files: Files;
}

/** Stories as markdown files in a folder. The files are people's: only certain keys of the front matter are written. */
export function createStoryStore({ folder, files }: StoryStoreOptions): StoryStore {
  /** The path of each story when the folder was last read; a person may have moved the file since. */
  const places = new Map<StoryId, string>();

  async function readAll(): Promise<StorySource[]> {
    const links = new Set(await files.listLinks(folder, ".md"));
    const found: { path: string; text: string }[] = [];
    for (const path of await files.list(folder, ".md")) {
      if (links.has(path)) continue;
      const text = await files.read(path);
      // The file was removed after the folder was listed.
      if (text !== null) found.push({ path, text });
    }
    places.clear();
    for (const { path, text } of found) {
      const id = readStoryFile(path, text).story?.id;
      // Of two files with the same id, the first one counts; reading reports the other as a problem.
      if (id !== undefined && !places.has(id)) places.set(id, path);
    }
    return [...[...links].map((path) => ({ path, text: null })), ...found];
  }

  async function fileOf(story: StoryId): Promise<{ path: string; text: string } | null> {
    const path = places.get(story);
    const text = path === undefined ? null : await files.read(path);
    if (path === undefined || text === null || readStoryFile(path, text).story?.id !== story) return null;
    return { path, text };
  }

  return {
    read: async () => readStoryFiles(await readAll()),
    async note(story, fields) {
      let file = await fileOf(story);
      if (file === null) {
        await readAll();
        file = await fileOf(story);
      }
      if (file === null)
        throw new RemandError(
          "file-missing",
          `the file of the story ${story} is not in ${folder}`,
          "Put it back, or take the story out of the run.",
        );
      const text = editFrontMatter(file.text, editsOf(fields));
      if (text !== file.text) await files.write(file.path, text);
    },
  };
}

function editsOf(fields: Readonly<Record<string, unknown>>): FrontMatterEdits {
  for (const [key, value] of Object.entries(fields)) {
    assert(value === undefined || isEditValue(value), `a value that front matter can hold: ${key}`);
  }
  return fields as FrontMatterEdits;
}

function isEditValue(value: unknown): value is EditValue {
  return isScalar(value) || (Array.isArray(value) && value.every((item) => isScalar(item) || isFlatMap(item)));
}

function isFlatMap(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => item === undefined || isScalar(item))
  );
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number";
}
