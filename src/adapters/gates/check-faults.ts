import { identified, normalisedMessage, type Finding } from "../../domain/finding.ts";
import { plainText } from "../../stdx/plain-text.ts";
import type { OutputFailure } from "../../readers/test-output-parts.ts";
import type { TestOutput } from "../../readers/test-output.ts";
import type { ProcessResult } from "../process/run-process.ts";

/** Something wrong, and the name under which it would have been known before the work began. */
export interface Fault {
  readonly name: string;
  readonly finding: Finding;
  readonly preExisting: boolean;
  /** The output did not say what is wrong, only that something is. */
  readonly isOpaque: boolean;
}

/** What a failed command complains of: what its output names, or at least that it failed, with its last words. */
export function faultsIn(
  command: { readonly name: string; readonly run: string },
  ended: ProcessResult,
  { failures }: Pick<TestOutput, "failures">,
  preExisting: readonly string[],
): Fault[] {
  return failures.length === 0
    ? [opaque(command, ended, new Set(preExisting))]
    : namedFaults(command.name, failures, preExisting);
}

export function namedFaults(
  check: string,
  failures: readonly OutputFailure[],
  preExisting: readonly string[],
): Fault[] {
  const known = new Set(preExisting);
  return failures.map((failure) => {
    const name = nameOf(check, failure);
    const wasRed = known.has(name);
    return { name, finding: findingOf(check, failure, wasRed), preExisting: wasRed, isOpaque: false };
  });
}

function opaque(
  { name, run }: { readonly name: string; readonly run: string },
  ended: ProcessResult,
  known: ReadonlySet<string>,
): Fault {
  const how = ended.signal === null ? `failed with exit code ${ended.exitCode}` : `was ended by ${ended.signal}`;
  const words = lastWords(ended.output);
  const finding = identified({
    severity: known.has(name) ? "info" : "critical",
    category: "check",
    source: name,
    message: `\`${run}\` ${how}${words === "" ? "" : `: ${words}`}`,
  });
  return { name, finding, preExisting: known.has(name), isOpaque: true };
}

function findingOf(
  check: string,
  { test, category, message, detail, file, line }: OutputFailure,
  wasRed: boolean,
): Finding {
  return identified({
    // What was red before is shown, and asks nothing of anybody.
    severity: wasRed ? "info" : "critical",
    category,
    source: check,
    message: test === null ? message : `${test}: ${message}`,
    ...(detail === "" ? {} : { detail }),
    ...(file === null ? {} : { file }),
    ...(line === null ? {} : { line }),
    ...(test === null ? {} : { symbol: test }),
  });
}

/** A test is known by its name, whatever it says; another fault by its place and its words, without the line. */
function nameOf(check: string, { test, file, message }: OutputFailure): string {
  const place = file ?? check;
  return test === null ? `${place}: ${normalisedMessage(message)}` : `${place} > ${test}`;
}

const MOST_WORDS = 400;

/** The last few lines that say something. */
export function lastWords(output: string): string {
  const lines = plainText(output.slice(-8000))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.slice(-5).join(" / ").slice(-MOST_WORDS);
}
