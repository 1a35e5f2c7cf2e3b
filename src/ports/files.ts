/** The files of a checkout, as the commands see them. Paths are absolute. */
export interface Files {
  /** The text, or `null` where there is no such file. Anything else that goes wrong is a RemandError. */
  read(path: string): Promise<string | null>;
  /** Full paths of the plain files in a folder whose names end so, sorted; empty where there is no folder. */
  list(folder: string, ending: string): Promise<readonly string[]>;
  write(path: string, text: string): Promise<void>;
}
