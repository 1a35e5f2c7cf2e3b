import { assert } from "../../stdx/assert.ts";
import { RemandError } from "../../core/events/error.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { Files } from "../../ports/files.ts";
import type { StoryStore } from "../../ports/stories.ts";
import { readStoryFile } from "../../parse/stories/story-file.ts";
import { readStoryFiles, type StorySource } from "../../parse/stories/story-files.ts";
import { editFrontMatter, type EditValue, type FrontMatterEdits } from "../../write/edits/front-matter-edit.ts";

export interface StoryStoreOptions {
  readonly folder: string;
  readonly files: Files;
}

/** Stories as markdown files in a folder. The files are people's: only the front matter's named keys are written. */
export function createStoryStore({ folder, files }: StoryStoreOptions): StoryStore {
  /** Where each story was when the folder was read last; a person may have moved it since. */
  const places = new Map<StoryId, string>();

  async function readAll(): Promise<StorySource[]> {
    const links = new Set(await files.listLinks(folder, ".md"));
    const found: { path: string; text: string }[] = [];
    for (const path of await files.list(folder, ".md")) {
      if (links.has(path)) continue;
      const text = await files.read(path);
      // A file that went away since the folder was listed is no story any more.
      if (text !== null) found.push({ path, text });
    }
    places.clear();
    for (const { path, text } of found) {
      const id = readStoryFile(path, text).story?.id;
      // Of two files with one id the first is the story; the other is a problem that the reading tells.
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
