import type { StoryId } from "../core/events/ids.ts";
import type { Problem } from "../core/events/error.ts";
import type { Story } from "../core/stories/story.ts";

/** The files of a checkout, as the commands see them. Paths are absolute. */
export interface Files {
  /** The text, or `null` where there is no such file. Anything else that goes wrong is a RemandError. */
  read(path: string): Promise<string | null>;
  /** Full paths of the plain files in a folder whose names end so, sorted; empty where there is no folder. */
  list(folder: string, ending: string): Promise<readonly string[]>;
  /** Full paths of the symbolic links in a folder whose names end so, wherever they lead, sorted. */
  listLinks(folder: string, ending: string): Promise<readonly string[]>;
  write(path: string, text: string): Promise<void>;
  /** What stands there, without reading it. */
  look(path: string): Promise<PathInfo>;
  /** Takes away a file, or a folder that is empty. What is not there is no error. */
  remove(path: string): Promise<void>;
}

export type PathInfo =
  | { readonly type: "absent" }
  /** `place`: where it really is, links followed. */
  | { readonly type: "file"; readonly place: string; readonly isReadOnly: boolean }
  | { readonly type: "folder"; readonly place: string; readonly entries: readonly string[] }
  /** A link that leads nowhere, a pipe, a device. */
  | { readonly type: "other" };

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

/** A story as a person wrote it. */
interface StoryFile {
  /** As people know it: `stories/login.md`. */
  readonly file: string;
  readonly text: string;
}

export interface StoryEdit {
  readonly id: string;
  readonly text: string;
  /** What the editor began with; `null` for a story that is new. */
  readonly before: string | null;
  /** Only say what is wrong. */
  readonly isCheck: boolean;
}

interface EditedStory {
  readonly file: string;
  readonly problems: readonly Problem[];
  readonly isWritten: boolean;
}

/** Reads and writes the files of stories. What is written has passed the parser that `remand run` reads them with. */
export interface StoryEditor {
  read(id: string): Promise<StoryFile | null>;
  /** Writes nothing where the text has an error. */
  write(edit: StoryEdit): Promise<EditedStory>;
}
