import type { Finding } from "./finding.ts";
import type { Judgement } from "./gate.ts";

/** The first line of all output of hidden checks, which only people may see. */
const MARK = "remand: output of hidden checks, for people only";

export const markHidden = (text: string): string => (isHiddenText(text) ? text : `${MARK}\n${text}`);

export const isHiddenText = (text: string): boolean => text.startsWith(`${MARK}\n`);

/** What agents and unidentified readers get instead of such output. */
export const HIDDEN_OUTPUT_NOTICE =
  "This is the output of hidden checks. It is shown to an identified person only: in a terminal, or with REMAND_TOKEN.\n";

/** Formats everything about a run of hidden checks. */
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
 * Keeps the lines of an output that help to understand a failure. Left out: stack frames of the runtime and of
 * installed packages, coverage tables, and what npm prints around a script.
 */
export function withoutNoise(lines: readonly string[]): string[] {
  return lines.filter((line) => !isForeignFrame(line) && !isCoverageRow(line) && !isNpmLine(line));
}

/** Whether a line is a stack frame of the runtime (`at load (node:internal/…)`) or of an installed package. */
const isForeignFrame = (line: string): boolean =>
  /^\s+(?:at|❯) /.test(line) && FOREIGN.some((part) => line.includes(part));

/** Remand's reporter stands in the stack of each module that a project loads, wherever the program is installed. */
export const OWN_FRAME = "/reporters/hook-modules.cjs";

const FOREIGN = ["(node:", " node:", "(<anonymous>)", "/node_modules/", "at /rustc/", "/remand/reporters/", OWN_FRAME];

/**
 * Whether a line is a row or a rule of the table that istanbul, nyc, c8 and Vitest print: a name and four percentages.
 */
const isCoverageRow = (line: string): boolean =>
  /^-+\|(?:-+\|){3,}-*$/.test(line.trim()) || /^[^|]*\|(?:\s*(?:%\s\w+|[\d.]+)\s*\|){4}/.test(line);

const isNpmLine = (line: string): boolean =>
  /^npm (?:warn|notice|WARN)\b/.test(line) ||
  /^npm (?:ERR!|error)(?:$| (?:A complete log|code|path|command|errno|Lifecycle|Test failed))/.test(line);

/** The log of a check's run: four lines about it, then its output. */
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

/** Returns the output of the check itself. A text of another form is all output. */
export function outputOfLog(log: string): string {
  if (!log.startsWith("check: ")) return log;
  const end = log.indexOf("\n\n");
  return end < 0 ? "" : log.slice(end + 2);
}
