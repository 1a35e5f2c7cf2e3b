import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createEvidenceStore } from "../../../src/adapters/evidence/evidence-store.ts";
import { takeOwnership } from "../../../src/adapters/journal/ownership.ts";
import {
  createSqliteJournal,
  openJournalReadOnly,
  openSqliteContents,
} from "../../../src/adapters/journal/sqlite-journal.ts";
import { openSqlite } from "../../../src/adapters/journal/sqlite.ts";
import { createPostgresEvidence } from "../../../src/adapters/postgres/evidence.ts";
import { createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { openPool } from "../../../src/adapters/postgres/pool.ts";
import { takeOver } from "../../../src/adapters/postgres/take-over.ts";
import { command as migrateCommand } from "../../../src/cli/commands/serve/migrate.ts";
import { command as status } from "../../../src/cli/commands/read/status.ts";
import { command as verifyCommand } from "../../../src/cli/commands/read/verify.ts";
import { createHost } from "../../../src/compose/host.ts";
import { stateFolder } from "../../../src/compose/state-folder.ts";
import { type EvidenceId, storyId } from "../../../src/core/events/ids.ts";
import type { StoredEvent } from "../../../src/ports/journal.ts";
import { run } from "../../kit/fake-environment.ts";
import { A, lines, startedEvent } from "../../contract/journal.ts";
import { story } from "../../kit/story-world.ts";
import { type PostgresServer, startPostgres } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let root: string;
let file: string;
let url: string;
let local: StoredEvent[];
let printed: EvidenceId;
let count = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "remand-migrate-"));
  const folder = stateFolder(root);
  file = folder.journal;
  url = `${server.url}?schema=moved_${++count}`;
  const journal = await createSqliteJournal(file);
  for (let i = 0; i < 30; i++) {
    const id = storyId(`story-${i}`);
    await journal.append(id, 0, [{ type: "story.added", story: story(id) }, startedEvent("ü€😀\u0000")], 1000.5 + i);
  }
  await journal.append(null, 0, [{ type: "infrastructure.blocked", issue: "x".repeat(100_000) }], 7);
  await journal.outbox.put("story-1:3", "a result ü");
  local = await lines(journal);
  await journal.close();
  printed = await createEvidenceStore(folder.evidence).keep("what was printed");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const host = createHost({});
const plan = (dryRun = false) => ({ to: url, dryRun, onProgress: () => undefined });

async function arrived(): Promise<StoredEvent[]> {
  const journal = await createPostgresJournal(url);
  try {
    return await lines(journal);
  } finally {
    await journal.close();
  }
}

describe("remand migrate", () => {
  test("moves lines with their hashes, evidence and outbox; the file is marked and names the new location", async () => {
    let seconds = 0;
    const told = await run(["migrate", "--to", url], [migrateCommand], {
      host,
      cwd: root,
      now: () => ++seconds * 1000,
    });
    expect(told).toMatchObject({ exit: 0, err: "evidence: 1 of 1\nlines: 61 of 61\n" });
    expect(told.out).toContain(`moved 61 lines, 1 text of evidence and 1 result in the outbox to postgres://127.0.0.1`);
    expect(told.out).not.toContain("s3cret");
    expect(await arrived()).toEqual(local);
    const pool = await openPool(url);
    const journal = await createPostgresJournal(pool);
    expect(await journal.verify(local.at(-1))).toMatchObject({ ok: true });
    expect(await journal.outbox.get("story-1:3")).toBe("a result ü");
    expect(await createPostgresEvidence(pool).read(printed)).toBe("what was printed");
    // Appending continues at the old position.
    expect(await journal.append(storyId("story-1"), 2, [startedEvent("on")], 9)).toMatchObject({ ok: true });
    await journal.close();
    await pool.close();
    for (const open of [createSqliteJournal, openJournalReadOnly])
      await expect(open(file)).rejects.toMatchObject({
        code: "journal-moved",
        message: expect.stringContaining(`was moved to postgres://127.0.0.1:${server.port}/postgres?schema=moved_`),
      });
    const looked = await run(["status"], [status], { host, cwd: root });
    expect(looked).toMatchObject({ exit: 1, err: expect.stringContaining("--db") });
    expect((await run(["status", "--db", url], [status], { host, cwd: root })).out).toContain("story-29");
    await expect(host.appendEvents(root, null, [])).rejects.toMatchObject({ code: "journal-moved" });
    await expect(host.migrate(root, plan())).rejects.toMatchObject({ code: "journal-moved" });
  });

  test("shows what it would do, and changes neither side", async () => {
    const told = await run(["migrate", "--to", url, "--dry-run", "--json"], [migrateCommand], { host, cwd: root });
    expect(JSON.parse(told.out)).toMatchObject({
      schema: "remand.migrate/1",
      dryRun: true,
      lines: 61,
      evidence: 1,
      outbox: 1,
      head: { position: 61, hash: local.at(-1)!.hash },
    });
    expect(await server.sql(`SELECT 1 FROM pg_namespace WHERE nspname = 'moved_${count}'`)).toEqual([]);
    await (await createSqliteJournal(file)).close();
  });

  test("refuses while an engine works", async () => {
    const claim = await takeOwnership(file, "remand run");
    await expect(host.migrate(root, plan())).rejects.toMatchObject({ code: "journal-locked" });
    if ("release" in claim) await claim.release();
    await host.migrate(root, plan());
  });

  test("refuses a database with another journal, even in a dry run", async () => {
    const other = await createPostgresJournal(url);
    await other.append(A, 0, [startedEvent("another")], 1);
    await other.close();
    for (const dryRun of [true, false])
      await expect(host.migrate(root, plan(dryRun))).rejects.toMatchObject({
        code: "usage",
        message: expect.stringContaining("1 line that is not this one's"),
      });
    expect(await arrived()).toHaveLength(1);
    await (await createSqliteJournal(file)).close();
  });

  test("refuses a broken chain", async () => {
    const db = await openSqlite(file, "write");
    db.exec("UPDATE line SET at = at + 1 WHERE position = 5");
    db.close();
    await expect(host.migrate(root, plan())).rejects.toMatchObject({ code: "journal-corrupt" });
    expect(await server.sql(`SELECT 1 FROM pg_namespace WHERE nspname = 'moved_${count}'`)).toEqual([]);
  });

  test("does nothing if another process writes meanwhile; the next run includes those lines", async () => {
    const answer = async (): Promise<void> => {
      const journal = await createSqliteJournal(file);
      await journal.append(storyId("story-3"), 2, [{ type: "story.held", by: "ann" }], 5000);
      await journal.close();
    };
    const answered: Promise<void>[] = [];
    const interfering = { ...plan(), onProgress: () => void (answered.length > 0 || answered.push(answer())) };
    await expect(host.migrate(root, interfering)).rejects.toMatchObject({ code: "journal-locked" });
    await Promise.all(answered);
    expect(await arrived()).toEqual([]);
    expect(await host.migrate(root, plan())).toMatchObject({ lines: 62 });
    expect(await arrived()).toHaveLength(62);
  });
});

describe("after a crash", () => {
  async function interrupted(when: "before the commit" | "after the commit"): Promise<void> {
    const pool = await openPool(url);
    await (await createPostgresJournal(pool)).close();
    const contents = await openSqliteContents(file);
    const crash = new Error("power is gone");
    await expect(
      takeOver(pool, {
        head: contents.head(),
        lines: contents.lines,
        outbox: [],
        onLines: () => undefined,
        seal: async (commit) => {
          if (when === "after the commit") await commit();
          throw crash;
        },
      }),
    ).rejects.toBe(crash);
    contents.close();
    await pool.close();
  }

  test("before the commit nothing is migrated, and the next run migrates everything", async () => {
    await interrupted("before the commit");
    expect(await arrived()).toEqual([]);
    await host.migrate(root, plan());
    expect(await arrived()).toEqual(local);
  });

  test("after the commit only the mark is missing, even if the fleet has appended since", async () => {
    await interrupted("after the commit");
    const journal = await createPostgresJournal(url);
    await journal.append(storyId("story-1"), 2, [startedEvent("on")], 9);
    await journal.close();
    await host.migrate(root, plan());
    expect(await arrived()).toHaveLength(62);
    await expect(createSqliteJournal(file)).rejects.toMatchObject({ code: "journal-moved" });
  });

  test("after the commit, with an answer given locally since, the rest is migrated", async () => {
    await interrupted("after the commit");
    const journal = await createSqliteJournal(file);
    await journal.append(storyId("story-3"), 2, [{ type: "story.held", by: "ann" }], 5000);
    const all = await lines(journal);
    await journal.close();
    await host.migrate(root, plan());
    expect(await arrived()).toEqual(all);
  });
});

describe("heads recorded in commits", () => {
  test("are checked in the fleet's journal after the migration, unless the checkout has its own journal", async () => {
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: root, encoding: "utf8" });
    git("init", "-q", "-b", "main");
    git("commit", "-q", "--allow-empty", "-m", `work\n\nRemand-Journal: ${"f".repeat(64)}`);
    git("branch", "remand/story-1");
    const verify = () => run(["verify", "--db", url], [verifyCommand], { host, cwd: root });
    const another = await createPostgresJournal(`${url}_too`);
    await another.append(A, 0, [startedEvent()], 1);
    await another.close();
    const beside = await run(["verify", "--db", `${url}_too`], [verifyCommand], { host, cwd: root });
    expect(beside.out).toContain("intact: 1 line,");
    await host.migrate(root, plan());
    expect(await verify()).toMatchObject({ exit: 3, out: expect.stringContaining("a commit notes the head ffff") });
  });
});
