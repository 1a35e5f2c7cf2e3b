import type { Recorded } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { OutputLine } from "../../core/events/output-line.ts";
import { GATES, isReviewed } from "../../core/gates/gate.ts";
import { plainText } from "../../stdx/plain-text.ts";

/** One line that an agent or a check printed, and for which attempt. */
export interface PrintedLine extends OutputLine {
  readonly story: StoryId;
  /** The newest attempt when it was printed; `null` before the first. */
  readonly attempt: number | null;
}

/** Which lines are wanted; without a wish all of them. */
export interface PrintedFilter {
  readonly attempt: number | null;
  /** Lines of agents: developers and reviewers. */
  readonly agent: boolean;
  /** Lines of the other gates and steps: commands that run. */
  readonly check: boolean;
}

/** When each attempt of a story began, oldest first. */
export function attemptStarts(
  lines: readonly Recorded[],
): readonly { readonly at: number; readonly attempt: number }[] {
  return lines.flatMap(({ at, event }) => (event.type === "attempt.started" ? [{ at, attempt: event.attempt }] : []));
}

/** The lines that are wanted, with their attempts. A line that was drawn over itself counts as it was last. */
export function printedLines(
  story: StoryId,
  lines: readonly OutputLine[],
  starts: ReturnType<typeof attemptStarts>,
  filter: PrintedFilter,
): PrintedLine[] {
  return lines.flatMap(({ at, step, text }) => {
    const named = /^attempt (\d+)$/.exec(step)?.[1];
    const attempt = named === undefined ? (starts.findLast((each) => each.at <= at)?.attempt ?? null) : Number(named);
    const isAgent = named !== undefined || GATES.some((gate) => gate === step && isReviewed(gate));
    if (filter.attempt !== null && filter.attempt !== attempt) return [];
    if (filter.agent !== filter.check && isAgent !== filter.agent) return [];
    return [{ at, story, attempt, step, text: lastDrawn(text) }];
  });
}

const lastDrawn = (text: string): string => text.split(/[\r\n]/).findLast((part) => plainText(part) !== "") ?? "";
