import type { Identity } from "../../core/events/authority.ts";
import type { BudgetName, Spent } from "../../core/stories/budget.ts";
import { countText, plainText } from "../../stdx/plain-text.ts";

/** Printable ASCII with single spaces in between: nothing is to be cleaned, and most of what is shown is like that. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Untrusted text on one line of a terminal: it can neither move the cursor nor begin a line, and it ends in time. */
export function shortLine(text: string, maxChars: number): string {
  if (text.length <= maxChars && PLAIN.test(text)) return text;
  // Only a part of a long text is cleaned: what an agent prints may be megabytes.
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

/** `850 ms`, `12 s`, `3 m 20 s`, `2 h 5 m`: two units at most, for people. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} m` : `${minutes} m ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
}

/** What was spent, of what may be. Unknown is not zero: a sum that some agent did not add to is called a floor. */
export function spentText(spent: Spent, limitUsd: number | null): string {
  if (spent.costUnknown && spent.costUsd === 0) return "";
  if (spent.costUsd === 0 && limitUsd === null) return "";
  const used = `${spent.costUnknown ? "at least " : ""}${moneyText(spent.costUsd)}`;
  return limitUsd === null ? used : `${used} of ${moneyText(limitUsd)}`;
}

/** An amount of a budget in that budget's own unit. */
export function amountText(budget: BudgetName, amount: number): string {
  const kind = budget.replace(/^run-/, "");
  if (kind === "cost") return moneyText(amount);
  if (kind === "time") return durationText(amount);
  if (kind === "actions") return countText(amount, "action");
  return kind === "tokens" ? countText(amount, "token") : String(amount);
}

/** What stands in front of a line. Each mark has a sign, and the line says the same in words. */
export const MARKS = ["accepted", "rejected", "sent-back", "person", "failed", "started", "trouble", "note"] as const;
export type LineMark = (typeof MARKS)[number];

/** The signs of one kind of terminal. */
export interface Glyphs {
  readonly marks: { readonly [M in LineMark]: string };
  readonly pass: string;
  readonly fail: string;
  readonly waived: string;
  readonly unproven: string;
  readonly arrow: string;
  readonly dot: string;
  /** Where a text was cut. */
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

/** A person's name, and how the journal knows that it was them: `Ada (terminal)`. Older journals do not say how. */
export function authorText({ by, identity }: { readonly by: string; readonly identity?: Identity }): string {
  return identity === undefined ? by : `${by} (${identity === "forge" ? "forge account" : identity})`;
}

/** Who put a question off to the next run, and why. */
export const deferredText = ({ by, reason }: { readonly by: string; readonly reason: string }): string =>
  `deferred by ${by} to the next run: ${reason}`;
