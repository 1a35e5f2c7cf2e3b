import {
  failureKind,
  failureKinds,
  isBlockingKind,
  matchesTest,
  type BaseFailures,
  type FailureKind,
  type KnownFailure,
} from "../../core/gates/base-failures.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import { withoutNoise } from "../../core/gates/check-output.ts";
import { normalisedMessage, type Finding } from "../../core/gates/finding.ts";
import { plainText } from "../../stdx/plain-text.ts";
import type { OutputFailure } from "../../parse/tests/test-output-parts.ts";
import type { TestOutput } from "../../parse/tests/test-output.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";

/** One fault, with the name that it would also have had before the work. */
export interface CheckFault {
  readonly name: string;
  readonly finding: Finding;
  /** What kind of failure it is for the work. */
  readonly kind: FailureKind;
  /** Whether the output says only that something failed, and not what. */
  readonly isOpaque: boolean;
}

/** Whether the fault keeps the work from passing. */
export const isBlocking = ({ kind }: CheckFault): boolean => isBlockingKind(kind);

/**
 * Returns the faults of a failed command: those that its output names, or one for the whole command with the output's
 * last words.
 */
export function faultsIn(
  command: { readonly name: string; readonly run: string },
  ended: ProcessResult,
  { failures }: Pick<TestOutput, "failures">,
  atBase: BaseFailures,
): CheckFault[] {
  return failures.length === 0 ? [opaque(command, ended, atBase)] : namedFaults(command.name, failures, atBase);
}

export function namedFaults(check: string, failures: readonly OutputFailure[], atBase: BaseFailures): CheckFault[] {
  const kindOf = failureKinds(atBase);
  return failures.map((failure) => {
    const name = nameOf(check, failure);
    const kind = kindOf(name);
    return {
      name,
      finding: explainFailure(findingOf(check, failure, kind), name, kind, atBase),
      kind,
      isOpaque: false,
    };
  });
}

/** Adds the kind of failure to a finding, which the output cannot tell. The finding keeps its identity. */
function explainFailure(finding: Finding, name: string, kind: FailureKind, { known }: BaseFailures): Finding {
  const entry = kind === "known" ? known.find(({ test }) => matchesTest(name, test)) : undefined;
  const words = kindWords(kind, entry);
  if (words === "") return finding;
  const { detail } = finding;
  return { ...finding, detail: detail === undefined ? words : `${words}\n${detail}` };
}

/** The first line of the details of a failed target. */
export const TARGET_WORDS = "A target of this story: it failed before the work, and must pass.";

function kindWords(kind: FailureKind, known: KnownFailure | undefined): string {
  switch (kind) {
    case "target":
      return TARGET_WORDS;
    case "known":
      return `A known failure${known === undefined ? "" : ` (${known.by === undefined ? "" : `${known.by}: `}${known.reason})`}: it is not a part of this work.`;
    case "unrelated":
      return "It failed before the work too, and is not a target of this story.";
    case "flaky":
      return "It passed and failed on the same base, so its failure says nothing about this work.";
    case "new":
      return "";
  }
}

function opaque(
  { name, run }: { readonly name: string; readonly run: string },
  ended: ProcessResult,
  atBase: BaseFailures,
): CheckFault {
  const kind = failureKind(name, atBase);
  const how = ended.signal === null ? `failed with exit code ${ended.exitCode}` : `was ended by ${ended.signal}`;
  const words = lastWords(ended.output);
  const finding = identifyFinding({
    severity: isBlockingKind(kind) ? "critical" : "info",
    category: "check",
    source: name,
    message: `\`${run}\` ${how}${words === "" ? "" : `: ${words}`}`,
  });
  return { name, finding: explainFailure(finding, name, kind, atBase), kind, isOpaque: true };
}

/** Returns the fault of a check that ended in time at the base and hangs with the work. */
export function hangFault(
  { name, run }: { readonly name: string; readonly run: string },
  limitMs: number,
  { output }: ProcessResult,
): CheckFault {
  const words = lastWords(output);
  const finding = identifyFinding({
    severity: "critical",
    category: "check",
    source: name,
    message: `\`${run}\` did not end within its limit of ${secondsOf(limitMs)}`,
    detail: [
      "Before the work began it ended in time.",
      words === "" ? "It printed nothing." : `Its last lines: ${words}`,
    ].join("\n"),
    suggestedFix: "Find what waits forever: a loop, a server or a timer that stays open, input that is never given.",
  });
  return { name: `${name}: does not end`, finding, kind: "new", isOpaque: true };
}

export const secondsOf = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

function findingOf(
  check: string,
  { test, category, message, detail, file, line }: OutputFailure,
  kind: FailureKind,
): Finding {
  return identifyFinding({
    // A failure from before the work that is not a target is shown, and does not block.
    severity: isBlockingKind(kind) ? "critical" : "info",
    category,
    source: check,
    message: test === null ? message : `${test}: ${message}`,
    ...(detail === "" ? {} : { detail }),
    ...(file === null ? {} : { file }),
    ...(line === null ? {} : { line }),
    ...(test === null ? {} : { symbol: test }),
  });
}

/**
 * Returns the name of a failure: for a test its name, whatever its message; otherwise its location and message, without
 * the line.
 */
function nameOf(check: string, { test, file, message }: OutputFailure): string {
  const place = file ?? check;
  return test === null ? `${place}: ${normalisedMessage(message)}` : testName(place, test);
}

/**
 * Returns the name of a test. Some runners report a whole file as a test, by its path on this machine; the name must be
 * the same on every machine.
 */
const testName = (place: string, test: string): string => `${place} > ${test.endsWith(`/${place}`) ? place : test}`;

/** Returns a fault's name from its finding. */
export function faultNameOf({ symbol, category, source, file, message }: Finding): string {
  if (symbol !== undefined) return testName(file ?? source, symbol);
  return category === "check" ? source : `${file ?? source}: ${normalisedMessage(message)}`;
}

const MOST_WORDS = 400;

/** Returns the last few lines with content; only the beginning of a very long line. */
export function lastWords(output: string): string {
  const lines = withoutNoise(plainText(output.slice(-16_000)).split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const last = shortenLine(lines.at(-1) ?? "");
  let words = last;
  for (const line of lines.slice(-5, -1).reverse()) {
    if (line.length + words.length + 3 > MOST_WORDS) break;
    words = `${line} / ${words}`;
  }
  return words;
}

const shortenLine = (line: string): string => (line.length <= MOST_WORDS ? line : `${line.slice(0, MOST_WORDS - 1)}…`);
