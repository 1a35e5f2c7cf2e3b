import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { JournalAnchor } from "../../core/events/journal-anchor.ts";
import { readJournalAnchor } from "../../parse/data/journal-anchor.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { findGitFolder } from "../../adapters/git/repository.ts";
import type { JournalIdentity } from "../../adapters/journal/sqlite-file.ts";
import { allowedEnvironment } from "../../adapters/process/environment.ts";
import { runProcess } from "../../adapters/process/run-process.ts";

/** What a clone remembers of its journal, stored in its git directory, so a new clone remembers nothing. */
export interface JournalAnchors {
  read(): Promise<JournalAnchor | null>;
  write(anchor: JournalAnchor): Promise<void>;
}

export async function journalAnchors(root: string): Promise<JournalAnchors> {
  const file = await fileInClone(root, "journal");
  if (file === null) return NOTHING_KEPT;
  return { read: () => read(file), write: (anchor) => writeInClone(file, anchor) };
}

/** A file of the clone's git directory that belongs to this folder of this checkout; `null` outside of a repository. */
export async function fileInClone(root: string, name: string): Promise<string | null> {
  const git = await findGitFolder(root);
  if (git === null) return null;
  const end = git.below === "" ? "" : `-${sha256(git.below).slice(0, 16)}`;
  return join(git.path, "remand", `${name}${end}.json`);
}

/** Outside of a repository there is no git directory to store the record in. */
const NOTHING_KEPT: JournalAnchors = { read: async () => null, write: async () => undefined };

async function read(file: string): Promise<JournalAnchor | null> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw new RemandError("file-unreadable", `Cannot read ${file}: ${error.message}`, "Fix its permissions.");
  });
  if (text === null) return null;
  const anchor = readJournalAnchor(text);
  if (anchor !== null) return anchor;
  throw new RemandError(
    "journal-corrupt",
    `The record of the journal in ${file} was changed: it cannot be read.`,
    "Delete that file to have the journal checked in full and recorded again.",
  );
}

/** Writes the new record to the disk before it replaces the old one: after a crash, one of the two is there. */
export async function writeInClone(file: string, value: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}-${randomBytes(4).toString("hex")}.new`;
  try {
    const handle = await open(beside, "w");
    try {
      await handle.writeFile(`${JSON.stringify(value)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Reads the heads of the journal that commits of attempts name in their trailers. The chain alone cannot show that its
 * end was cut off; a commit with a later head can. Newer commits also name the journal's id: heads of another journal
 * say nothing about this one.
 */
export async function notedHeads(root: string, journal: JournalIdentity | null): Promise<Set<string>> {
  const { exitCode, stdout } = await runProcess({
    command: [
      "git",
      "for-each-ref",
      "--format=%(trailers:key=Remand-Journal,valueonly)",
      "refs/heads/remand",
      "refs/remand",
    ],
    cwd: root,
    env: allowedEnvironment(process.env),
    timeoutMs: 30_000,
    sandbox: null,
  });
  // Without git there are no commits with heads.
  if (exitCode !== 0) return new Set();
  const binds = (id: string | undefined): boolean =>
    journal === null || (id === undefined ? journal.since > 0 : id === journal.id);
  const heads = stdout.split("\n").map((line) => line.trim().split(/\s+/));
  return new Set(heads.flatMap(([hash = "", id]) => (/^[0-9a-f]{64}$/.test(hash) && binds(id) ? [hash] : [])));
}
