import {
  type Reading,
  unknownReading,
  RESULT_OF_SIGNAL,
  ROLE_OF_SIGNAL,
  type ReadingResult,
  SIGNALS,
  type SignalRole,
} from "../../core/stories/reading.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { type ReadingParts, areEmpty, mergeParts, noParts } from "./finding-line.ts";
import { readSignalParts } from "./sections.ts";
import { MOST_LOOKED_AT, type SignalLine, judgeSignals, scanSignals } from "./signal-scan.ts";
import { type FoundVerdict, type FoundVerdicts, findVerdicts } from "./verdict-blocks.ts";
import { takeFence, watchFences } from "./fences.ts";

export interface Expected {
  /** The story that the answer should be about; absent: any story. */
  readonly id?: string | undefined;
  /** The role that gives the answer; absent: every signal is accepted. */
  readonly role?: SignalRole | undefined;
}

/**
 * Reads an agent's last message: a signal, a verdict as data, a rejection in plain words, or nothing. An ambiguous
 * message is unknown; a pass must be stated clearly, once, and without contradiction.
 */
export function readAgentText(text: string, expected: Expected = {}): Reading {
  const scan = scanSignals(text, expected.id);
  if (scan.flooded)
    return unknownReading(`There are more than ${MOST_LOOKED_AT} fences and signals in the text: that is no answer.`);
  const judged = judgeSignals(scan, expected);
  if (judged.type === "unclear")
    return { ...unknownReading(...judged.problems), id: judged.id, idMatches: judged.idMatches };
  const found = findVerdicts(text);
  if (judged.type === "signal")
    return withoutContradiction(fromSignal(text, judged.line, judged.problems, found, expected));
  if (found.verdicts.length > 0) return withoutContradiction(fromVerdicts(found, judged.problems, expected));
  const problems = [...judged.problems, ...found.unread];
  if (problems.length > 0) return unknownReading(...problems);
  return fromWords(text, expected);
}

function fromSignal(
  text: string,
  line: SignalLine,
  problems: readonly string[],
  found: FoundVerdicts,
  expected: Expected,
): Reading {
  const result = RESULT_OF_SIGNAL[line.signal];
  const other = found.verdicts.find((verdict) => verdict.result !== result);
  if (other !== undefined) {
    return unknownReading(`The signal ${line.signal} and the verdict in the data ("${other.result}") disagree.`);
  }
  const around = partsAround(text, line);
  const verdict = found.verdicts.at(-1);
  const parts = verdict === undefined ? around.parts : mergeParts(around.parts, verdict.parts());
  return {
    ...parts,
    kind: "signal",
    signal: line.signal,
    id: line.id,
    idMatches: expected.id === undefined ? null : line.id === expected.id,
    result,
    problems: [...problems, ...around.problems],
  };
}

/** Reads the sections after a signal or, if there are none, before it. */
function partsAround(text: string, line: SignalLine): { parts: ReadingParts; problems: readonly string[] } {
  const after = text.slice(line.end, line.end + LONGEST_SECTIONS);
  const cut = (left: number): readonly string[] =>
    left > LONGEST_SECTIONS ? [`Only ${LONGEST_SECTIONS} of ${left} characters around the signal were read.`] : [];
  const read = readSignalParts(plainText(after), line.signal);
  if (!areEmpty(read.parts) || read.problems.length > 0)
    return { ...read, problems: [...read.problems, ...cut(text.length - line.end)] };
  const before = text.slice(Math.max(line.since, line.start - LONGEST_SECTIONS), line.start);
  const earlier = readSignalParts(plainText(before), line.signal);
  return {
    ...earlier,
    problems: [...earlier.problems, ...cut(Math.max(line.start - line.since, text.length - line.end))],
  };
}

const LONGEST_SECTIONS = 256 * 1024;

function fromVerdicts(found: FoundVerdicts, problems: readonly string[], expected: Expected): Reading {
  const last = found.verdicts.at(-1)!;
  const foreign = found.verdicts.find(({ id }) => id !== null && expected.id !== undefined && id !== expected.id);
  if (foreign !== undefined) {
    const problem = `The verdict is about "${foreign.id!.slice(0, 100)}", not about "${expected.id}".`;
    return { ...unknownReading(...problems, problem), id: foreign.id, idMatches: false };
  }
  const unclear = whyUnclear(found, last, problems, expected.role);
  if (unclear.length > 0) return unknownReading(...problems, ...unclear);
  return {
    ...last.parts(),
    kind: "verdict",
    signal: null,
    id: last.id,
    idMatches: expected.id === undefined || last.id === null ? null : true,
    result: last.result,
    problems: [...problems, ...found.unread],
  };
}

function whyUnclear(
  found: FoundVerdicts,
  last: FoundVerdict,
  problems: readonly string[],
  role: SignalRole | undefined,
): readonly string[] {
  const odd = found.verdicts.find(({ result }) => result === "unknown");
  if (odd !== undefined) return [odd.problem ?? "The verdict says neither pass nor fail."];
  const other = found.verdicts.find(({ result }) => result !== last.result);
  if (other !== undefined) return [`Two verdicts disagree: "${other.result}" and "${last.result}".`];
  if (role !== undefined && !MAY_SAY[role].includes(last.result)) {
    return [`A ${role} cannot say "${last.result}".`];
  }
  if (last.result !== "pass" && last.result !== "ready") return [];
  if (!last.isLast)
    return [`The verdict "${last.result}" counts only as the last thing in the message, and more follows it.`];
  if (last.cut) return [`The verdict "${last.result}" is cut off: its end may have said more.`];
  if (problems.length > 0) return [`The verdict "${last.result}" stands beside a signal that could not be read.`];
  return found.unread;
}

const MAY_SAY: Readonly<Record<SignalRole, readonly ReadingResult[]>> = {
  developer: resultsOf("developer"),
  critic: resultsOf("critic"),
  auditor: resultsOf("auditor"),
};

function resultsOf(role: SignalRole): readonly ReadingResult[] {
  return SIGNALS.filter((signal) => ROLE_OF_SIGNAL[signal] === role).map((signal) => RESULT_OF_SIGNAL[signal]);
}

function fromWords(text: string, { role }: Expected): Reading {
  const mentioned = SIGNALS.find((name) => text.includes(name));
  if (mentioned !== undefined) {
    return unknownReading(
      `${mentioned} is mentioned, but not as a signal: at the start of a line, outside code and quotes.`,
    );
  }
  const tail = plainText(text.slice(-LONGEST_PROSE));
  const cut = text.length > LONGEST_PROSE ? [`Only its last ${LONGEST_PROSE} characters were searched for words.`] : [];
  if (role === "developer" || !plainlyRejects(tail)) {
    return unknownReading("The text holds no signal and no verdict.", ...cut);
  }
  return {
    ...noParts(),
    ...readSignalParts(tail, null).parts,
    kind: "verdict",
    signal: null,
    id: null,
    idMatches: null,
    result: "fail",
    problems: ["There is no signal and no verdict as data; it was read as a rejection by its words.", ...cut],
  };
}

const LONGEST_PROSE = 64 * 1024;

/** Makes a pass unknown if something else in the reading clearly contradicts it. What was read stays visible. */
function withoutContradiction(reading: Reading): Reading {
  if (reading.result !== "pass") return reading;
  const severe = reading.findings.find(({ severity }) => severity === "blocker" || severity === "critical");
  const unmet = reading.verification.find(({ status }) => status === "failed");
  const broken = reading.commands.find(({ result }) => /^(?:fail|error)|^exit (?!0\b)/i.test(result));
  const problem =
    severe !== undefined
      ? `It says pass, and lists a ${severe.severity} finding: ${severe.message.slice(0, 200)}`
      : unmet !== undefined
        ? `It says pass, and a criterion failed: ${unmet.criterion.slice(0, 200)}`
        : broken !== undefined
          ? `It says pass, and a command did not: ${broken.command.slice(0, 200)} (${broken.result.slice(0, 100)})`
          : null;
  if (problem === null) return reading;
  return { ...reading, kind: "unknown", signal: null, result: "unknown", problems: [...reading.problems, problem] };
}

/**
 * Whether a review without a signal and without data (S4.41) clearly rejects the work: words of rejection that nothing
 * negates, and no words of approval. Such a review cannot approve.
 */
export function plainlyRejects(text: string): boolean {
  const prose = ownProse(text).toLowerCase();
  // "Not approved" is not approval, so words of rejection are removed before the search for approval.
  if (APPROVAL.test(prose.replace(REJECTION, ""))) return false;
  for (const match of prose.matchAll(REJECTION)) {
    // The text before it in the same sentence may negate it.
    const before = prose
      .slice(Math.max(0, match.index - 60), match.index)
      .split(/[.!?;\n]/)
      .at(-1)!;
    if (!TAKEN_BACK.test(before)) return true;
  }
  return false;
}

const REJECTION = new RegExp(
  String.raw`\b(?:${[
    "(?:changes|revision|rework) (?:required|requested|needed)",
    "needs (?:revision|rework|changes|more work)",
    "not (?:approved|accepted)",
    "(?:cannot|can't|can not|do not|don't|won't) (?:approve|accept)",
    "reject(?:ed|ing)?",
    String.raw`(?:review|audit|verdict|decision|result|status)(?: is| was| has)?[\s:*_]{1,6}fail(?:ed|s)?`,
    "does not pass",
    "must be fixed before",
    "blocking (?:issue|problem|finding)s?",
  ].join("|")})\b`,
  "g",
);
const APPROVAL = /\b(?:lgtm|looks good|approve[ds]?|passes (?:the )?review|ready to merge|accepted)\b/;
const TAKEN_BACK =
  /\b(?:no|not|never|without|nothing|zero|none|isn't|wasn't|aren't|weren't|doesn't|didn't|if|unless|would|could|might|may|previously|earlier)\b[^,]*$/;

/** Returns the agent's own prose, without code and quotations. */
function ownProse(text: string): string {
  const fences = watchFences();
  const lines = text.split("\n").filter((line) => {
    const isMark = line.trim() !== "" && takeFence(fences, line);
    return !isMark && fences.outside && !/^(?: {0,3}>| {4}|\t)/.test(line);
  });
  return lines.join("\n");
}
