/**
 * A journal that was cut, emptied, deleted, changed, rolled back or exchanged is not worked on: `run` and `loop` refuse
 * it, `verify` says so, `status` warns.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { beforeAll, afterAll, beforeEach, describe, expect, test } from "vitest";
import { lineAfter, START, type Line } from "../../../src/adapters/journal/chain.ts";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { openSqlite, type SqliteDatabase } from "../../../src/adapters/journal/sqlite.ts";
import { createHost } from "../../../src/compose/host.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { foldJournal } from "../../../src/engine/fold-journal.ts";
import { createSnapshotSaver } from "../../../src/engine/snapshot.ts";
import type { TestRepository } from "../../kit/git-repository.ts";
import {
  acceptedProject,
  copyOf,
  journalIn,
  loop,
  recordedProject,
  recordFile,
  remand,
  run,
} from "../recorded-project.ts";
import { sample, testInFull } from "../../sampled.ts";

let made: TestRepository;
let root: string;
beforeAll(() => {
  made = recordedProject();
}, 120_000);
afterAll(() => made.clear());
beforeEach(() => {
  root = copyOf(made);
});

async function change(work: (db: SqliteDatabase) => void): Promise<void> {
  const db = await openSqlite(journalIn(root), "write");
  work(db);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
const linesIn = (db: SqliteDatabase): Line[] =>
  (db.prepare("SELECT position, stream, seq, at, v, event, hash FROM line ORDER BY position").all() as Line[]).map(
    (line) => ({ ...line, stream: (line.stream as string) === "" ? null : line.stream }),
  );
/** Writes every line again, with hashes that fit together. */
function rehash(db: SqliteDatabase): void {
  let head = START;
  for (const { position, stream, seq, at, event } of linesIn(db)) {
    const line = lineAfter(head, stream, seq, at, event);
    db.prepare("UPDATE line SET hash = ? WHERE position = ?").run(line.hash, position);
    head = line;
  }
}
const EDIT = "UPDATE line SET at = at + 1 WHERE position = 7";

/** What was done to the file, what every command must say of it, and where a line can be named, which. */
const CHANGES: readonly (readonly [what: string, act: () => Promise<void> | void, says: RegExp])[] = [
  [
    "cut at the end",
    () => change((db) => db.exec("DELETE FROM line WHERE position > 12; DELETE FROM snapshot")),
    /ends at line 12.*line 13/,
  ],
  [
    "cut at the end with its snapshot kept",
    () => change((db) => db.exec("DELETE FROM line WHERE position > 12")),
    /ends at line 12.*line 13/,
  ],
  [
    "an edited line and new hashes",
    () =>
      change((db) => {
        db.exec(EDIT);
        rehash(db);
      }),
    /not the one that was recorded|is not there/,
  ],
  [
    "cut in the middle",
    () => change((db) => db.exec("DELETE FROM line WHERE position BETWEEN 6 AND 8")),
    /[Ll]ine 6\b.*missing/,
  ],
  ["an edited line", () => change((db) => db.exec(EDIT)), /[Ll]ine 7\b/],
  ["emptied of its lines", () => change((db) => db.exec("DELETE FROM line")), /ends at line 0/],
  ["an older copy", () => restore(join(made.home, "older")), /ends at line \d+/],
  ["the journal of another project", () => other(), /not the one that belongs here|is not there/],
];

function restore(folder: string): void {
  rmSync(join(root, ".remand"), { recursive: true });
  cpSync(folder, join(root, ".remand"), { recursive: true });
}
function other(): void {
  const second = acceptedProject();
  try {
    restore(join(second.root, ".remand"));
  } finally {
    second.clear();
  }
}

describe("a journal that was changed", () => {
  test.each(sample(CHANGES, 2))(
    "%s: run refuses it with the way out, verify and status say it",
    { timeout: 120_000 },
    async (_what, act, says) => {
      await act();
      const before = readFileSync(journalIn(root));
      const refused = run(root);
      expect(refused.status, refused.err).toBe(1);
      expect(refused.err).toMatch(says);
      expect(refused.err).toContain("--new-journal");
      expect(readFileSync(journalIn(root)).equals(before)).toBe(true);
      expect(remand(root, "verify")).toMatchObject({ status: 3, out: expect.stringMatching(/^not intact/) });
      expect(remand(root, "status").err).toContain("warning: ");
    },
  );

  test(
    "loop and answer refuse it too; --new-journal keeps the file and records the loss",
    { timeout: 120_000 },
    async () => {
      await change((db) => db.exec(EDIT));
      const said = createHost(process.env).appendEvents(root, storyId("story-0"), [{ type: "story.held", by: "Ada" }]);
      await expect(said).rejects.toThrow(/Line 7 of the journal was changed/);
      const refused = loop(root);
      expect(refused.status, refused.err).toBe(1);
      expect(refused.err).toMatch(/[Ll]ine 7\b/);
      expect(refused.err).toContain("--new-journal");
      const begun = run(root, "--new-journal", "--by", "Ada");
      expect(begun.status, begun.err).toBe(0);
      expect(begun.err).toContain("A new journal begins. Line 7 of the journal was changed");
      const after = remand(root, "verify");
      expect(after.status).toBe(0);
      expect(after.out).not.toContain("intact");
      expect(after.out).toContain("by Ada: Line 7");
      const [kept] = readdirSync(join(root, ".remand")).filter((name) => /^journal-.*\.db$/.test(name));
      expect(after.out).toContain(`.remand/${kept}`);
      // Asked for once: the next run goes on with the new one, and says what is not needed.
      expect(run(root, "--new-journal")).toMatchObject({ status: 0, err: expect.stringContaining("was not needed") });
    },
  );

  testInFull("an empty file: refused, and replaced when that is asked for", { timeout: 120_000 }, () => {
    writeFileSync(journalIn(root), "");
    const refused = run(root);
    expect(refused.status).toBe(1);
    expect(refused.err).toContain("--new-journal");
    expect(loop(root).status).toBe(1);
    expect(remand(root, "verify").out).not.toContain("intact");
    expect(run(root, "--new-journal").status).toBe(0);
    expect(remand(root, "verify").out).toMatch(/^replaced: /);
  });

  test(
    "deleted: run refuses, status warns, verify says so, and loop begins a new one that records it",
    { timeout: 120_000 },
    () => {
      rmSync(journalIn(root));
      const refused = run(root);
      expect(refused.status).toBe(1);
      expect(refused.err).toMatch(/The journal is missing: it had \d+ lines/);
      expect(refused.err).toContain("--new-journal");
      expect(existsSync(journalIn(root))).toBe(false);
      expect(remand(root, "status").err).toContain("warning: The journal is missing");
      const verified = remand(root, "verify");
      expect(verified).toMatchObject({ status: 3, out: expect.stringMatching(/^not intact: The journal is missing/) });
      const looped = loop(root);
      expect(looped.err).toContain("A new journal begins. The journal is missing");
      expect(remand(root, "verify").out).toMatch(/^replaced: [^]*What is known of that one: \d+ lines/);
      // The loss is on record: nothing is missing any more.
      expect(run(root).status).toBe(0);
    },
  );

  testInFull("the whole state folder deleted: the clone remembers", { timeout: 120_000 }, () => {
    rmSync(join(root, ".remand"), { recursive: true });
    expect(run(root)).toMatchObject({ status: 1, err: expect.stringContaining("The journal is missing") });
    expect(run(root, "--new-journal").status).toBe(0);
    expect(remand(root, "verify").out).toMatch(/^replaced: /);
  });

  test(
    "a snapshot that was changed: verify names the story, and run goes by the lines",
    { timeout: 120_000 },
    async () => {
      const opened = await createSqliteJournal(journalIn(root));
      await createSnapshotSaver(opened, null)(await foldJournal(opened));
      await opened.close();
      recordFile(root);
      expect(remand(root, "verify").out).toMatch(/^intact: /);
      await change((db) => {
        const { text } = db.prepare("SELECT text FROM part WHERE name = 'story-0'").get() as { text: string };
        const fake = text.replace('"how":"accepted"', '"how":"abandoned"');
        expect(fake).not.toBe(text);
        db.prepare("UPDATE part SET text = ?, digest = ? WHERE name = 'story-0'").run(
          fake,
          crc32(fake, crc32("story-0")),
        );
      });
      expect(remand(root, "verify")).toMatchObject({ status: 3, out: expect.stringContaining("story-0 differs") });
      expect(run(root, "story-0").status).toBe(0);
      expect(remand(root, "verify").out).toMatch(/^intact: /);
    },
  );

  testInFull("snapshots that were deleted change nothing", { timeout: 120_000 }, async () => {
    await change((db) => db.exec("DELETE FROM snapshot; DELETE FROM part; DELETE FROM outline"));
    expect(run(root).status).toBe(0);
    expect(remand(root, "verify").out).toMatch(/^intact: /);
  });
});
