import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createPostgresEvidence } from "../../../src/adapters/postgres/evidence.ts";
import { type PostgresJournal, createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { type PostgresPool, openPool } from "../../../src/adapters/postgres/pool.ts";
import { command as inbox } from "../../../src/cli/commands/read/inbox.ts";
import { command as log } from "../../../src/cli/commands/read/log.ts";
import { command as status } from "../../../src/cli/commands/read/status.ts";
import { command as stop } from "../../../src/cli/commands/work/stop.ts";
import { command as verify } from "../../../src/cli/commands/read/verify.ts";
import { createHost } from "../../../src/compose/host.ts";
import { stateFolder } from "../../../src/compose/state-folder.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { run } from "../../kit/fake-environment.ts";
import { story } from "../../kit/story-world.ts";
import { type PostgresServer, startPostgres } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let root: string;
let pool: PostgresPool;
let journal: PostgresJournal;
beforeAll(async () => {
  server = await startPostgres();
  root = mkdtempSync(join(tmpdir(), "remand-looking-"));
  pool = await openPool(server.url);
  journal = await createPostgresJournal(pool);
  for (const id of ["first", "second"])
    await journal.append(storyId(id), 0, [{ type: "story.added", story: story(id) }], 1000);
});
afterAll(async () => {
  await journal.close();
  await pool.close();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Waits for a condition, even on a busy machine. */
const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, 60_000);

const host = createHost({});
const around = () => ({ host, cwd: root, isFolder: () => Promise.resolve(true) });

describe("in a folder without a checkout of its own", () => {
  test("status, log, inbox and verify show the database's stories", async () => {
    const told = await run(["status", "--db", server.url], [status], around());
    expect(told.out).toMatch(/^first .*\nsecond /m);
    const logged = await run(["log", "--db", server.url, "--json", "position,story"], [log], around());
    expect(logged.out.trim().split("\n")).toHaveLength(2);
    expect((await run(["inbox"], [inbox], { ...around(), env: { REMAND_DB: server.url } })).exit).toBe(0);
    const checked = await run(["verify", "--db", server.url], [verify], around());
    expect(checked).toMatchObject({ exit: 0, out: expect.stringContaining("intact: 2 lines") });
    expect(readdirSync(root)).toEqual([]);
  });

  test("a person's answer reaches the fleet", async () => {
    const heard = vi.fn<(whose: string) => void>();
    const unwatch = journal.watch(heard);
    await eventually(() => expect(heard).toHaveBeenCalled());
    heard.mockClear();
    await run(["stop", "second", "--db", server.url, "--by", "ann"], [stop], around());
    await eventually(() => expect(heard).toHaveBeenCalledWith("others"));
    unwatch();
    const look = (await host.at(server.url).openView(root))!;
    const told: string[] = [];
    for await (const { event } of look.lines(2)) told.push(event.type);
    expect(told).toEqual(["story.held"]);
    await look.close();
  });

  test("evidence is read from the database", async () => {
    const id = await createPostgresEvidence(pool).keep("printed elsewhere");
    const look = (await host.at(server.url).openView(root))!;
    expect(await look.evidence.read(id)).toBe("printed elsewhere");
    await look.close();
  });

  test("the dashboard shows it too", async () => {
    const assets = mkdtempSync(join(tmpdir(), "remand-pages-"));
    const served = await host.at(server.url).serve(root, {
      port: 0,
      readOnly: true,
      by: "nobody",
      version: "0",
      redact: [],
      assets,
      health: () => Promise.reject(new Error("not asked")),
      verify: () => Promise.resolve(null),
    });
    try {
      const answer = await fetch(`http://127.0.0.1:${served.port}/api/board`, {
        headers: { authorization: `Bearer ${served.token}` },
      });
      expect(await answer.text()).toContain("second");
    } finally {
      await served.close();
      rmSync(assets, { recursive: true, force: true });
    }
  });
});

test("a database without a journal counts as unused, and stays unchanged", async () => {
  const empty = `${server.url}?schema=nobodys`;
  expect(await host.at(empty).readOutline(root)).toBeNull();
  expect(await host.at(empty).openView(root)).toBeNull();
  await expect(host.at(empty).appendEvents(root, null, [])).rejects.toMatchObject({ code: "file-missing" });
  expect(await server.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'nobodys'")).toEqual([]);
  expect(existsSync(stateFolder(root).journal)).toBe(false);
});

test("an unreachable database is an error, without the password", async () => {
  const told = await run(["status", "--db", "postgres://remand:hunter2@127.0.0.1:1/x"], [status], around());
  expect(told).toMatchObject({ exit: 1, err: expect.stringContaining("postgres://127.0.0.1:1/x cannot be reached") });
  expect(told.err).not.toContain("hunter2");
});
