import type { Problem } from "../domain/problem.ts";
import type { Story } from "../domain/story.ts";
import type { StoryId } from "../domain/ids.ts";

/** Where stories come from, and where people see how they stand. */
export interface StoryShelf {
  read(): Promise<{ readonly stories: readonly Story[]; readonly problems: readonly Problem[] }>;
  /** Edits the front matter of a story's file and leaves every other byte as it was. */
  note(story: StoryId, fields: Readonly<Record<string, unknown>>): Promise<void>;
}
