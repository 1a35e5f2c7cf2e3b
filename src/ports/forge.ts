import type { ForgeAnswer, PullRequestReview, ReviewedPullRequest } from "../core/gates/code-owners.ts";

/** The service with the team's pull requests and CI runs. Its replies are untrusted data. */
export interface Forge {
  readonly name: string;
  /** Returns the checks of one commit, running or ended. */
  checks(commit: string, signal: AbortSignal): Promise<readonly ForgeCheck[]>;
  /** Returns the log of a check, as much as is available, and the step that failed if the forge knows it. */
  logOf(check: ForgeCheck, signal: AbortSignal): Promise<ForgeLog>;
  /** Runs a check again on the same commit; `false` if the forge cannot do that. */
  rerun(check: ForgeCheck, signal: AbortSignal): Promise<boolean>;
  /** Opens a pull request, or finds the open one of this branch and updates its text. */
  pullRequest(draft: PullRequestDraft, signal: AbortSignal): Promise<PullRequest>;
  /** Returns the pull request at this address; `null` if the address does not belong to this forge. */
  pullRequestAt(url: string, signal: AbortSignal): Promise<PullRequest | null>;
  /** Returns the comments of people, oldest first. */
  commentsOn(pullRequest: PullRequest, signal: AbortSignal): Promise<readonly ForgeComment[]>;
  /** Whether this account may write to the repository; `false` if the forge does not say. */
  canWrite(login: string, signal: AbortSignal): Promise<boolean>;
  /** Returns the account whose login the engine uses; `null` if it is not a person's account. */
  ownAccount(signal: AbortSignal): Promise<string | null>;
}

export interface ForgeCheck {
  readonly id: string;
  readonly name: string;
  readonly state: "waiting" | "running" | "passed" | "failed" | "cancelled" | "skipped";
  readonly url: string | null;
  /** A summary by the check itself, on one line. */
  readonly summary: string;
}

export interface ForgeLog {
  readonly text: string;
  readonly step: string | null;
  /** Whether a part of the log is missing. */
  readonly isPartial: boolean;
  readonly annotations: readonly ForgeAnnotation[];
}

export interface ForgeAnnotation {
  readonly path: string;
  readonly line: number;
  readonly level: "notice" | "warning" | "failure";
  readonly message: string;
}

export interface PullRequestDraft {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly isMerged: boolean;
  readonly isOpen: boolean;
}

export interface ForgeComment {
  readonly id: string;
  readonly by: string;
  readonly at: number;
  readonly text: string;
  /** The file that it is about; `null` for a general comment. */
  readonly path: string | null;
  readonly line: number | null;
  /** Whether its author may request changes and does so. */
  readonly asksForChanges: boolean;
}

/** Reads the approvals of pull requests from a forge. Its replies are untrusted data. */
export interface PullRequestReviews {
  pullRequest(number: number, signal: AbortSignal): Promise<ReviewedPullRequest>;
  /** Oldest first. */
  reviewsOf(number: number, signal: AbortSignal): Promise<readonly PullRequestReview[]>;
  /** Whether the commit is in the history of the branch. */
  isOnBranch(branch: string, commit: string, signal: AbortSignal): Promise<boolean>;
  /** `team` is `org/team`. */
  isMember(team: string, login: string, signal: AbortSignal): Promise<ForgeAnswer>;
  /** Whether this person may write to the repository. */
  canWrite(login: string, signal: AbortSignal): Promise<ForgeAnswer>;
}
