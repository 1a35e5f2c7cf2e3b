import { createHash, randomUUID } from "node:crypto";
import type { StoryId } from "../../core/events/ids.ts";
import type { AppendResult, StoredEvent } from "../../ports/journal.ts";
import { FORMAT, storedOf } from "../journal/chain.ts";
import type { Append, Put, Write } from "../journal/group-writer.ts";
import type { PostgresPool } from "./pool.ts";

/** What leaves the outbox with the next commit, because no caller has to wait for that. */
export interface DroppedKeys {
  /** Has the keys so far taken away, and keeps them for later if that fails. */
  sweep<T>(work: (keys: readonly string[]) => Promise<T>): Promise<T>;
}

/**
 * Writes a group with one call of the server. The call may be sent twice when its answer was lost: each append carries
 * a ticket by which the server knows it again.
 */
export function createCommit(
  pool: PostgresPool,
  writer: string,
  dropped: DroppedKeys,
): (group: readonly Write[]) => Promise<AppendResult[]> {
  const text = `SELECT * FROM ${pool.schema}.append_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;
  return async (group) => {
    const appends = group.filter((write): write is Append => !("key" in write));
    const puts = group.filter((write): write is Put => "key" in write);
    const rows = await dropped.sweep((keys) =>
      pool.query<AppendRow>({ name: "append", text, values: [writer, ...valuesOf(appends, puts, keys)] }),
    );
    const outcomes = rows.map((row, i) => outcomeOf(row, appends[i]!));
    let next = 0;
    return group.map((write) => ("key" in write ? { ok: true, stored: [] } : outcomes[next++]!));
  };
}

function valuesOf(appends: readonly Append[], puts: readonly Put[], dropped: readonly string[]): unknown[] {
  return [
    appends.map(() => randomUUID()),
    appends.map(({ stream }) => streamText(stream)),
    appends.map(({ expectedSeq }) => expectedSeq),
    appends.map(({ events }) => events.length),
    appends.map(({ at }) => JSON.stringify(at)),
    appends.flatMap(({ events }) => events.map(({ text }) => text)),
    puts.map(({ key }) => keyId(key)),
    puts.map(({ key }) => key.replaceAll("\0", "\ufffd")),
    puts.map(({ text }) => Buffer.from(text)),
    dropped.map(keyId),
  ];
}

interface AppendRow {
  readonly is_ok: boolean;
  /** Large numbers come as text. */
  readonly actual: string;
  readonly first: string;
  readonly hashes: readonly string[];
}

function outcomeOf({ is_ok, actual, first, hashes }: AppendRow, append: Append): AppendResult {
  const { stream, expectedSeq, events, at } = append;
  if (!is_ok) return { ok: false, conflict: { expected: expectedSeq, actual: Number(actual) } };
  const stored = events.map(({ event }, i): StoredEvent => {
    const [position, seq] = [Number(first) + i, expectedSeq + i + 1];
    return storedOf({ position, stream, seq, at, v: FORMAT, hash: hashes[i]! }, event);
  });
  return { ok: true, stored };
}

const streamText = (stream: StoryId | null): string => stream ?? "";

/** A key may be anything, and an index takes only so much. */
export const keyId = (key: string): string => createHash("sha256").update(key).digest("hex");
