import type { Recorded } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { OutputLine } from "../../core/events/output-line.ts";
import { GATES, isReviewed } from "../../core/gates/gate.ts";
import { plainText } from "../../stdx/plain-text.ts";

/** A line that an agent or a check printed, with its attempt. */
export interface PrintedLine extends OutputLine {
  readonly story: StoryId;
  /** The newest attempt at that time; `null` before the first. */
  readonly attempt: number | null;
}

/** Which lines to select; without any filter, all. */
export interface PrintedFilter {
  readonly attempt: number | null;
  /** Lines of agents: developers and reviewers. */
  readonly agent: boolean;
  /** Lines of other gates and steps, which run commands. */
  readonly check: boolean;
}

/** When each attempt of a story started, oldest first. */
export function attemptStarts(
  lines: readonly Recorded[],
): readonly { readonly at: number; readonly attempt: number }[] {
  return lines.flatMap(({ at, event }) => (event.type === "attempt.started" ? [{ at, attempt: event.attempt }] : []));
}

/** The selected lines with their attempts. Of a line that the program redrew in place, only the last version counts. */
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
