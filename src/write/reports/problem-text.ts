import type { Problem } from "../../core/events/error.ts";
import { textWidth, withoutBackticks } from "../../stdx/plain-text.ts";

/** A problem in the form of a compiler error: location, message, the line with a caret below, and the fix. */
export function problemText(problem: Problem, { color }: { readonly color: boolean }): string {
  const paint = color ? ANSI : PLAIN;
  const where = paint.bold(`${toPrintable(problem.file)}:${problem.line}:${problem.column}:`);
  const severity = problem.severity === "error" ? paint.red("error:") : paint.yellow("warning:");
  const lines = [`${where} ${severity} ${toPrintable(withoutBackticks(problem.message))}`];
  if (problem.source !== undefined) lines.push(...caret(problem, problem.source, paint));
  if (problem.hint !== "") lines.push(`  ${toPrintable(withoutBackticks(problem.hint))}`);
  return lines.join("\n");
}

function caret(problem: Problem, source: string, paint: typeof PLAIN): string[] {
  const number = String(problem.line);
  const before = source.slice(0, problem.column - 1);
  const marked = source.slice(problem.column - 1, problem.column - 1 + (problem.length ?? 1));
  const marks = "^".repeat(Math.max(1, textWidth(toPrintable(marked))));
  return [
    `  ${paint.dim(`${number} |`)} ${toPrintable(source)}`,
    `  ${paint.dim(`${" ".repeat(number.length)} |`)} ${" ".repeat(textWidth(toPrintable(before)))}${paint.red(marks)}`,
  ];
}

/** Replaces each control character with one visible character, so that carets stay in the right column. */
const toPrintable = (text: string): string => text.replaceAll("\t", " ").replaceAll(UNPRINTABLE, "\uFFFD");

const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

const ansiStyle = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`;
const ANSI = { bold: ansiStyle(1, 22), red: ansiStyle(31, 39), yellow: ansiStyle(33, 39), dim: ansiStyle(2, 22) };
const same = (text: string): string => text;
const PLAIN: typeof ANSI = { bold: same, red: same, yellow: same, dim: same };

/** A workflow command of GitHub Actions as a line of output: an annotation, a group. Does not end the line. */
export function workflowCommand(name: string, properties: Readonly<Record<string, string>>, text: string): string {
  const list = Object.entries(properties).map(([key, value]) => `${key}=${escapedProperty(value)}`);
  return `::${name}${list.length === 0 ? "" : ` ${list.join(",")}`}::${escapeData(text)}`;
}

/** Disables lines that look like workflow commands: text of agents must not give commands to GitHub. */
export const inertLines = (text: string): string => text.replaceAll(/^(\s*)::/gm, "$1: :");

const escapeData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapedProperty = (text: string): string => escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
