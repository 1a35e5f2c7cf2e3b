/** Which commits are compared with receipts, and by which keys. */
export interface VerifyPlan {
  /** A commit, a branch, or a range. */
  readonly commits: string;
  /** Which of them must have a receipt: none, those with a trailer of Remand's, or all. */
  readonly require: "none" | "trailers" | "all";
  /** The file of the public keys; `null`: `remand.keys` on the base branch. */
  readonly keys: string | null;
  /** The branch that work is merged into; `null`: found by itself. */
  readonly base: string | null;
}

/** `chain`: the hashes are checked; `state`: the lines are folded again. */
export type VerifyProgress = (what: "chain" | "state" | "evidence", checked: number, of: number) => void;
