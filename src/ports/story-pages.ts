import type { StoryId } from "../domain/ids.ts";

/** The stories' files in the stories' own places: phases whose product is text have it there. */
export interface StoryPages {
  /** `null` for a story that has no file, as a loop has none. `place` is where the story is worked on. */
  find(story: StoryId, place: string): Promise<StoryPage | null>;
  /** As the file is in the place now; `null` where it is not. A path that leads out of the place is refused. */
  read(place: string, path: string): Promise<string | null>;
  write(place: string, path: string, text: string): Promise<void>;
}

export interface StoryPage {
  /** From the top of the repository, as git names it. */
  readonly path: string;
  /** As the person has it in their own checkout; `null` where it is only on the branch. */
  readonly original: string | null;
}
