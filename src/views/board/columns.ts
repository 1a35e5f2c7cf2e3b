import type { Status } from "../../core/stories/story.ts";

/** The columns of the board, by who must act. */
export const COLUMNS = [
  "backlog",
  "ready",
  "waiting",
  "working",
  "in-gates",
  "sent-back",
  "needs-you",
  "accepted",
  "stopped",
] as const;
export type Column = (typeof COLUMNS)[number];

export const COLUMN_TITLES: { readonly [C in Column]: string } = {
  backlog: "Backlog",
  ready: "Ready",
  waiting: "Waiting",
  working: "Working",
  "in-gates": "In gates",
  "sent-back": "Sent back",
  "needs-you": "Needs you",
  accepted: "Accepted",
  stopped: "Stopped",
};

/** The four columns of the dashboard's board, into which the columns above are grouped. */
export const BOARD_GROUPS = ["needs-you", "active", "idle", "done"] as const;
export type BoardGroup = (typeof BOARD_GROUPS)[number];

export const GROUP_TITLES: { readonly [G in BoardGroup]: string } = {
  "needs-you": "Needs you",
  active: "Working",
  idle: "Waiting",
  done: "Done",
};

export function groupOf({ column, status }: { readonly column: Column; readonly status: Status }): BoardGroup {
  if (status === "failed" || status === "dismissed") return "done";
  switch (column) {
    case "needs-you":
      return "needs-you";
    case "working":
    case "in-gates":
    case "sent-back":
      return "active";
    case "backlog":
    case "ready":
    case "waiting":
    case "stopped":
      return "idle";
    case "accepted":
      return "done";
  }
}
