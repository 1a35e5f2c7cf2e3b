import { countText } from "../../stdx/plain-text.ts";
import { hash } from "node:crypto";
import { RemandError } from "../../core/events/error.ts";
import type { Event } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { Head, StoredEvent, VerifyResult } from "../../ports/journal.ts";
import { assert } from "../../stdx/assert.ts";
import { canonical } from "../../stdx/canonical-json.ts";
import { ownRedactor } from "../process/own-secrets.ts";

/**
 * A line of a journal, in any store. Lines form a chain of hashes: a line's hash covers the previous hash and the
 * line's canonical JSON, so that any edit, loss or change of order is detected.
 */
export interface Line {
  readonly position: number;
  readonly stream: StoryId | null;
  readonly seq: number;
  readonly at: number;
  readonly v: number;
  /** The event as canonical JSON. Stored as text, because the hash is over exactly these bytes. */
  readonly event: string;
  readonly hash: string;
}

/** The head of an empty journal. */
export const START: Head = { position: 0, hash: "0".repeat(64) };

export const FORMAT = 1;

/** Returns the line that follows `head`. */
export function lineAfter(head: Head, stream: StoryId | null, seq: number, at: number, event: string): Line {
  const line = { position: head.position + 1, stream, seq, at, v: FORMAT, event };
  return { ...line, hash: hashOf(head.hash, line) };
}

/** An event as stored and as read back. Values that JSON drops are missing for the writer too. */
export interface EventText {
  readonly text: string;
  readonly event: Event;
}

/**
 * Serializes an event. Rejects what JSON cannot hold before anything is written, and redacts secrets, so that no
 * journal contains one and no hash covers one. The writer folds the redacted event.
 */
export function keptEvent(event: Event): EventText {
  const { text, value } = canonical(event);
  assert(typeof text === "string", "an event is a JSON object");
  if (!ownRedactor().mayHold(text)) return { text, event: value as Event };
  const clean = canonical(ownRedactor().fields(value));
  return { text: clean.text, event: clean.value as Event };
}

export function storedOf(line: Omit<Line, "event">, event: Event): StoredEvent {
  return { v: FORMAT, at: line.at, story: line.stream, event, position: line.position, seq: line.seq, hash: line.hash };
}

/** Reads a stored line. The event was validated when it was written; a damaged line is an error that names it. */
export function readLine(line: Line, where: string): StoredEvent {
  if (line.v > FORMAT) {
    const message = `line ${line.position} of ${where} has format ${line.v}, and this version reads ${FORMAT}`;
    throw new RemandError("journal-newer", message, "It was written by a newer Remand: use that one, or a newer one.");
  }
  // Where a file was truncated within a page, the rest of the page reads as zeros.
  if (line.v !== FORMAT) throw damagedLine(line, where, "it has no format");
  try {
    return storedOf(line, JSON.parse(line.event) as Event);
  } catch (error) {
    throw damagedLine(line, where, "its event is no JSON", error);
  }
}

function damagedLine({ position }: Line, where: string, what: string, cause?: unknown): RemandError {
  const hint = "Run `remand verify` to see how far it can be trusted, and bring the file back from a backup.";
  return new RemandError("journal-corrupt", `line ${position} of ${where} is damaged: ${what}`, hint, { cause });
}

/** Returns what is wrong with a line that follows `head`; `null` if nothing is. */
export function brokenLink(head: Head, seqBefore: number, line: Line): string | null {
  if (line.position !== head.position + 1) {
    return `lines are missing: ${head.position} is followed by ${line.position}`;
  }
  const stream = line.stream ?? "the project";
  if (line.seq !== seqBefore + 1) return `line ${seqBefore + 1} of ${stream} is missing: found line ${line.seq}`;
  if (line.hash !== hashOf(head.hash, line)) return "the line, or one before it, is not what was written";
  return null;
}

/**
 * Verifies the chain in one pass; memory grows with the number of streams, not of lines. `from`: a verified line, if
 * only the lines after it are given.
 */
export async function verifyChain(
  lines: AsyncIterable<Line> | Iterable<Line>,
  noted: Head | undefined,
  onProgress: (checked: number) => void = () => undefined,
  from: Head = START,
): Promise<VerifyResult> {
  let head: Head = { position: from.position, hash: from.hash };
  const seqs = new Map<StoryId | null, number>();
  // When starting in the middle, the first line of each stream gives the number before it.
  const before = (line: Line): number => (from.position === START.position ? 0 : line.seq - 1);
  for await (const line of lines) {
    const problem = brokenLink(head, seqs.get(line.stream) ?? before(line), line);
    if (problem !== null) return { ok: false, position: head.position + 1, problem };
    if (line.position === noted?.position && line.hash !== noted.hash) return notTheNoted(line.position);
    seqs.set(line.stream, line.seq);
    head = { position: line.position, hash: line.hash };
    if (head.position % PROGRESS_LINES === 0) onProgress(head.position);
  }
  if (noted !== undefined && noted.position > head.position) {
    const missing = noted.position - head.position;
    const problem = `the end is cut off: ${countText(missing, "line")} up to ${noted.position} existed once`;
    return { ok: false, position: head.position + 1, problem };
  }
  if (noted?.position === START.position && noted.hash !== START.hash) return notTheNoted(START.position);
  return { ok: true, head };
}

const PROGRESS_LINES = 10_000;

function notTheNoted(position: number): VerifyResult {
  return { ok: false, position, problem: "the chain is whole but is not the one that was noted: it was rewritten" };
}

/** Builds the line's canonical JSON directly: the keys are in order, and the event is already canonical. */
function hashOf(before: string, { at, event, position, seq, stream, v }: Omit<Line, "hash">): string {
  const json = `{"at":${JSON.stringify(at)},"event":${event},"position":${position},"seq":${seq},"stream":${JSON.stringify(stream)},"v":${v}}`;
  return hash("sha256", before + json, "hex");
}
