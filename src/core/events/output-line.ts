/** One line that an agent or a check printed, without secrets. */
export interface OutputLine {
  readonly at: number;
  /** What printed it: `attempt 2`, `checks`. */
  readonly step: string;
  readonly text: string;
}

/** Where a reader is in a story's output. It stays valid while the engine goes on to a new file. */
export interface OutputPlace {
  readonly file: number;
  readonly offset: number;
}

export interface OutputPage {
  readonly lines: readonly OutputLine[];
  /** Go on from here. */
  readonly place: OutputPlace;
  /** There is more after these lines already. */
  readonly hasMore: boolean;
}
