/** One line that an agent or a check printed, with secrets removed. */
export interface OutputLine {
  readonly at: number;
  /** The step that printed it: `attempt 2`, `checks`. */
  readonly step: string;
  readonly text: string;
}

/** A reader's position in the output of a story. It stays valid when the engine starts a new file. */
export interface OutputPosition {
  readonly file: number;
  readonly offset: number;
}

export interface OutputPage {
  readonly lines: readonly OutputLine[];
  /** The position to continue from. */
  readonly place: OutputPosition;
  /** Whether more lines are available already. */
  readonly hasMore: boolean;
}
