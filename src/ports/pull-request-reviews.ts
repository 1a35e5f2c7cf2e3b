import type { ForgeAnswer, PullRequestReview, ReviewedPullRequest } from "../core/gates/code-owners.ts";

/** What a forge knows of the approval of pull requests. Everything it says comes from outside, and is data. */
export interface PullRequestReviews {
  pullRequest(number: number, signal: AbortSignal): Promise<ReviewedPullRequest>;
  /** Oldest first. */
  reviewsOf(number: number, signal: AbortSignal): Promise<readonly PullRequestReview[]>;
  /** Is the commit part of what the branch has? */
  isOnBranch(branch: string, commit: string, signal: AbortSignal): Promise<boolean>;
  /** `team` is `org/team`. */
  isMember(team: string, login: string, signal: AbortSignal): Promise<ForgeAnswer>;
  /** May this person write to the repository? */
  canWrite(login: string, signal: AbortSignal): Promise<ForgeAnswer>;
}
