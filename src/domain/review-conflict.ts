/** Two reviewers who ask for opposite things in one place. */
export interface ReviewConflict {
  readonly file: string;
  readonly line: number;
  readonly between: readonly [string, string];
  readonly says: readonly [string, string];
  /** Whose word counts; `null` is a tie, which a person breaks. */
  readonly winner: string | null;
}
