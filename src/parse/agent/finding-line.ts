import { type ReadFinding, type Reading, unknownReading } from "../../core/stories/reading.ts";
import { type Severity, severityFromWord } from "../../core/gates/finding.ts";
import { isRecord } from "../../stdx/assert.ts";
import { plainText } from "../../stdx/plain-text.ts";

/**
 * Reads one issue from a line of text: `file:line: what is wrong`, with tags for the severity, a column, a range,
 * backticks, or without a line or a file. `details` are the lines below it that belong to it.
 */
export function findingFromLine(
  text: string,
  details: readonly string[] = [],
  severity: Severity | null = null,
): ReadFinding {
  const draft: Draft = { ...EMPTY, severity, rest: text.slice(0, LONGEST).trim() };
  takeTags(draft);
  takePlace(draft);
  takeTags(draft);
  takeEnd(draft);
  for (const line of details) takeDetail(draft, line.slice(0, LONGEST));
  const { rest, ...finding } = draft;
  return { ...finding, message: rest.trim() || text.slice(0, LONGEST).trim() };
}

/** A longer message is cut: it is a log, not a finding. */
const LONGEST = 4000;

type Draft = { -readonly [K in keyof Omit<ReadFinding, "message">]: ReadFinding[K] } & { rest: string };

const EMPTY = {
  severity: null,
  category: null,
  file: null,
  line: null,
  suggestedFix: null,
  criterion: null,
  status: null,
};

/**
 * Reads tags before the text: `[CRITICAL]`, `(major)`, `**Minor**:`, `BLOCKER:`, also `[security]` and `[ADDRESSED]`.
 */
function takeTags(draft: Draft): void {
  for (let tags = 0; tags < 3; tags++) {
    const match = TAG.exec(draft.rest);
    if (match === null) return;
    const [whole, bracketed, ...others] = match;
    const word = (bracketed ?? others.find((other) => other !== undefined) ?? "").replace(/[:*_\s]+$/, "");
    const severity = severityFromWord(word.replace(/\s+(?:issue|severity|priority)$/i, ""));
    if (severity !== undefined) draft.severity = severity;
    else if (STATUS.test(word)) draft.status = word.toUpperCase();
    else if (bracketed !== undefined && /^[a-z][\w -]*$/i.test(word)) draft.category = word;
    else return;
    draft.rest = draft.rest.slice(whole.length);
  }
}

const TAG =
  /^(?:(?:\[([^\]\n]{1,40})\]|\(([^)\n]{1,40})\)|\*\*([^*\n]{1,40})\*\*) ?[:–—-]? ?|(blocker|critical|major|minor|important|suggestion|high|medium|low|nit)(?::| [–—-]) )/i;
const STATUS = /^(?:not |un)?(?:addressed|fixed|resolved)$|^(?:still present|open|new)$/i;

function takePlace(draft: Draft): void {
  const quoted = /^(?:\*\*)?`([^`\n]{1,400})`(?:\*\*)?/.exec(draft.rest);
  const source = quoted === null ? draft.rest : `${quoted[1]}${draft.rest.slice(quoted[0].length)}`;
  const match = WITH_LINE.exec(source) ?? SPELLED_LINE.exec(source);
  if (match !== null && isPath(match[1]!)) {
    draft.file = match[1]!;
    draft.line = lineOf(match[2]);
    draft.rest = source.slice(match[0].length);
    return;
  }
  const bare = WITHOUT_LINE.exec(source);
  if (bare === null || !isPath(bare[1]!)) return;
  draft.file = bare[1]!;
  draft.rest = source.slice(bare[0].length);
}

/**
 * `file:12`, `file:12:7`, `file:12-14`, `file#L12`, also after a drive letter. No other colon is possible, so the
 * pattern does not backtrack.
 */
const WITH_LINE =
  /^(?:\*\*)?((?:[A-Za-z]:(?=[\\/]))?[^:#\n]{1,300})(?::|#)L?(\d{1,9})(?:[-–]L?\d{1,9}|:\d{1,9}(?:-\d{1,9})?)?(?:\*\*)?(?:\s*[:–—-](?=\s|$)|:|(?=\s)|$)\s{0,9}/;
const SPELLED_LINE =
  /^(?:\*\*)?((?:[A-Za-z]:(?=[\\/]))?[^:,(\n]{1,300}?)(?:,| ?\(| ) ?lines? (\d{1,9})(?:[-–]\d{1,9})?\)?(?:\*\*)?\s{0,9}[:–—-]?\s{0,9}/i;
const WITHOUT_LINE = /^(?:\*\*)?((?:[A-Za-z]:(?=[\\/]))?[^:\s]{1,300})(?:\*\*)?(?:: ?| [–—-] |$)/;

/** Whether a text looks like a file and not like the beginning of a sentence. */
function isPath(text: string): boolean {
  if (/\s/.test(text)) return /[\w)\]-]\.[A-Za-z]\w{0,9}$/.test(text) && !/[.!?] /.test(text);
  return /[\\/]/.test(text) || /[\w)\]-]\.[A-Za-z]\w{0,9}$/.test(text) || /^(?:\.\w|[A-Z]\w*file$)/.test(text);
}

/** Reads a status or a fix at the end of the line. */
function takeEnd(draft: Draft): void {
  const status = END_STATUS.exec(draft.rest);
  if (status !== null) {
    draft.status = status[1]!.toUpperCase();
    draft.rest = draft.rest.slice(0, status.index).trimEnd();
  }
  const fix = / (?:suggested fix|fix|recommendation|suggestion): /i.exec(draft.rest);
  if (fix === null) return;
  draft.suggestedFix = draft.rest.slice(fix.index + fix[0].length).trim() || null;
  draft.rest = draft.rest.slice(0, fix.index).replace(/[\s([{–—-]{1,9}$/, "");
}

const END_STATUS = /[-–—([] ?((?:NOT |UN)?(?:ADDRESSED|FIXED|RESOLVED)|STILL PRESENT)[)\]]?\.?$/;

function takeDetail(draft: Draft, line: string): void {
  const match = DETAIL.exec(line);
  const value =
    match === null
      ? ""
      : line
          .slice(match[0].length)
          .replace(/^\*\* ?/, "")
          .trim();
  switch (match?.[1]!.toLowerCase()) {
    case undefined:
      draft.rest = `${draft.rest} ${line.trim()}`.slice(0, LONGEST);
      return;
    case "severity":
      draft.severity = severityFromWord(value) ?? draft.severity;
      return;
    case "category":
      draft.category = value || null;
      return;
    case "file":
      draft.file = value.replaceAll("`", "") || null;
      return;
    case "line":
    case "lines":
      draft.line = lineOf(value);
      return;
    case "criterion":
      draft.criterion = value || null;
      return;
    case "status":
      draft.status = value || null;
      return;
    default:
      draft.suggestedFix = value || null;
  }
}

const DETAIL =
  /^\s{0,99}(?:[-*•+] )?(?:\*\*)?(severity|category|file|lines?|criterion|status|suggested ?fix|fix|suggestion|recommendation)(?:\*\*)? ?: ?/i;

/** The fields of an object from an untrusted source. Readers use own keys only, assume nothing and never throw. */
export type RawFields = Readonly<Record<string, unknown>>;

/** Returns the value of the first of these keys that has one. */
export function pick(fields: RawFields, ...keys: readonly string[]): unknown {
  for (const key of keys) if (Object.hasOwn(fields, key) && fields[key] != null) return fields[key];
  return undefined;
}

/** Returns text with visible characters, as a person sees it; numbers and booleans count as text. */
export function textOf(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return null;
  const text = plainText(value).trim();
  return text === "" ? null : text;
}

/** Returns one text or several; of an object in a list, its first text. */
export function textsOf(value: unknown): readonly string[] {
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap(
    (item) => textOf(isRecord(item) ? Object.values(item).find((v) => textOf(v) !== null) : item) ?? [],
  );
}

export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** Returns a line number from 12, "12", "L12", or the first of "12-14". */
export function lineOf(value: unknown): number | null {
  const digits = /^\s*L?(\d{1,9})\b/i.exec(textOf(value) ?? "")?.[1];
  const line = Number(digits ?? 0);
  return line > 0 ? line : null;
}

/** Builds a record without keys such as `__proto__`, so that copying it is safe. */
export function recordOf(entries: Iterable<readonly [string, string]>): Readonly<Record<string, string>> {
  return Object.fromEntries([...entries].filter(([key]) => !["__proto__", "constructor", "prototype"].includes(key)));
}

/** The parts of a reading beside its verdict: findings, fixes, evidence. */
export type ReadingParts = Omit<Reading, "kind" | "signal" | "id" | "idMatches" | "result" | "problems">;

export function noParts(): ReadingParts {
  const { kind: _k, signal: _s, id: _i, idMatches: _m, result: _r, problems: _p, ...parts } = unknownReading();
  return parts;
}

/** Fills empty parts of the first with parts of the second. */
export function mergeParts(first: ReadingParts, second: ReadingParts): ReadingParts {
  const merged = { ...first } as Record<string, unknown>;
  for (const [key, value] of Object.entries(second)) if (isEmpty(merged[key])) merged[key] = value;
  return merged as unknown as ReadingParts;
}

export const areEmpty = (parts: ReadingParts): boolean => Object.values(parts).every(isEmpty);

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}
