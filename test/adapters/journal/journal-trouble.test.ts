import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createSqliteJournal, openJournalReadOnly } from "../../../src/adapters/journal/sqlite-journal.ts";
import { openSqlite, type SqliteDatabase } from "../../../src/adapters/journal/sqlite.ts";
import { RemandError } from "../../../src/core/events/error.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { A, B, lines, startedEvent } from "../../contract/journal.ts";
import { compileModule } from "../journal-process/compiled.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-trouble-"));
  chmodSync(folder, 0o755);
  file = join(folder, "journal.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function errorOf(work: Promise<unknown>): Promise<RemandError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RemandError)) throw new Error(`not an operating error: ${String(error)}`, { cause: error });
  expect(error.hint).not.toBe("");
  return error;
}

/** Makes a closed journal with this many lines, each of about 500 bytes. */
async function filled(count: number): Promise<void> {
  const journal = await createSqliteJournal(file);
  const events = Array.from({ length: count }, (_, i) => startedEvent(`line ${i} ${"x".repeat(450)}`));
  await journal.append(A, 0, events, 1);
  await journal.close();
}

/** Changes the file in a way that no journal does. */
async function tamper(work: (db: SqliteDatabase) => void): Promise<void> {
  const db = await openSqlite(file, "write");
  work(db);
  db.close();
}

function pages(bytes: Buffer): readonly Buffer[] {
  return Array.from({ length: bytes.length / 4096 }, (_, i) => bytes.subarray(i * 4096, (i + 1) * 4096));
}

/** Expects that the work neither changes the file nor leaves another file beside it. */
async function untouched(work: () => Promise<unknown>): Promise<void> {
  const before = readFileSync(file);
  await work();
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(folder).filter((name) => !/^journal\.db(-wal|-shm)?$/.test(name))).toEqual([]);
}

describe("a full disk", () => {
  test("is reported, keeps acknowledged lines, and writing continues when there is space", async () => {
    const journal = await createSqliteJournal(file, { maxPages: 30 });
    let seq = 0;
    const error = await errorOf(
      (async () => {
        for (; seq < 1000; seq++) await journal.append(A, seq, [startedEvent("x".repeat(2000))], seq);
      })(),
    );
    expect(error.code).toBe("journal-full");
    expect(error.message).toContain(`${file} cannot grow`);
    expect(seq).toBeGreaterThan(5);
    expect(await lines(journal)).toHaveLength(seq);
    expect(await journal.verify()).toMatchObject({ ok: true, head: { position: seq } });
    await journal.close();
    const roomy = await createSqliteJournal(file);
    expect(await roomy.append(A, seq, [startedEvent("fits now")], 1)).toMatchObject({ ok: true });
    expect(await roomy.verify()).toMatchObject({ ok: true, head: { position: seq + 1 } });
    await roomy.close();
  });

  test("affects only the caller whose data does not fit", async () => {
    const journal = await createSqliteJournal(file, { maxPages: 30 });
    const small = journal.append(A, 0, [startedEvent("small")], 1);
    const large = journal.append(B, 0, [startedEvent("x".repeat(1_000_000))], 1);
    const other = journal.append(storyId("C"), 0, [startedEvent("small too")], 1);
    expect((await errorOf(large)).code).toBe("journal-full");
    expect((await small).ok && (await other).ok).toBe(true);
    expect((await lines(journal)).map((line) => line.story)).toEqual(["A", "C"]);
    await journal.close();
  });
});

/** Root needs no user namespace, in which it could not become another user. */
const OWN_MOUNTS = process.getuid?.() === 0 ? "-m" : "-rm";

describe("a read-only location", () => {
  let program: ReturnType<typeof compileModule>;
  beforeAll(() => {
    program = compileModule(new URL("../journal-process/attempt.ts", import.meta.url));
  });
  afterAll(() => program?.remove());
  afterEach(() => chmodSync(folder, 0o755));

  const attempt = (what: string): unknown =>
    JSON.parse(execFileSync(process.execPath, [program.program, file, what], { encoding: "utf8" }));

  test("is reported as read-only, and can still be read", async () => {
    await filled(3);
    chmodSync(file, 0o444);
    chmodSync(folder, 0o555);
    await untouched(async () => {
      expect(attempt("write")).toMatchObject({
        code: "journal-readonly",
        hint: expect.stringContaining("permissions"),
      });
      expect(attempt("read")).toEqual({ lines: 3, ok: true });
    });
    chmodSync(file, 0o644);
    // The file is writable, but no file can be created beside it.
    expect(attempt("write")).toMatchObject({ code: "journal-readonly" });
  });

  test.runIf(spawnSync("unshare", [OWN_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0)(
    "is reported as a read-only disk",
    () => {
      const mounted = `mount -t tmpfs -o ro none "$1" && exec "$2" "$3" "$1/journal.db" write`;
      const args = [OWN_MOUNTS, "sh", "-c", mounted, "sh", folder, process.execPath, program.program];
      expect(JSON.parse(execFileSync("unshare", args, { encoding: "utf8" }))).toMatchObject({
        message: expect.stringMatching(/ cannot be (?:opened|written to): the disk is read-only$/),
        hint: expect.stringContaining("mount this one for writing"),
      });
    },
  );

  test("is reported as read-only when the journal would be created", () => {
    chmodSync(folder, 0o555);
    expect(attempt("write")).toMatchObject({ code: "journal-readonly" });
    expect(attempt("read")).toMatchObject({ code: "file-missing", message: `there is no journal at ${file}` });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a damaged file", () => {
  test("with a changed end is rejected before anything is appended", async () => {
    await filled(200);
    const bytes = readFileSync(file);
    const at = bytes.indexOf("line 199 ");
    bytes.write("LINE", at);
    writeFileSync(file, bytes);
    await untouched(async () => {
      const error = await errorOf(createSqliteJournal(file));
      expect(error.code).toBe("journal-corrupt");
      expect(error.message).toContain("the end of the journal");
    });
    const reader = await openJournalReadOnly(file);
    expect(await lines(reader)).toHaveLength(200);
    expect(await reader.verify()).toMatchObject({ ok: false, position: 200 });
    await reader.close();
  });

  test("with a garbage page names it, and earlier lines are readable", async () => {
    await filled(2000);
    const bytes = readFileSync(file);
    const at = bytes.indexOf("line 1200 ");
    const page = at - (at % 4096);
    bytes.fill(0xa5, page, page + 4096);
    writeFileSync(file, bytes);
    await untouched(async () => {
      const reader = await openJournalReadOnly(file);
      const seen: number[] = [];
      const error = await errorOf(
        (async () => {
          for await (const line of reader.read(0)) seen.push(line.position);
        })(),
      );
      expect(error.code).toBe("journal-corrupt");
      expect(seen.length).toBeGreaterThanOrEqual(1000);
      const verified = await reader.verify();
      expect(verified).toMatchObject({ ok: false });
      expect(!verified.ok && verified.position).toBeGreaterThan(1000);
      expect(!verified.ok && verified.position).toBeLessThanOrEqual(1201);
      await reader.close();
    });
  });

  test.each([
    ["half of it is cut off", () => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ["all of it is cut off", () => truncateSync(file, 0)],
    ["only its first bytes are left", () => truncateSync(file, 50)],
    [
      "its header is overwritten",
      () => writeFileSync(file, Buffer.concat([Buffer.from("garbage!garbage!"), readFileSync(file).subarray(16)])),
    ],
    ["it is some other text", () => writeFileSync(file, "These are notes, not a journal.\n".repeat(500))],
  ])("is rejected and left alone when %s", async (_how, damage) => {
    await filled(300);
    damage();
    await untouched(async () => {
      expect((await errorOf(createSqliteJournal(file))).code).toBe("journal-corrupt");
      expect((await errorOf(openJournalReadOnly(file).then((reader) => lines(reader)))).code).toBe("journal-corrupt");
    });
  });

  test("of another program is rejected and left alone", async () => {
    await tamper((db) => db.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA user_version = 1"));
    await untouched(async () => {
      const error = await errorOf(createSqliteJournal(file));
      expect(error).toMatchObject({
        code: "journal-corrupt",
        message: `${file} is a database, but not a Remand journal`,
      });
    });
  });

  test("that is missing is not created again while its -wal file with the newest lines exists", async () => {
    const journal = await createSqliteJournal(file);
    await journal.append(A, 0, [startedEvent()], 1);
    copyFileSync(`${file}-wal`, join(folder, "kept"));
    await journal.close();
    rmSync(file);
    copyFileSync(join(folder, "kept"), `${file}-wal`);
    expect((await errorOf(createSqliteJournal(file))).message).toContain("is gone, but");
    rmSync(`${file}-wal`);
    await (await createSqliteJournal(file)).close();
  });

  test("that is a folder is no journal", async () => {
    mkdirSync(file);
    expect(await errorOf(createSqliteJournal(file))).toMatchObject({ code: "file-unreadable" });
    writeFileSync(join(folder, "plain"), "");
    expect((await errorOf(createSqliteJournal(join(folder, "plain/journal.db")))).code).toBe("file-unreadable");
  });
});

describe("a newer version", () => {
  test("of the file is rejected and left alone", async () => {
    await filled(3);
    await tamper((db) => db.exec("PRAGMA user_version = 2"));
    await untouched(async () => {
      for (const open of [createSqliteJournal, openJournalReadOnly]) {
        const error = await errorOf(open(file));
        expect(error.code).toBe("journal-newer");
        expect(error.message).toContain("has version 2, and this Remand knows 1");
      }
    });
  });

  test("of a line is rejected", async () => {
    await filled(3);
    await tamper((db) => db.exec("UPDATE line SET v = 2 WHERE position = 2"));
    const reader = await openJournalReadOnly(file);
    expect((await errorOf(lines(reader))).code).toBe("journal-newer");
    await reader.close();
  });
});

describe("verify finds", () => {
  const cases: readonly (readonly [string, string, number, string])[] = [
    [
      "an edited event",
      `UPDATE line SET event = replace(event, 'line 4 ', 'line 5 ') WHERE position = 5`,
      5,
      "not what was written",
    ],
    ["an edited time", "UPDATE line SET at = at + 1 WHERE position = 3", 3, "not what was written"],
    ["an edited hash", `UPDATE line SET hash = '${"0".repeat(64)}' WHERE position = 7`, 7, "not what was written"],
    ["another stream", "UPDATE line SET stream = 'B', seq = 1 WHERE position = 10", 10, "not what was written"],
    ["a lost line", "DELETE FROM line WHERE position = 4", 4, "lines are missing: 3 is followed by 5"],
    ["a lost beginning", "DELETE FROM line WHERE position <= 2", 1, "lines are missing: 0 is followed by 3"],
    [
      "two lines that changed places",
      "UPDATE line SET position = -1, seq = -1 WHERE position = 6; UPDATE line SET position = 6, seq = 6 WHERE position = 7; UPDATE line SET position = 7, seq = 7 WHERE position = -1",
      6,
      "not what was written",
    ],
    ["a gap in a stream", "UPDATE line SET seq = 99 WHERE position = 8", 8, "line 8 of A is missing: found line 99"],
  ];
  test.each(cases)("%s", async (_what, sql, position, problem) => {
    await filled(10);
    await tamper((db) => db.exec(sql));
    const reader = await openJournalReadOnly(file);
    expect(await reader.verify()).toEqual({ ok: false, position, problem: expect.stringContaining(problem) });
    await reader.close();
  });

  test("a truncated end, by the recorded head", async () => {
    await filled(10);
    const before = await openJournalReadOnly(file);
    const head = await before.head();
    await before.close();
    await tamper((db) => db.exec("DELETE FROM line WHERE position > 8"));
    const journal = await createSqliteJournal(file);
    expect(await journal.verify()).toMatchObject({ ok: true });
    const problem = "the end is cut off: 2 lines up to 10 existed once";
    expect(await journal.verify(head)).toEqual({ ok: false, position: 9, problem });
    await journal.close();
  });

  test("an index that lost a line", async () => {
    await filled(10);
    const bytes = readFileSync(file);
    // The index is on the page with the streams' names and no event: change its last entry.
    const page = pages(bytes).findLast((each) => each.includes("A") && !each.includes("line ") && each[0] === 0x0a)!;
    page.write("B", page.indexOf("A"));
    writeFileSync(file, bytes);
    const reader = await openJournalReadOnly(file);
    expect(await reader.verify()).toMatchObject({ ok: false });
    await reader.close();
  });
});

describe("several connections to one file", () => {
  test("see conflicts and lines of each other", async () => {
    const [one, two] = [await createSqliteJournal(file), await createSqliteJournal(file)];
    await one.append(A, 0, [startedEvent("one")], 1);
    expect(await two.append(A, 0, [startedEvent("two")], 1)).toEqual({
      ok: false,
      conflict: { expected: 0, actual: 1 },
    });
    await two.append(A, 1, [startedEvent("two")], 1);
    expect(await lines(one)).toEqual(await lines(two));
    expect(await one.verify()).toMatchObject({ ok: true, head: { position: 2 } });
    await one.close();
    await two.close();
  });

  test("that create it at the same moment create one journal", async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => createSqliteJournal(file)));
    const appended = await Promise.all(all.map((journal) => journal.append(A, 0, [startedEvent()], 1)));
    expect(appended.filter((each) => each.ok)).toHaveLength(1);
    await Promise.all(all.map((journal) => journal.close()));
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
    expect(readFileSync(file).includes("story.started")).toBe(true);
  });

  test("notify watchers of others' lines, even a read-only one", async () => {
    const writer = await createSqliteJournal(file);
    const other = await createSqliteJournal(file);
    const reader = await openJournalReadOnly(file);
    const notices = [vi.fn<() => void>(), vi.fn<() => void>()] as const;
    const stops = [other.watch(notices[0]), reader.watch(notices[1])];
    await writer.append(A, 0, [startedEvent()], 1);
    for (const notice of notices)
      await vi.waitFor(() => expect(notice).toHaveBeenCalled(), { timeout: 20_000, interval: 10 });
    expect(await lines(reader)).toHaveLength(1);
    for (const notice of notices) notice.mockClear();
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const notice of notices) expect(notice).not.toHaveBeenCalled();
    for (const stop of stops) stop();
    await Promise.all([writer.close(), other.close(), reader.close()]);
  });

  test("wait while it is locked, continue when it is free, and report when it never is", async () => {
    const patient = await createSqliteJournal(file, { lockTimeoutMs: 3_600_000 });
    const other = await openSqlite(file, "write");
    other.exec("BEGIN IMMEDIATE");
    const waits = patient.append(A, 0, [startedEvent()], 1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    other.exec("ROLLBACK");
    expect(await waits).toMatchObject({ ok: true });
    await patient.close();
    const journal = await createSqliteJournal(file, { lockTimeoutMs: 400 });
    other.exec("BEGIN IMMEDIATE");
    expect((await errorOf(journal.append(A, 1, [startedEvent()], 1))).code).toBe("journal-locked");
    expect(await lines(journal)).toHaveLength(1);
    other.exec("ROLLBACK");
    expect(await journal.append(A, 1, [startedEvent()], 1)).toMatchObject({ ok: true });
    other.close();
    await journal.close();
  });

  test("do not write to a file that was deleted while in use", async () => {
    const journal = await createSqliteJournal(file);
    await journal.append(A, 0, [startedEvent()], 1);
    rmSync(file);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect((await errorOf(journal.append(A, 1, [startedEvent()], 1))).message).toContain("was moved or deleted");
    await journal.close();
  });

  test("create no file when reading", async () => {
    expect((await errorOf(openJournalReadOnly(file))).code).toBe("file-missing");
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("between two runs", () => {
  test("lines and snapshots are kept", async () => {
    const journal = await createSqliteJournal(file);
    await journal.append(A, 0, [startedEvent()], 1);
    const snapshot = { position: 1, format: "f", parts: [{ name: "a", text: "state", outline: "line" }] };
    await journal.saveSnapshot(snapshot, null);
    const before = await lines(journal);
    await journal.close();
    const again = await createSqliteJournal(file);
    expect(await lines(again)).toEqual(before);
    expect(await again.latestSnapshot("f")).toEqual(snapshot);
    await again.close();
    await again.close();
  });

  test.each([
    ["a part", "UPDATE part SET text = 'other' WHERE name = 'a'"],
    ["an outline", "UPDATE outline SET text = 'other' WHERE name = 'a'"],
    ["a part's name", "UPDATE part SET name = 'c' WHERE name = 'b'"],
    ["its chain", `UPDATE snapshot SET chain = '${"0".repeat(64)}'`],
    ["a lost part", "DELETE FROM part WHERE name = 'b'"],
    ["a lost outline", "DELETE FROM outline WHERE name = 'b'"],
  ])("a snapshot is ignored if it is incomplete: %s", async (_what, sql) => {
    const journal = await createSqliteJournal(file);
    await journal.append(A, 0, [startedEvent("1"), startedEvent("2")], 1);
    const parts = ["a", "b"].map((name) => ({ name, text: `state of ${name}`, outline: `outline of ${name}` }));
    await journal.saveSnapshot({ position: 2, format: "f", parts }, null);
    expect(await journal.latestSnapshot("f")).toEqual({ position: 2, format: "f", parts });
    await tamper((db) => db.exec(sql));
    expect(await journal.latestSnapshot("f")).toBeNull();
    const [outlines, some] = [await journal.latestOutlines("f"), await journal.snapshotParts("f", 2, ["a", "b"])];
    expect(outlines === null || some?.length !== 2).toBe(true);
    await journal.close();
  });

  test("appends that were not awaited are written on close", async () => {
    const journal = await createSqliteJournal(file);
    const pending = Array.from({ length: 50 }, (_, i) => journal.append(storyId(`s${i}`), 0, [startedEvent()], 1));
    await journal.close();
    expect((await Promise.all(pending)).every((each) => each.ok)).toBe(true);
    const again = await createSqliteJournal(file);
    expect(await lines(again)).toHaveLength(50);
    await again.close();
  });

  test("thousands of lines, some large, are read by page", async () => {
    const journal = await createSqliteJournal(file);
    const events = Array.from({ length: 2500 }, (_, i) =>
      startedEvent(i % 500 === 0 ? "x".repeat(5_000_000) : String(i)),
    );
    await journal.append(A, 0, events, 1);
    let next = 1;
    for await (const line of journal.read(0)) expect(line.position).toBe(next++);
    expect(next).toBe(2501);
    await journal.close();
  });
});
