import { unknownReading, type Reading } from "../domain/reading.ts";
import { ROLE_OF_SIGNAL, RESULT_OF_SIGNAL, SIGNALS, type ReadingResult, type SignalRole } from "../domain/signal.ts";
import { plainText } from "../stdx/plain-text.ts";
import { plainlyRejects } from "./keywords.ts";
import { areEmpty, mergeParts, noParts, type ReadingParts } from "./reading-parts.ts";
import { readSignalParts } from "./section-parts.ts";
import { judgeSignals } from "./signal-judgement.ts";
import { MOST_LOOKED_AT, scanSignals, type SignalLine } from "./signal-scan.ts";
import { findVerdicts, type FoundVerdict, type FoundVerdicts } from "./verdict-blocks.ts";

export interface Expected {
  /** The story the answer should be about; without it any story's will do. */
  readonly id?: string | undefined;
  /** Whose answer it is; without it every signal may be given. */
  readonly role?: SignalRole | undefined;
}

/**
 * What an agent's last message says: a signal, a verdict as data, a plain rejection in words, or nothing. Whatever
 * could be understood in two ways is unknown; a pass has to be said clearly, once, and without contradiction.
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

/** A signal's sections follow it; where nothing does, they stand before it. */
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

/** A pass beside something that is plainly not one was not meant, or not thought through. What was read stays visible. */
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
