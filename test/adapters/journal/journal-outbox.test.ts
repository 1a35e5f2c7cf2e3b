import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteJournal, type SqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { openSqlite } from "../../../src/adapters/journal/sqlite.ts";
import { A, lines, startedEvent } from "../../contract/journal.ts";

let folder: string;
let journal: SqliteJournal;
const file = (): string => join(folder, "journal.db");
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "remand-outbox-"));
  journal = await createSqliteJournal(file());
});
afterEach(async () => {
  await journal.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the keys that another process finds in the file now, as after a kill. */
async function keysOnDisk(): Promise<string[]> {
  const db = await openSqlite(file(), "read");
  try {
    return (db.prepare("SELECT key FROM outbox ORDER BY key").all() as { key: string }[]).map(({ key }) => key);
  } finally {
    db.close();
  }
}

test("a text is readable, also by another process, until it is dropped", async () => {
  const { outbox } = journal;
  expect(await outbox.get("checkout:3")).toBeNull();
  await outbox.put("checkout:3", "first\nünï");
  await outbox.put("checkout:3", "second\nünï\n");
  await outbox.put("checkout:4", "");
  const other = await createSqliteJournal(file());
  expect(await other.outbox.get("checkout:3")).toBe("second\nünï\n");
  expect(await other.outbox.get("checkout:4")).toBe("");
  await other.close();
  await outbox.drop("checkout:3");
  await outbox.drop("checkout:3");
  expect(await outbox.get("checkout:3")).toBeNull();
  expect(await outbox.get("checkout:4")).toBe("");
});

test("a dropped text leaves the file with the next put, or on close", async () => {
  const { outbox } = journal;
  for (const key of ["a", "b", "c"]) await outbox.put(key, "x");
  await outbox.drop("a");
  expect(await keysOnDisk()).toEqual(["a", "b", "c"]);
  expect(await outbox.get("a")).toBeNull();
  await outbox.put("d", "x");
  expect(await keysOnDisk()).toEqual(["b", "c", "d"]);
  await outbox.drop("b");
  await journal.close();
  expect(await keysOnDisk()).toEqual(["c", "d"]);
});

test("a key that is dropped and put again exists", async () => {
  const { outbox } = journal;
  await outbox.put("a", "first");
  await outbox.drop("a");
  await outbox.put("a", "second");
  await journal.append(A, 0, [startedEvent()], 1);
  expect(await outbox.get("a")).toBe("second");
  const put = outbox.put("a", "third");
  await outbox.drop("a");
  await put;
  expect(await outbox.get("a")).toBeNull();
  expect(await keysOnDisk()).toEqual([]);
});

test("a conflict of one caller's lines does not affect texts put at the same time", async () => {
  const [appended] = await Promise.all([journal.append(A, 5, [startedEvent()], 1), journal.outbox.put("a", "x")]);
  expect(appended.ok).toBe(false);
  expect(await keysOnDisk()).toEqual(["a"]);
  expect(await lines(journal)).toEqual([]);
});

test("a key may be any text, and many at once do not interfere", async () => {
  const { outbox } = journal;
  const keys = ["../../escape", "a\nb", "", "k".repeat(10_000), "'; DROP TABLE outbox; --", "ü"];
  await Promise.all(keys.map((key) => outbox.put(key, `text of ${key}`)));
  for (const key of keys) expect(await outbox.get(key)).toBe(`text of ${key}`);
});

test("a text that cannot be stored is an error, and earlier lines stay", async () => {
  await journal.append(A, 0, [startedEvent()], 1);
  await journal.close();
  const full = await createSqliteJournal(file(), { maxPages: 24 });
  await expect(full.outbox.put("a", "x".repeat(1_000_000))).rejects.toMatchObject({ code: "journal-full" });
  expect(await full.outbox.get("a")).toBeNull();
  expect(await lines(full)).toHaveLength(1);
  await full.close();
});
