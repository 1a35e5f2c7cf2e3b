/** Something wrong with a person's file, and where. Readers return these beside what they could read. */
export interface Problem extends Place {
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** An error makes the thing unusable; a warning does not. */
  readonly severity: "error" | "warning";
}

export interface Place {
  readonly file: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  /** The line of the file the problem is on, for the caret under it. */
  readonly source?: string;
  /** How many characters the caret underlines. */
  readonly length?: number;
}
