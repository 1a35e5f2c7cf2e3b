import { countText, plural } from "../../stdx/plain-text.ts";
import { RemandError } from "../../core/events/error.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Head } from "../../ports/journal.ts";
import type { EvidenceFile } from "../evidence/evidence-store.ts";
import { START, verifyChain, type Line } from "../journal/chain.ts";
import { asPostgresError } from "./errors.ts";
import type { PostgresPool, Query } from "./pool.ts";
import { createReading, type PostgresReading, keyId } from "./journal-lines.ts";

/** A journal to migrate, in its old store. */
export interface JournalSource {
  readonly head: Head;
  lines(after: number): AsyncIterable<Line>;
  readonly outbox: readonly { readonly key: string; readonly text: string }[];
  onLines(copied: number): void;
  /**
   * Runs the commit while no process can write to the source. Returns `false`, without running it, if the source has
   * new lines.
   */
  seal(commit: () => Promise<void>): Promise<boolean>;
}

/**
 * Copies a journal into the database, lines and hashes unchanged, in one transaction. The chain is verified as the
 * database returns it, before the commit. A database that already has the beginning of the same journal, because an
 * earlier migration was interrupted, gets the rest; one with other lines is rejected.
 */
export async function takeOver(pool: PostgresPool, source: JournalSource): Promise<boolean> {
  const session = await pool.session();
  try {
    const { schema, where } = pool;
    await session.query({ text: "BEGIN" });
    await session.query({ text: `SELECT FROM ${schema}.turn WHERE name = 'append' FOR UPDATE` });
    const reading = createReading({ schema, where, query: session.query });
    const after = await beginning(reading, source, where);
    await copyLines(session.query, schema, after, source);
    await copyOutbox(session.query, schema, source.outbox);
    const verified = await verifyChain(reading.lines(0), source.head);
    if (!verified.ok) {
      const problem = `line ${verified.position}: ${verified.problem}`;
      throw new RemandError("journal-corrupt", `what arrived in ${where} is not what was sent: ${problem}`, NOTHING);
    }
    await session.query({ text: `SELECT pg_notify('remand_${schema}', '')` });
    return await source.seal(async () => void (await session.query({ text: "COMMIT" })));
  } catch (error) {
    throw asPostgresError(error, pool.where);
  } finally {
    await session.end();
  }
}

const NOTHING = "Nothing was changed, here or there.";

/**
 * Returns how many lines of the journal the database already has. An earlier migration may have been interrupted
 * halfway, or after the last line but before the source was marked as moved, and a fleet may have added lines since.
 * Throws if it has other lines.
 */
export async function beginning(
  there: PostgresReading,
  source: Pick<JournalSource, "head" | "lines">,
  where: string,
): Promise<number> {
  const { position, hash } = await there.head();
  if (position === START.position) return 0;
  const common = Math.min(position, source.head.position);
  const theirs = position === common ? hash : await hashAt(there.lines(common - 1));
  const ours = source.head.position === common ? source.head.hash : await hashAt(source.lines(common - 1));
  if (common > 0 && theirs === ours) return common;
  const message = `${where} holds a journal already: ${countText(position, "line")} that ${plural(position, "is", "are")} not this one's`;
  throw new RemandError("usage", message, `${NOTHING} Choose another schema with ?schema=name in the address.`);
}

async function hashAt(lines: AsyncIterable<Line>): Promise<string | null> {
  for await (const { hash } of lines) return hash;
  return null;
}

const PAGE_LINES = 1000;
const PAGE_CHARS = 4_000_000;

async function copyLines(query: Query, schema: string, after: number, source: JournalSource): Promise<void> {
  const text = `INSERT INTO ${schema}.line (position, stream, seq, at, v, event, hash)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::double precision[], $5::integer[], $6::text[], $7::text[])`;
  let page: Line[] = [];
  let chars = 0;
  const write = async (): Promise<void> => {
    if (page.length === 0) return;
    const column = <T>(of: (line: Line) => T): T[] => page.map(of);
    const values = [
      column((line) => line.position),
      column((line) => line.stream ?? ""),
      column((line) => line.seq),
      column((line) => line.at),
      column((line) => line.v),
      column((line) => line.event),
      column((line) => line.hash),
    ];
    await query({ name: "copy-lines", text, values });
    source.onLines(page.at(-1)!.position);
    page = [];
    chars = 0;
  };
  for await (const line of source.lines(after)) {
    // Lines written after the head was read are not part of this copy; `seal` detects them.
    if (line.position > source.head.position) break;
    page.push(line);
    chars += line.event.length;
    if (page.length >= PAGE_LINES || chars > PAGE_CHARS) await write();
  }
  await write();
}

async function copyOutbox(query: Query, schema: string, outbox: JournalSource["outbox"]): Promise<void> {
  const text = `INSERT INTO ${schema}.outbox (id, key, text) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET key = excluded.key, text = excluded.text`;
  for (const { key, text: kept } of outbox)
    await query({ text, values: [keyId(key), key.replaceAll("\0", "\ufffd"), Buffer.from(kept)] });
}

/**
 * Copies evidence, file by file. Safe to repeat, because files are named after their content. It runs before the lines
 * are copied, so that no line names missing evidence. Returns the files whose content does not match their names.
 */
export async function takeOverEvidence(
  pool: PostgresPool,
  files: readonly EvidenceFile[],
  onFiles: (copied: number) => void,
): Promise<readonly EvidenceId[]> {
  const damaged: EvidenceId[] = [];
  for (let from = 0; from < files.length; from += BATCH) {
    const batch = files.slice(from, from + BATCH);
    const rows = await pool.query<{ id: string }>({
      text: `SELECT id FROM ${pool.schema}.evidence WHERE id = ANY ($1)`,
      values: [batch.map(({ id }) => id)],
    });
    const there = new Set(rows.map(({ id }) => id));
    for (const { id, read } of batch) {
      if (there.has(id)) continue;
      const packed = await read();
      if (packed === null) damaged.push(id);
      else {
        const text = `SELECT ${pool.schema}.keep_evidence_1($1, $2)`;
        await pool.query({ name: "copy-evidence", text, values: [id, packed] });
      }
    }
    onFiles(from + batch.length);
  }
  return damaged;
}

const BATCH = 100;
