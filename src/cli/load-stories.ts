import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { readStoryFiles, type StoriesReading, type StorySource } from "../readers/story-files.ts";
import type { Checkout } from "./command.ts";
import { shownPath } from "./load-config.ts";

/** Where the stories of this project are. A broken config hides a folder that was changed: then it is the usual one. */
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
    // A file that went away since the folder was listed is no story any more.
    if (text !== null) files.push({ path: shownPath(world, path), text });
  }
  return readStoryFiles(files);
}
