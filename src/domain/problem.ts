/** Something wrong with a person's file, and where. Readers return these beside what they could read. */
export interface Problem {
  readonly file: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** An error makes the thing unusable; a warning does not. */
  readonly severity: "error" | "warning";
  /** The line of the file the problem is on, for the caret under it. */
  readonly source?: string;
  /** How many characters the caret underlines. */
  readonly length?: number;
}
