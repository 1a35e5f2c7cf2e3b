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

/** As one reads: file after file, in the order in which they were spoken of, and in each from the top down. */
export function inOrderOfPlace(problems: readonly Problem[]): readonly Problem[] {
  const files = [...new Set(problems.map(({ file }) => file))];
  return problems.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}
