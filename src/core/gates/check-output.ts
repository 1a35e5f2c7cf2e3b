import type { Finding } from "./finding.ts";
import type { Judgement } from "./gate.ts";

/** The first line of every text that a hidden check left: it is shown to people alone. */
const MARK = "remand: output of hidden checks, for people only";

export const markHidden = (text: string): string => (isHiddenText(text) ? text : `${MARK}\n${text}`);

export const isHiddenText = (text: string): boolean => text.startsWith(`${MARK}\n`);

/** What others get in place of such a text. */
export const KEPT_FROM_AGENTS =
  "This is the output of hidden checks. It is shown to an identified person only: in a terminal, or with REMAND_TOKEN.\n";

/** Everything about a run of hidden checks. */
export function hiddenReportText(
  failures: readonly Finding[],
  { runs = [], summary }: Pick<Judgement, "runs" | "summary">,
  logs: readonly (string | null)[],
): string {
  const failed = failures.map(({ file, symbol, message, detail = "" }) =>
    [`- ${[file, symbol].filter((each) => each !== undefined).join(" > ")}: ${message}`, ...indented(detail)].join(
      "\n",
    ),
  );
  return [
    summary,
    ...runs.map(({ command, result, details }) => `${result}: ${command} (${details})`),
    "",
    ...failed,
    "",
    ...logs.filter((log) => log !== null),
    "",
  ].join("\n");
}

const indented = (text: string): readonly string[] =>
  text === "" ? [] : text.split("\n").map((line) => `    ${line}`);

/**
 * The lines of an output that help to understand a failure. Left out: stack frames of the runtime and of installed
 * packages, coverage tables, and what npm adds around a script.
 */
export function withoutNoise(lines: readonly string[]): string[] {
  return lines.filter((line) => !isForeignFrame(line) && !isCoverageRow(line) && !isNpmLine(line));
}

/** `at load (node:internal/modules/cjs/loader:1091:12)`, or the same in a package that the project only uses. */
const isForeignFrame = (line: string): boolean =>
  /^\s+(?:at|❯) /.test(line) && FOREIGN.some((part) => line.includes(part));

const FOREIGN = ["(node:", " node:", "(<anonymous>)", "/node_modules/", "at /rustc/", "/remand/reporters/"];

/** A row or a rule of the table that istanbul, nyc, c8 and Vitest print: a name and four shares. */
const isCoverageRow = (line: string): boolean =>
  /^-+\|(?:-+\|){3,}-*$/.test(line.trim()) || /^[^|]*\|(?:\s*(?:%\s\w+|[\d.]+)\s*\|){4}/.test(line);

const isNpmLine = (line: string): boolean =>
  /^npm (?:warn|notice|WARN)\b/.test(line) ||
  /^npm (?:ERR!|error)(?:$| (?:A complete log|code|path|command|errno|Lifecycle|Test failed))/.test(line);

/** What is kept of a check's run: four lines about it, and then what it printed. */
export interface CheckLog {
  readonly check: string;
  readonly environment: string;
  readonly command: string;
  readonly ending: string;
  readonly output: string;
}

export function checkLogText({ check, environment, command, ending, output }: CheckLog): string {
  return `check: ${check}\nenvironment: ${environment}\n$ ${command}\n${ending}\n\n${output}`;
}

/** What the check itself printed. A text of another kind is all output. */
export function printedIn(log: string): string {
  if (!log.startsWith("check: ")) return log;
  const end = log.indexOf("\n\n");
  return end < 0 ? "" : log.slice(end + 2);
}
