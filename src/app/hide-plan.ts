export interface HidePlan {
  /** Files or folders, from the project's folder; none: only says what is hidden. */
  readonly paths: readonly string[];
  /** Remove them from the project by a commit. */
  readonly commit: boolean;
  /** Drop the copies of these, and hide nothing. */
  readonly forget: boolean;
}

export interface HideReport {
  /** Where the copies are. */
  readonly folder: string;
  readonly copied: readonly string[];
  /** Everything that is hidden now. */
  readonly hidden: readonly string[];
  /** Of the copied: what is still in the project. */
  readonly left: readonly string[];
  readonly dropped: readonly string[];
  /** The commit that removed them; `null`: none was made. */
  readonly commit: string | null;
  /** What such a commit says. */
  readonly subject: string;
}
