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
