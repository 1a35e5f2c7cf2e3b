import type { StoryId } from "../core/events/ids.ts";
import type { Problem } from "../core/events/error.ts";
import type { Story } from "../core/stories/story.ts";

/** The stories' files in the stories' own places: phases whose product is text have it there. */
export interface StoryPages {
  /** `null` for a story that has no file, as a loop has none. `place` is where the story is worked on. */
  find(story: StoryId, place: string): Promise<StoryPage | null>;
  /** As the file is in the place now; `null` where it is not. A path that leads out of the place is refused. */
  read(place: string, path: string): Promise<string | null>;
  write(place: string, path: string, text: string): Promise<void>;
  /** The stories are not in the repository, so that no branch can hold their files. */
  readonly isOutside?: true;
}

export interface StoryPage {
  /** From the top of the repository, as git names it. */
  readonly path: string;
  /** As the person has it in their own checkout; `null` where it is only on the branch. */
  readonly original: string | null;
}

/** Where stories come from, and where people see how they stand. */
export interface StoryStore {
  read(): Promise<{ readonly stories: readonly Story[]; readonly problems: readonly Problem[] }>;
  /** Edits the front matter of a story's file and leaves every other byte as it was. */
  note(story: StoryId, fields: Readonly<Record<string, unknown>>): Promise<void>;
}
