import { isAsking } from "../domain/outline.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { rowOf, type BoardRow } from "./board.ts";
import { findingText } from "./finding-text.ts";
import { shortLine } from "./words.ts";

/** The columns of the board, by who must act. */
export const COLUMNS = ["ready", "working", "in-gates", "sent-back", "needs-you", "accepted", "stopped"] as const;
export type Column = (typeof COLUMNS)[number];

export const COLUMN_TITLES: { readonly [C in Column]: string } = {
  ready: "Ready",
  working: "Working",
  "in-gates": "In gates",
  "sent-back": "Sent back",
  "needs-you": "Needs you",
  accepted: "Accepted",
  stopped: "Stopped",
};

/** One story on the board of the dashboard. */
export interface BoardCard extends BoardRow {
  readonly column: Column;
  /** Who works on it, or worked on it last. */
  readonly agent: string | null;
  readonly reworks: number;
  /** The first line of the finding that stands in the way. */
  readonly finding: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** When it is tried again, where it waits for a time. */
  readonly nextAt: number | null;
  readonly arrival: number;
}

export function boardCard(run: RunState, state: StoryState): BoardCard {
  const row = rowOf(run, state);
  return {
    ...row,
    title: shortLine(row.title, 200),
    why: shortLine(row.why, 300),
    column: columnOf(state, row),
    agent: agentOf(state),
    reworks: state.reworks,
    finding: lastFinding(state),
    startedAt: state.startedAt,
    endedAt: state.ending?.at ?? null,
    nextAt: state.wait?.type === "time" && state.running === null ? state.wait.until : null,
    arrival: state.arrival,
  };
}

function columnOf(state: StoryState, { status }: BoardRow): Column {
  if (status === "accepted") return "accepted";
  if (isAsking(state)) return "needs-you";
  if (status === "failed" || state.held) return "stopped";
  if (state.rework !== null || (state.failing !== null && status === "working")) return "sent-back";
  if (status === "in-gate") return "in-gates";
  if (state.policy === null) return "ready";
  return state.productReady ? "in-gates" : "working";
}

function agentOf({ running, attempts }: StoryState): string | null {
  return running?.type === "attempt" ? running.role : (attempts.at(-1)?.role ?? null);
}

function lastFinding({ failing, gates, ending }: StoryState): string | null {
  if (ending?.how === "accepted") return null;
  const gate = failing?.gate;
  const judgements = gate === undefined ? Object.values(gates).map(({ last }) => last) : [gates[gate]?.last ?? null];
  const judgement = judgements.find((each) => each?.result === "fail") ?? null;
  if (judgement === null) return null;
  const finding = judgement.findings.find(({ id }) => judgement.blocking.includes(id)) ?? judgement.findings[0];
  return finding === undefined ? shortLine(judgement.summary, 140) : findingText(finding, 140);
}

/** Does a card say one of the words that were typed, all of them? */
export function cardMatches(card: BoardCard, query: string): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text = [card.id, card.title, card.why, card.agent ?? "", card.finding ?? "", card.status, card.gate ?? ""]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
