export interface ReviewedPullRequest {
  readonly author: string;
  /** The newest commit of its branch. */
  readonly head: string;
  /** What the forge makes of the head and its target to try them together; `null` where there is none. */
  readonly mergeCommit: string | null;
  /** The branch it is to be merged into. */
  readonly target: string;
}

export interface PullRequestReview {
  readonly by: string;
  readonly isBot: boolean;
  readonly verdict: "approved" | "changes-requested" | "dismissed" | "comment";
  /** The commit that was looked at. */
  readonly commit: string;
}

/** `unknown`: the forge does not say, and why. */
export type ForgeAnswer = "yes" | "no" | { readonly unknown: string };
