import { STORY_ID_PATTERN } from "../../core/events/ids.ts";
import { RESULT_OF_SIGNAL, ROLE_OF_SIGNAL, SIGNALS, type Signal, type SignalRole } from "../../core/stories/reading.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { LONGEST_LINE, findNotableLines, nextLine, nextOutdentedLine } from "./notable-lines.ts";
import { type FenceMark, fenceMarkOf, takeFence, watchFences } from "./fences.ts";

/** A line that begins with a signal's name, outside fences. */
export interface SignalLine {
  readonly signal: Signal;
  /** `null` if the line does not have the form "name, colon, space, id". */
  readonly id: string | null;
  /** The line as it was written, shortened. */
  readonly shown: string;
  /** Where the line ends. If it occurs several times, the end of the last one. */
  readonly end: number;
  /** Where the text before the line begins (after the previous signal) and ends. */
  readonly since: number;
  readonly start: number;
}

/**
 * The signals of a text. At most one line is kept per signal and map, so a text of a million signals needs no more
 * memory than one of eight.
 */
export interface SignalScan {
  /** For the expected story (or, if none is, the first story named): the last line of each signal. */
  readonly own: ReadonlyMap<Signal, SignalLine>;
  /** For other stories: the first line of each signal. */
  readonly foreign: ReadonlyMap<Signal, SignalLine>;
  /** Without a readable form: the first line of each signal. */
  readonly malformed: ReadonlyMap<Signal, SignalLine>;
  /** The text has more fences and signals than a real message; the rest was not read. */
  readonly flooded: boolean;
}

/** Finds the signals of a text. Fences are followed only if the text contains a signal. */
export function scanSignals(text: string, expected: string | undefined): SignalScan {
  const found: ScanState = {
    id: expected,
    since: 0,
    own: new Map(),
    foreign: new Map(),
    malformed: new Map(),
    flooded: false,
  };
  const lines = findNotableLines(text);
  const fences = watchFences();
  const read = lineReader(expected);
  let looked = 0;
  for (let at = lines.none ? text.length : 0; at < text.length;) {
    if (++looked > MOST_LOOKED_AT) return { ...found, flooded: true };
    const start = fences.endsWithItem ? nextOutdentedLine(text, at) : lines.next(at);
    if (start >= text.length) break;
    const end = nextLine(text, start);
    const line = read(text, start, end);
    at = endOfRun(text, start, end);
    if (line.tooLong && /^\s*(?:```|~~~)/.test(line.plain)) fences.shut = true;
    const isMark = takeFence(fences, line.plain, line.mark);
    // A second equal fence reverses the first, so of a run of equal lines only odd or even matters.
    if (isMark && ((at - end) / (end - start)) % 2 === 1) takeFence(fences, line.plain, line.mark);
    if (!isMark && fences.outside && line.signal !== undefined) note(found, text, line.signal, line, start, at);
  }
  return found;
}

/**
 * The most lines that may be a fence or a signal; a run of equal lines counts once. A text with more is not an answer.
 */
export const MOST_LOOKED_AT = 50_000;

interface ScanState {
  readonly flooded: boolean;
  id: string | undefined;
  since: number;
  readonly own: Map<Signal, SignalLine>;
  readonly foreign: Map<Signal, SignalLine>;
  readonly malformed: Map<Signal, SignalLine>;
}

function note(
  found: ScanState,
  text: string,
  signal: Signal,
  { plain, id }: ReadLine,
  start: number,
  end: number,
): void {
  found.id ??= id ?? undefined;
  const since = found.since;
  found.since = end;
  const lines = id === null ? found.malformed : id === found.id ? found.own : found.foreign;
  const prior = lines.get(signal);
  if (prior !== undefined && lines !== found.own) return;
  const isRepeated = prior !== undefined && prior.end === since && isBlank(text, since, start);
  // Deleted first, so that the keys are in the order of the last occurrences.
  lines.delete(signal);
  lines.set(signal, {
    signal,
    id,
    shown: prior?.shown ?? plain.trimEnd().slice(0, 80),
    end,
    since: isRepeated ? prior.since : since,
    start: isRepeated ? prior.start : start,
  });
}

interface ReadLine {
  readonly plain: string;
  readonly tooLong: boolean;
  readonly mark: FenceMark | null;
  readonly signal: Signal | undefined;
  readonly id: string | null;
}

/** Returns a reader of lines that caches short ones: a long text full of signals has few different lines. */
function lineReader(expected: string | undefined): (text: string, start: number, end: number) => ReadLine {
  const known = new Map<string, ReadLine>();
  return (text, start, end) => {
    const tooLong = end - start > LONGEST_LINE;
    const raw = text.slice(start, tooLong ? start + LONGEST_LINE : end);
    const before = known.get(raw);
    if (before !== undefined) return before;
    const plain = plainLine(raw);
    const signal = tooLong ? undefined : nameAt(plain);
    const token = signal === undefined ? undefined : SIGNAL_REST.exec(plain.slice(signal.length))?.[1];
    const isId = token !== undefined && (token === expected || STORY_ID_PATTERN.test(token));
    const line = { plain, tooLong, mark: fenceMarkOf(plain), signal, id: isId ? token : null };
    if (known.size < MOST_KNOWN && raw.length < 200) known.set(raw, line);
    return line;
  };
}

const MOST_KNOWN = 64;

const LF = 10;
const SIGNAL_REST = /^:[ \t]+(\S+)[ \t]*$/;

function nameAt(line: string): Signal | undefined {
  return SIGNALS.find((name) => line.startsWith(name) && !/^\w/.test(line.slice(name.length)));
}

/**
 * Returns the end of a run of equal lines. A stretch repeats the previous line if it equals the text one line earlier.
 * Long stretches are compared at once: the length doubles after each match, and halves after a mismatch.
 */
function endOfRun(text: string, start: number, end: number): number {
  const length = end - start;
  if (text.charCodeAt(end - 1) !== LF) return end;
  let at = end;
  for (let step = length; step >= length;) {
    if (at + step <= text.length && text.slice(at, at + step) === text.slice(at - length, at + step - length)) {
      at += step;
      step *= 2;
    } else step = step === length ? 0 : Math.floor(step / 2 / length) * length;
  }
  return at;
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) > 32) return false;
  return true;
}

/** Returns a line as a person sees it. A carriage return is removed and does not start a new line. */
function plainLine(raw: string): string {
  return plainText(raw.replaceAll("\r", "")).replaceAll("\n", "");
}

/** The meaning of all signals of a text together. */
export type SignalJudgement =
  | { readonly type: "none"; readonly problems: readonly string[] }
  | { readonly type: "signal"; readonly line: SignalLine; readonly problems: readonly string[] }
  | {
      readonly type: "unclear";
      readonly id: string | null;
      readonly idMatches: boolean | null;
      readonly problems: readonly string[];
    };

/**
 * Judges the signals of a text. One signal, for this story and of this role, counts. Two different signals do not,
 * except that `INFRA_BLOCKED` counts beside any other. Lines for other stories and unreadable lines are ignored, except
 * that they contradict a pass if they name another signal.
 */
export function judgeSignals(
  { own, foreign, malformed }: SignalScan,
  { id, role }: { readonly id?: string | undefined; readonly role?: SignalRole | undefined },
): SignalJudgement {
  const odd = [
    ...[...foreign.values()].map((line) => foreignProblem(line, id)),
    ...[...malformed.values()].map(malformedProblem),
  ];
  const lines = [...own.values()];
  if (lines.length === 0) {
    const other = [...foreign.values()][0];
    if (other !== undefined) return { type: "unclear", id: other.id, idMatches: false, problems: odd };
    return { type: "none", problems: odd };
  }
  const unclear = (...problems: readonly string[]): SignalJudgement => {
    return {
      type: "unclear",
      id: lines[0]!.id,
      idMatches: id === undefined ? null : true,
      problems: [...problems, ...odd],
    };
  };
  if (id === undefined && foreign.size > 0) return unclear("There are signals for more than one story.");
  const allowed = lines.filter(({ signal }) => role === undefined || ROLE_OF_SIGNAL[signal] === role);
  const blocked = allowed.filter(({ signal }) => RESULT_OF_SIGNAL[signal] === "blocked").at(-1);
  if (blocked !== undefined) return { type: "signal", line: blocked, problems: [...besides(blocked, lines), ...odd] };
  if (lines.length > 1)
    return unclear(`There are different signals: ${lines.map(({ signal }) => signal).join(" and ")}.`);
  const line = allowed[0];
  if (line === undefined) return unclear(`${lines[0]!.signal} is not a ${role}'s signal to give.`);
  const result = RESULT_OF_SIGNAL[line.signal];
  const against = [...foreign.keys(), ...malformed.keys()].some((signal) => RESULT_OF_SIGNAL[signal] !== result);
  if (against && (result === "pass" || result === "ready")) {
    return unclear(`${line.signal} contradicts another signal in the message.`);
  }
  return { type: "signal", line, problems: odd };
}

function besides(blocked: SignalLine, lines: readonly SignalLine[]): readonly string[] {
  const others: readonly Signal[] = lines.filter((line) => line !== blocked).map(({ signal }) => signal);
  return others.length === 0 ? [] : [`${others.join(" and ")} beside ${blocked.signal} was set aside.`];
}

function foreignProblem(line: SignalLine, id: string | undefined): string {
  return `${line.signal} is for "${line.id}"${id === undefined ? "" : `, not for "${id}"`}.`;
}

function malformedProblem(line: SignalLine): string {
  return `"${line.shown}" is not a signal: it should be "${line.signal}: <story>" and nothing else on the line.`;
}
