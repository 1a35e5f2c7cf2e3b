import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type SessionRecord, readSessionRecord } from "../../app/stop-hook.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";
import { readRecorded } from "../../core/schemas/recorded.ts";
import { isRecord } from "../../stdx/assert.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { createNodeFiles } from "../../adapters/files/node-files.ts";
import { ensureStateFolder } from "../../adapters/git/repository.ts";
import type { EngineJournal, StoredEvent } from "../../ports/journal.ts";

/** A conversation with the journal of its story, which begins when a person speaks. */
export interface HeldSession extends SessionRecord {
  readonly lines: readonly Recorded[];
}

/** The name comes from outside and may hold anything, so the file has another. */
export function sessionFile(state: string, session: string): string {
  return join(state, "hooks", `${sha256(session).slice(0, 24)}.json`);
}

/**
 * `null` where there is no record. A record that cannot be read is an error and never a fresh start: a conversation
 * whose record breaks each time would be sent back forever.
 */
export async function readSession(file: string): Promise<HeldSession | null> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw unreadable(file, error.message);
  });
  if (text === null) return null;
  const value = parseJson(file, text);
  const record = readSessionRecord(value);
  if (record === null || !isRecord(value) || !Array.isArray(value["lines"]))
    throw unreadable(file, "it is no record of a conversation");
  const lines = value["lines"].map((line) => {
    const read = readRecorded(line);
    if (!read.ok) throw unreadable(file, read.problem);
    return read.recorded;
  });
  return { ...record, lines };
}

export async function writeSession(state: string, record: HeldSession): Promise<void> {
  await ensureStateFolder(state);
  await createNodeFiles().write(sessionFile(state, record.session), `${JSON.stringify(record)}\n`);
}

/**
 * The journal of a conversation while its hook runs, with its lines at the end. The record is written once, with the
 * answer: a hook that is killed before that has answered nothing, and the next one starts from the last answer.
 */
export function openHookJournal(recorded: readonly Recorded[]): HookJournal {
  const lines: StoredEvent[] = [];
  const counts = new Map<StoryId | null, number>();
  const store = ({ story, event, at }: Omit<Recorded, "v">): StoredEvent => {
    const seq = (counts.get(story) ?? 0) + 1;
    counts.set(story, seq);
    const line = { v: 1, at, story, event, position: lines.length + 1, seq, hash: "" } as const;
    lines.push(line);
    return line;
  };
  recorded.forEach(store);
  return {
    id: null,
    lines: () => lines.map(({ v, at, story, event }) => ({ v, at, story, event })),
    append: async (story, expected, events, at) => {
      const actual = counts.get(story) ?? 0;
      if (actual !== expected) return { ok: false, conflict: { expected, actual } };
      return { ok: true, stored: events.map((event) => store({ story, event, at })) };
    },
    read: async function* (after) {
      yield* lines.slice(after);
    },
    head: async () => ({ position: lines.length, hash: "" }),
    // Only the hook itself writes, and a conversation is too short for a snapshot.
    watch: () => () => undefined,
    saveSnapshot: async () => false,
    latestSnapshot: async () => null,
    latestOutlines: async () => null,
    snapshotParts: async () => null,
  };
}

interface HookJournal extends EngineJournal {
  lines(): readonly Recorded[];
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(file, (error as Error).message);
  }
}

function unreadable(file: string, why: string): RemandError {
  return new RemandError(
    "file-unreadable",
    `${file} cannot be read: ${why}`,
    "Delete the file; the next stop starts over.",
  );
}
