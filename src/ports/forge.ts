import type { ForgeAnswer, PullRequestReview, ReviewedPullRequest } from "../core/gates/code-owners.ts";

/** Where the team's pull requests and CI runs are. Everything it says comes from outside, and is data. */
export interface Forge {
  readonly name: string;
  /** What runs, or ran, over one commit. */
  checks(commit: string, signal: AbortSignal): Promise<readonly ForgeCheck[]>;
  /** What a check printed, as much of it as there is; the step that failed, where the forge knows. */
  logOf(check: ForgeCheck, signal: AbortSignal): Promise<ForgeLog>;
  /** Has a check run once more over the same commit; `false` where that cannot be asked for. */
  rerun(check: ForgeCheck, signal: AbortSignal): Promise<boolean>;
  /** Opens a pull request, or finds the one that is open for this branch and brings its text up to date. */
  pullRequest(draft: PullRequestDraft, signal: AbortSignal): Promise<PullRequest>;
  /** The pull request that is at this address; `null` where the address is not one of this forge's. */
  pullRequestAt(url: string, signal: AbortSignal): Promise<PullRequest | null>;
  /** What people said of it, oldest first. */
  commentsOn(pullRequest: PullRequest, signal: AbortSignal): Promise<readonly ForgeComment[]>;
  /** May this account write to the repository? `false` where the forge does not say. */
  canWrite(login: string, signal: AbortSignal): Promise<boolean>;
  /** The account whose login the engine uses; `null` where it is no person's account. */
  ownAccount(signal: AbortSignal): Promise<string | null>;
}

export interface ForgeCheck {
  readonly id: string;
  readonly name: string;
  readonly state: "waiting" | "running" | "passed" | "failed" | "cancelled" | "skipped";
  readonly url: string | null;
  /** What it says of itself in a line. */
  readonly summary: string;
}

export interface ForgeLog {
  readonly text: string;
  readonly step: string | null;
  /** Is a part of it missing? */
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
  /** Where it is about one place. */
  readonly path: string | null;
  readonly line: number | null;
  /** Whether its author may request changes and does so. */
  readonly asksForChanges: boolean;
}

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
