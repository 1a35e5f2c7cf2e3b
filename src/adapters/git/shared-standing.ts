import type { StoryId } from "../../domain/ids.ts";

/** How a story stands by the journal: that decides, not what a branch happens to be at. */
export interface JournalStanding {
  /** The commit of its newest state; `null` before it has one. */
  readonly commit: string | null;
  /** The event with which that began which runs for it now (`running.seq`); `null` where nothing runs. */
  readonly run: number | null;
  /** It has ended, here or elsewhere: its place on this machine serves nobody any more. */
  readonly isOver?: boolean;
}

/** From the folded state, asked anew each time. */
export type StandingOf = (story: StoryId) => JournalStanding;

/** What the files of a worktree are there for: the run that made them, and what it began with. */
export const runKey = ({ run, commit }: JournalStanding): string | null =>
  run === null ? null : `${run} ${commit ?? "none"}`;
