import { appendFile, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StoryId } from "../../core/events/ids.ts";
import type { OutputLine, OutputPage, OutputPosition } from "../../core/events/output-line.ts";
import type { OutputReader } from "../../ports/evidence.ts";
import { ownRedactor } from "../process/own-secrets.ts";

/** Writes what agents and checks print, for people who watch. */
export interface OutputRing {
  add(story: StoryId, step: string, text: string): void;
  /** Writes what is still in memory. */
  close(): Promise<void>;
}

export interface RingOptions {
  readonly folder: string;
  now(): number;
  /** The size at which a file is closed. The newest two files are kept for readers. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 512 * 1024;
const FLUSH_MS = 80;
const LONGEST_LINE = 4000;
/**
 * The maximum number of lines per story in memory. Beyond it, lines are dropped, so that an agent that prints without
 * end cannot exhaust the engine's memory.
 */
const MOST_WAITING = 5000;
const FILES_KEPT = 2;

interface StoryRing {
  file: number;
  bytes: number;
  waiting: string[];
  dropped: number;
}

const fileOf = (folder: string, story: StoryId, file: number): string => join(folder, story, `${file}.jsonl`);

/**
 * Writes one folder per story with numbered files of JSON lines; the newest two are kept. Writing is best effort: a
 * full disk must not stop an engine, because the evidence of each attempt and gate has the output too.
 */
export function createOutputRing({ folder, now, maxBytes = MAX_BYTES }: RingOptions): OutputRing {
  const rings = new Map<StoryId, StoryRing>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const ringOf = async (story: StoryId): Promise<StoryRing> => {
    const known = rings.get(story)!;
    if (known.file > 0) return known;
    await mkdir(join(folder, story), { recursive: true });
    // After a crash, start a new file: the old one's last line may be cut off.
    known.file = ((await filesIn(folder, story)).at(-1) ?? 0) + 1;
    return known;
  };
  const flush = async (): Promise<void> => {
    timer = null;
    for (const [story, { waiting }] of rings) {
      if (waiting.length === 0) continue;
      const ring = await ringOf(story);
      const lines = ring.waiting.splice(0);
      if (ring.dropped > 0) lines.push(lineText(now(), "", `(${ring.dropped} lines left out)`));
      ring.dropped = 0;
      const text = lines.join("");
      await appendFile(fileOf(folder, story, ring.file), text);
      ring.bytes += Buffer.byteLength(text);
      if (ring.bytes < maxBytes) continue;
      ring.file++;
      ring.bytes = 0;
      await rm(fileOf(folder, story, ring.file - FILES_KEPT), { force: true });
    }
  };
  const flushInTurn = (): void => {
    // A failed write affects only people who watch, so the error is dropped.
    writing = writing.then(flush).catch(() => undefined);
  };

  return {
    add: (story, step, text) => {
      const ring = rings.get(story) ?? { file: 0, bytes: 0, waiting: [], dropped: 0 };
      rings.set(story, ring);
      if (ring.waiting.length >= MOST_WAITING) ring.dropped++;
      else ring.waiting.push(lineText(now(), step, ownRedactor().text(text).slice(0, LONGEST_LINE)));
      timer ??= setTimeout(flushInTurn, FLUSH_MS);
    },
    close: async () => {
      if (timer !== null) clearTimeout(timer);
      flushInTurn();
      await writing;
    },
  };
}

const lineText = (at: number, step: string, text: string): string => `${JSON.stringify({ at, step, text })}\n`;

async function filesIn(folder: string, story: StoryId): Promise<readonly number[]> {
  const names = await readdir(join(folder, story)).catch(() => []);
  return names
    .flatMap((name) => /^(\d{1,9})\.jsonl$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** The maximum number of bytes per read. */
const MOST_READ = 256 * 1024;

export function createOutputReader(folder: string): OutputReader {
  const read = async (story: StoryId, after: OutputPosition | null): Promise<OutputPage> => {
    const files = await filesIn(folder, story);
    const oldest = files[0];
    if (oldest === undefined) return { lines: [], place: after ?? { file: 0, offset: 0 }, hasMore: false };
    const isThere = after !== null && files.includes(after.file);
    const place = isThere ? after : { file: oldest, offset: 0 };
    const text = await textFrom(fileOf(folder, story, place.file), place.offset);
    // The last line may not be complete yet.
    const whole = text.subarray(0, text.lastIndexOf(NEWLINE) + 1);
    const offset = place.offset + whole.byteLength;
    const lines = whole.toString("utf8").split("\n").flatMap(lineIn);
    const next = files.find((file) => file > place.file);
    const isAtEnd = text.byteLength < MOST_READ;
    if (isAtEnd && next !== undefined) return { lines, place: { file: next, offset: 0 }, hasMore: true };
    return { lines, place: { file: place.file, offset }, hasMore: !isAtEnd };
  };
  const newest = async (story: StoryId): Promise<OutputPosition | null> => {
    const file = (await filesIn(folder, story)).at(-1);
    if (file === undefined) return null;
    const size = (await stat(fileOf(folder, story, file)).catch(() => null))?.size ?? 0;
    return { file, offset: Math.max(0, size - LAST_BYTES) };
  };
  return {
    read,
    lastPlace: newest,
    lastLine: async (story) => {
      const place = await newest(story);
      if (place === null) return null;
      const text = await textFrom(fileOf(folder, story, place.file), place.offset);
      return text.toString("utf8").split("\n").flatMap(lineIn).at(-1) ?? null;
    },
  };
}

const NEWLINE = 10;
/** Enough for the longest line. */
const LAST_BYTES = 20_000;

async function textFrom(path: string, offset: number): Promise<Buffer> {
  const handle = await open(path, "r").catch(() => null);
  // The file was removed after the folder was listed.
  if (handle === null) return Buffer.alloc(0);
  try {
    const buffer = Buffer.alloc(MOST_READ);
    const { bytesRead } = await handle.read(buffer, 0, MOST_READ, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function lineIn(text: string): readonly OutputLine[] {
  if (text === "") return [];
  try {
    const { at, step, text: words } = JSON.parse(text) as Record<string, unknown>;
    return [{ at: Number(at), step: String(step), text: String(words) }];
  } catch {
    // Cut off by a crash, or the read started inside the line.
    return [];
  }
}
