import type { StoryId } from "../core/events/ids.ts";
import type { Problem } from "../core/events/error.ts";
import type { Story } from "../core/stories/story.ts";

/** The files of a checkout. Paths are absolute. */
export interface Files {
  /** Returns the text, or `null` if the file does not exist. Any other problem is a RemandError. */
  read(path: string): Promise<string | null>;
  /**
   * Returns the full paths of the plain files in a folder whose names have this ending, sorted; empty if there is no
   * folder.
   */
  list(folder: string, ending: string): Promise<readonly string[]>;
  /** Returns the full paths of the symbolic links in a folder whose names have this ending, with any target, sorted. */
  listLinks(folder: string, ending: string): Promise<readonly string[]>;
  write(path: string, text: string): Promise<void>;
  /** Returns what is at the path, without reading it. */
  look(path: string): Promise<PathInfo>;
  /** Removes a file or an empty folder. A missing path is not an error. */
  remove(path: string): Promise<void>;
}

export type PathInfo =
  | { readonly type: "absent" }
  /** `place`: the real path, with links resolved. */
  | { readonly type: "file"; readonly place: string; readonly isReadOnly: boolean }
  | { readonly type: "folder"; readonly place: string; readonly entries: readonly string[] }
  /** A broken link, a pipe, a device. */
  | { readonly type: "other" };

/** The stories' files in the stories' own worktrees: text phases write their product there. */
export interface StoryPages {
  /** Finds the file of a story; `null` for a story without one, such as a loop. `place` is the story's worktree. */
  find(story: StoryId, place: string): Promise<StoryPage | null>;
  /**
   * Reads the file as it is in the worktree now; `null` if it is missing. A path that leads out of the worktree is
   * refused.
   */
  read(place: string, path: string): Promise<string | null>;
  write(place: string, path: string, text: string): Promise<void>;
  /** The stories are outside the repository, so no branch can hold their files. */
  readonly isOutside?: true;
}

export interface StoryPage {
  /** From the top of the repository, as git names it. */
  readonly path: string;
  /** The text in the person's own checkout; `null` if the file is only on the branch. */
  readonly original: string | null;
}

/** Where stories come from, and where people see their status. */
export interface StoryStore {
  read(): Promise<{ readonly stories: readonly Story[]; readonly problems: readonly Problem[] }>;
  /** Edits the front matter of a story's file and leaves every other byte unchanged. */
  note(story: StoryId, fields: Readonly<Record<string, unknown>>): Promise<void>;
}

/** A story as a person wrote it. */
interface StoryFile {
  /** The path as people know it: `stories/login.md`. */
  readonly file: string;
  readonly text: string;
}

export interface StoryEdit {
  readonly id: string;
  readonly text: string;
  /** The text that the editor started from; `null` for a new story. */
  readonly before: string | null;
  /** Only report problems, and write nothing. */
  readonly isCheck: boolean;
}

interface EditedStory {
  readonly file: string;
  readonly problems: readonly Problem[];
  readonly isWritten: boolean;
}

/** Reads and writes the files of stories. Text is written only if it passes the parser of `remand run`. */
export interface StoryEditor {
  read(id: string): Promise<StoryFile | null>;
  /** Writes nothing if the text has an error. */
  write(edit: StoryEdit): Promise<EditedStory>;
}
