import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRecord } from "../cli/inside.ts";
import { RemandError } from "../domain/error.ts";
import type { Recorded } from "../domain/event.ts";
import { readRecorded } from "../schemas/recorded.ts";
import { isRecord } from "../stdx/is-record.ts";
import { sha256 } from "../stdx/sha256.ts";
import { createNodeFiles } from "../adapters/files/node-files.ts";
import { ensureStateFolder } from "../adapters/git/state-folder.ts";

/** A conversation that was asked about, with everything that happened since a person spoke last. */
export interface HeldSession extends SessionRecord {
  readonly lines: readonly Recorded[];
}

/** The name comes from outside and may hold anything, so the file has another. */
export function sessionFile(state: string, session: string): string {
  return join(state, "hooks", `${sha256(session).slice(0, 24)}.json`);
}

/**
 * `null` where nothing was ever asked. A record that cannot be read is an error and never a fresh start: a
 * conversation whose record breaks each time would be held back for ever.
 */
export async function readSession(file: string): Promise<HeldSession | null> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw broken(file, error.message);
  });
  if (text === null) return null;
  const value = parsed(file, text);
  if (!isRecord(value) || value["schema"] !== "remand.hook/1" || !Array.isArray(value["lines"]))
    throw broken(file, "it is no record of a conversation");
  const lines = value["lines"].map((line) => {
    const read = readRecorded(line);
    if (!read.ok) throw broken(file, read.problem);
    return read.recorded;
  });
  const { session, at, standing, why, blocks, tree } = value;
  if (!isStanding(standing) || typeof blocks !== "number") throw broken(file, "it does not say how it stands");
  return {
    schema: "remand.hook/1",
    session: String(session),
    at: Number(at),
    standing,
    why: String(why),
    blocks,
    tree: String(tree),
    lines,
  };
}

export async function writeSession(state: string, record: HeldSession): Promise<void> {
  await ensureStateFolder(state);
  await createNodeFiles().write(sessionFile(state, record.session), `${JSON.stringify(record)}\n`);
}

const isStanding = (value: unknown): value is SessionRecord["standing"] =>
  value === "begun" || value === "passed" || value === "held" || value === "released";

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(file, (error as Error).message);
  }
}

function broken(file: string, why: string): RemandError {
  return new RemandError("file-unreadable", `${file} cannot be read: ${why}`, "Delete it: the next stop begins anew.");
}
