import { rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { openSqlite } from "../../../src/adapters/journal/sqlite.ts";
import { openJournal } from "../../../src/compose/journal/open-journal.ts";
import { stateFolder } from "../../../src/compose/state-folder.ts";
import { verifyJournal } from "../../../src/compose/journal/verify-journal.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { A, startedEvent } from "../../contract/journal.ts";

/* Tests what only commits remember of a journal: the clone has no record of its own. */

let repository: TestRepository;
let file: string;
let id: string;
let head: string;
beforeEach(async () => {
  repository = makeRepository();
  file = stateFolder(repository.root).journal;
  const journal = await createSqliteJournal(file);
  await journal.append(A, 0, [startedEvent("one"), startedEvent("two")], 1);
  ({ id } = journal.identity);
  ({ hash: head } = await journal.head());
  await journal.close();
});
afterEach(() => repository.clear());

const GONE = "f".repeat(64);
const verify = () => verifyJournal(repository.root, null, repository.env, () => undefined);
const open = () => openJournal(repository.root, file, { assertMayReplace: () => undefined, onNotice: () => undefined });

/** Commits an attempt with this note. */
function note(text: string): void {
  repository.git("commit", "--quiet", "--allow-empty", "-m", `an attempt\n\nRemand-Journal: ${text}`);
  repository.git("branch", "--force", "remand/a");
}

test("an existing head is no problem", async () => {
  note(`${head} ${id}`);
  expect(await verify()).toMatchObject({ ok: true, position: 2 });
  await (await open()).close();
});

test("a missing head is reported by verify, and makes writers refuse the journal", async () => {
  note(`${GONE} ${id}`);
  expect(await verify()).toMatchObject({ ok: false, problem: expect.stringContaining(`the head ${GONE}`) });
  await expect(open()).rejects.toThrow(/a commit notes the head f+, which is not in it/);
});

test("notes of another journal, or without an id, do not apply to this one", async () => {
  note(`${GONE} ${"0".repeat(32)}`);
  expect(await verify()).toMatchObject({ ok: true });
  note(GONE);
  expect(await verify()).toMatchObject({ ok: true });
});

test("a journal of an older version gets an id when it is opened, stays valid, and owns notes without an id", async () => {
  const db = await openSqlite(file, "write");
  db.exec("DROP TABLE identity; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const journal = await open();
  expect(journal.identity).toMatchObject({ since: 2 });
  expect(await journal.verify()).toMatchObject({ ok: true, head: { position: 2, hash: head } });
  await journal.close();
  expect(await verify()).toMatchObject({ ok: true });
  note(GONE);
  expect(await verify()).toMatchObject({ ok: false });
});

test("a missing file is not intact, and verifying creates nothing", async () => {
  await (await open()).close();
  rmSync(file);
  expect(await verify()).toMatchObject({ ok: false, position: 0, problem: expect.stringContaining("had 2 lines") });
  await expect(open()).rejects.toMatchObject({ code: "journal-lost" });
});
