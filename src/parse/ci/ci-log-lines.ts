import { plainText } from "../../stdx/plain-text.ts";

/** A log's lines, and where in them the step that failed begins and ends. */
export interface CiLines {
  readonly lines: readonly string[];
  /** The first line of the step that failed; 0 where the log names none. */
  readonly stepAt: number;
  /** The line on which the service says that it failed; what follows is cleaning up. */
  readonly endAt: number;
  /** The step as the log names it. */
  readonly step: string | null;
  /** The command that the service names at the end, with the code that it ended with. */
  readonly command: string | null;
}

export function ciLinesOf(log: string): CiLines {
  const lines = linesOf(log);
  const cleaningAt = lines.findIndex((line) => CLEANING.test(line));
  const saidAt = lines.findLastIndex((line) => SAID_FAILED.test(line));
  const endAt = Math.max(0, saidAt >= 0 ? saidAt : lines.length - 1);
  const before = cleaningAt > 0 && cleaningAt < endAt ? cleaningAt : endAt;
  const stepAt = lines.findLastIndex((line, at) => at <= before && !TRIVIAL.test(nameIn(line) ?? "exit"));
  const named = lines.findLastIndex((line) => nameIn(line) !== null);
  return {
    lines,
    stepAt: Math.max(0, stepAt),
    endAt,
    step: (nameIn(lines[stepAt] ?? "") ?? nameIn(lines[named] ?? ""))?.slice(0, LONGEST_STEP) ?? null,
    command: failedCommand(lines),
  };
}

const LONGEST_STEP = 120;

/** How services say that a step has failed, whatever it was. */
const SAID_FAILED =
  /^(?:##\[error\]|Error: )?Process completed with exit code [1-9]|^ERROR: Job failed|^Exited with code exit status [1-9]|^(?:ERROR: )?script returned exit code [1-9]|^🚨 Error: The command exited|^##\[error\]Bash exited with code|^The command ".{1,200}" exited with [1-9]/;

/** What a service does after a step has failed; a step that is named after it did not fail. */
const CLEANING =
  /^(?:Post job cleanup\.|Running after_script|Uploading artifacts for failed job|Cleaning up (?:project directory|orphan)|section_start:\d+:(?:after_script|upload_artifacts_on_failure|cleanup))/;

/** What a shell prints of itself, and what is run only to look or to pass an exit code on. */
const TRIVIAL = /^(?:exit|echo|ls|cat|du|set|true|export|cd|pwd|env|date|\w+=\S*$)\b|\|\| true$|^\w+=\S*$/;

/** GitHub's groups, and the marks by which others name the step they are in. */
const STEP =
  /^(?:\[[\w-]+\] )?(?:##\[group\]Run |Run (?=[a-z./])|\$ |Step \d+\/\d+ ?: |\+ |section_start:\d+:|> Task (?=:))(\S.*)$/;

function nameIn(line: string): string | null {
  return STEP.exec(line)?.[1]?.trim() ?? null;
}

function failedCommand(lines: readonly string[]): string | null {
  for (let at = lines.length - 1; at >= 0 && at > lines.length - 30; at--) {
    const [, named, script] = ENDED_BADLY.exec(lines[at]!) ?? [];
    if (named !== undefined || script !== undefined) return named ?? script ?? null;
  }
  return null;
}

const ENDED_BADLY =
  /(?:The command|[Ss]tep|Command|Task|Script) ["'`](.{1,200}?)["'`] (?:exited|failed|returned|ended)|(?:npm (?:ERR!|error)|error) .{0,20}[Ll]ifecycle script `(.{1,100})`/;

/**
 * The log's lines as a person reads them: without colours, and without what CI services put in front of each. Of a
 * long log the beginning and the end are read: what failed is said last, what was set up first.
 */
function linesOf(log: string): string[] {
  const text = log.length <= MOST_READ ? log : `${log.slice(0, MOST_READ / 4)}\n${log.slice(-(MOST_READ / 4) * 3)}`;
  return plainText(text)
    .split("\n")
    .map((line) => line.slice(0, LONGEST_LINE).replace(STAMP, "").trimEnd());
}

const MOST_READ = 600_000;
const LONGEST_LINE = 600;

/** Times, stream marks and the numbers of build steps. */
const STAMP =
  /^(?:[^\t]{1,60}\t[^\t]{1,80}\t(?=\uFEFF?\d{4}-)|\uFEFF|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z? ?(?:\d\d[OE]\+? )?|\[\d{4}-\d\d-\d\d[ T][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\] ?|\[?\d\d:\d\d:\d\d\]? |#\d+ \d+\.\d+ |[\w.-]+ \| )+/;
