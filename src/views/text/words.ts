import type { Identity } from "../../core/events/authority.ts";
import type { BudgetName, Spent } from "../../core/stories/budget.ts";
import { countText, plainText } from "../../stdx/plain-text.ts";

/** Printable ASCII with single spaces: most texts are like that and need no cleaning. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Untrusted text on one line of a terminal: it cannot move the cursor or start a line, and its length is limited. */
export function shortLine(text: string, maxChars: number): string {
  if (text.length <= maxChars && PLAIN.test(text)) return text;
  // Only the start of a long text is cleaned: an agent may print megabytes.
  const line = plainText(text.slice(0, maxChars * 4))
    .replace(/\s+/gu, " ")
    .trim();
  const chars = [...line];
  if (chars.length <= maxChars && text.length <= maxChars * 4) return line;
  return `${chars
    .slice(0, maxChars - 1)
    .join("")
    .trimEnd()}…`;
}

export const moneyText = (usd: number): string => `$${usd.toFixed(2)}`;

/** `850 ms`, `12 s`, `3 m 20 s`, `2 h 5 m`: a duration for people, with at most two units. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} m` : `${minutes} m ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
}

/** The cost, and its limit. Unknown is not zero: if an agent did not report its cost, the sum is a lower bound. */
export function spentText(spent: Spent, limitUsd: number | null): string {
  if (spent.costUnknown && spent.costUsd === 0) return "";
  if (spent.costUsd === 0 && limitUsd === null) return "";
  const used = `${spent.costUnknown ? "at least " : ""}${moneyText(spent.costUsd)}`;
  return limitUsd === null ? used : `${used} of ${moneyText(limitUsd)}`;
}

/** An amount of a budget, in the budget's own unit. */
export function amountText(budget: BudgetName, amount: number): string {
  const kind = budget.replace(/^run-/, "");
  if (kind === "cost") return moneyText(amount);
  if (kind === "time") return durationText(amount);
  if (kind === "actions") return countText(amount, "action");
  return kind === "tokens" ? countText(amount, "token") : String(amount);
}

/** The marks in front of lines. Each has a symbol, and the line says the same in words. */
export const MARKS = ["accepted", "rejected", "sent-back", "person", "failed", "started", "trouble", "note"] as const;
export type LineMark = (typeof MARKS)[number];

/** The symbols of one kind of terminal. */
export interface Glyphs {
  readonly marks: { readonly [M in LineMark]: string };
  readonly pass: string;
  readonly fail: string;
  readonly waived: string;
  readonly unproven: string;
  readonly arrow: string;
  readonly dot: string;
  /** Marks where a text was cut. */
  readonly ellipsis: string;
}

export const UNICODE_GLYPHS: Glyphs = {
  marks: {
    accepted: "✔",
    rejected: "✖",
    "sent-back": "↩",
    person: "!",
    failed: "✖",
    started: "▶",
    trouble: "⚠",
    note: "·",
  },
  pass: "✔",
  fail: "✖",
  waived: "~ waived",
  unproven: "?",
  arrow: "→",
  dot: "·",
  ellipsis: "…",
};

export const ASCII_GLYPHS: Glyphs = {
  marks: {
    accepted: "+",
    rejected: "x",
    "sent-back": "<",
    person: "!",
    failed: "x",
    started: ">",
    trouble: "*",
    note: "-",
  },
  pass: "ok",
  fail: "FAIL",
  waived: "waived",
  unproven: "?",
  arrow: "->",
  dot: "|",
  ellipsis: "...",
};

/** A person's name, and how the person was identified: `Ada (terminal)`. Older journals do not record how. */
export function authorText({ by, identity }: { readonly by: string; readonly identity?: Identity }): string {
  return identity === undefined ? by : `${by} (${identity === "forge" ? "forge account" : identity})`;
}

/** Who deferred a question to the next run, and why. */
export const deferredText = ({ by, reason }: { readonly by: string; readonly reason: string }): string =>
  `deferred by ${by} to the next run: ${reason}`;
