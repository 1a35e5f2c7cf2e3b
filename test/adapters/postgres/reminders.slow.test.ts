import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSystemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createPostgresJournal, type PostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { openPool, type PostgresPool } from "../../../src/adapters/postgres/pool.ts";
import { migrate } from "../../../src/adapters/postgres/schema.ts";
import { createPostgresNote } from "../../../src/adapters/postgres/turns.ts";
import { createFleetNotifications } from "../../../src/compose/notifications/local-notifications.ts";
import { serve } from "../../../src/compose/serve.ts";
import { createLeadership } from "../../../src/compose/worker/worker-leader.ts";
import type { WorkerParts } from "../../../src/compose/worker/worker-parts.ts";
import { presetPolicy } from "../../../src/config/presets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { openLedger } from "../../../src/engine/ledger.ts";
import { escalateStory } from "../../../src/decide/escalate.ts";
import type { FleetQueue } from "../../../src/ports/queue.ts";
import { story } from "../../kit/story-world.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";
import { writeWaitingQuestion } from "../../kit/waiting-question.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

let db: string;
let root: string;
const open: (() => Promise<void>)[] = [];
beforeEach(async () => {
  db = await server.newDatabase();
  root = mkdtempSync(join(tmpdir(), "remand-reminders-"));
  mkdirSync(join(root, "pages"));
  writeFileSync(join(root, "pages", "index.html"), "<!doctype html>");
  writeFileSync(told(), "");
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  rmSync(root, { recursive: true, force: true });
});

const told = (): string => join(root, "told.txt");
const rings = (): string[] => readFileSync(told(), "utf8").split("\n").filter(Boolean);
const NOTIFY = ['echo "$REMAND_KIND: $REMAND_TITLE" >> told.txt'];

async function connected(): Promise<PostgresPool> {
  const pool = await openPool(db);
  open.push(() => pool.close());
  return pool;
}

/** Writes a question that has waited for two hours. */
async function asked(pool: PostgresPool): Promise<PostgresJournal> {
  const journal = await createPostgresJournal(pool);
  open.push(() => journal.close());
  await writeWaitingQuestion(journal);
  return journal;
}

const served = () =>
  serve(
    root,
    db,
    {
      port: 0,
      readOnly: false,
      by: "ada",
      version: "1",
      redact: [],
      notify: { notify: NOTIFY, env: [] },
      assets: join(root, "pages"),
      health: () => Promise.resolve({ probes: [], config: [] }),
      verify: () => Promise.resolve(null),
    },
    { PATH: process.env["PATH"] },
  );

/** Makes the parts of a leading worker that send reminders. */
async function partsOf(pool: PostgresPool, journal: PostgresJournal): Promise<WorkerParts> {
  const clock = createSystemClock();
  const ledger = await openLedger({ journal, clock, watcher: { onLines: () => undefined, onOutput: () => undefined } });
  const config = { notify: NOTIFY, env: [], redact: [] };
  return {
    root,
    env: { PATH: process.env["PATH"] },
    pool,
    ledger,
    policy: presetPolicy("goal"),
    world: { clock, forge: null, journal },
    plan: { followMs: 60_000, run: { stories: [], config, onNotice: () => undefined }, reread: async () => "same" },
  } as unknown as WorkerParts;
}

const QUEUE = { enqueue: async () => undefined, forget: async () => undefined, claimedJobs: async () => [] };
const ONCE = ["reminder: a still needs you, after 2 h: the same failure again and again"];

describe("a fleet's reminder note", () => {
  test("is kept for later workers, and lets only one of many remind", async () => {
    await (await createPostgresJournal(await connected())).close();
    let given = 0;
    const pools = await Promise.all(Array.from({ length: 6 }, connected));
    const ring = (until: number | null): number | null => {
      if (until !== null && until >= 60) return null;
      given++;
      return 60;
    };
    await Promise.all(pools.map((pool) => createPostgresNote(pool, "reminders").takeTurn(ring)));
    expect(given).toBe(1);
    const seen: (number | null)[] = [];
    await createPostgresNote(pools[0]!, "reminders").takeTurn((until) => (seen.push(until), null));
    expect(seen).toEqual([60]);
  });

  test("is unchanged if a turn fails, and blocks no worker", async () => {
    await (await createPostgresJournal(await connected())).close();
    const [one, other] = [
      createPostgresNote(await connected(), "reminders"),
      createPostgresNote(await connected(), "reminders"),
    ];
    await one.takeTurn(() => 7);
    const failed = one.takeTurn(() => {
      throw new Error("nobody there");
    });
    await expect(failed).rejects.toThrow("nobody there");
    const seen: (number | null)[] = [];
    await other.takeTurn((until) => (seen.push(until), null));
    expect(seen).toEqual([7]);
  });

  test("causes no second reminder if the connection is lost meanwhile", async () => {
    const pool = await connected();
    await (await createPostgresJournal(pool)).close();
    let given = 0;
    /** The first attempt ends after the turn and before its commit; it is repeated on another connection. */
    const lossy: PostgresPool = {
      ...pool,
      transaction: async (work) => {
        const broken = pool.transaction(async (query) => {
          await work(query);
          throw new Error("the cable is out");
        });
        await expect(broken).rejects.toThrow("the cable is out");
        return pool.transaction(work);
      },
    };
    await createPostgresNote(lossy, "reminders").takeTurn(() => {
      given++;
      return 60;
    });
    expect(given).toBe(1);
    const seen: (number | null)[] = [];
    await createPostgresNote(pool, "reminders").takeTurn((until) => (seen.push(until), null));
    expect(seen).toEqual([60]);
  });

  test("is created in older tables", async () => {
    const pool = await connected();
    await migrate(pool, 2);
    await createPostgresNote(pool, "reminders").takeTurn(() => 5);
    expect(await server.sql("SELECT * FROM remand.reminder", db)).toEqual([{ what: "reminders", until: 5 }]);
  });
});

describe("an unanswered question in a fleet's database", () => {
  test("is sent once beside two dashboards and a leading worker; and not again by later ones", async () => {
    const pool = await connected();
    const journal = await asked(pool);
    const leading = createLeadership(await partsOf(pool, journal), QUEUE as unknown as FleetQueue, Promise.resolve());
    leading.turn(true);
    const dashboards = await Promise.all([served(), served()]);
    await expect.poll(rings, { timeout: 60_000 }).toEqual(ONCE);
    for (const dashboard of dashboards) await dashboard.close();
    await leading.close();
    const later = await served();
    await later.close();
    expect(rings()).toEqual(ONCE);
  });

  test("is sent by a leading worker without a dashboard; and not at all without a notify command", async () => {
    const pool = await connected();
    const journal = await asked(pool);
    const parts = await partsOf(pool, journal);
    const silent = await createFleetNotifications({
      ...parts,
      config: { notify: [], env: [], redact: [] },
      journal,
      onNotice: (text) => appendFileSync(told(), text),
    });
    await silent.close();
    expect(rings()).toEqual([]);
    const leading = createLeadership(parts, QUEUE as unknown as FleetQueue, Promise.resolve());
    leading.turn(true);
    await expect.poll(rings, { timeout: 60_000 }).toEqual(ONCE);
    await leading.close();
    expect(existsSync(join(root, ".remand"))).toBe(false);
  });

  test("that is new is sent once by the leading worker; also one from when no worker led", async () => {
    const pool = await connected();
    const journal = await asked(pool);
    const parts = await partsOf(pool, journal);
    const lead = async (until: readonly string[]): Promise<void> => {
      const leading = createLeadership(parts, QUEUE as unknown as FleetQueue, Promise.resolve());
      leading.turn(true);
      await expect.poll(rings, { timeout: 60_000 }).toEqual(until);
      await leading.close();
      expect(rings()).toEqual(until);
    };
    const raise = async (id: string): Promise<string> => {
      const reason = { type: "stall", stall: "same-failure", detail: "the same test fails" } as const;
      await parts.ledger.append(storyId(id), [{ type: "story.added", story: story(id) }]);
      const escalation = escalateStory(parts.ledger.story(storyId(id)), reason, "checks");
      await parts.ledger.append(storyId(id), [{ type: "escalation.raised", escalation }]);
      return `question: ${id} needs you: the same failure again and again`;
    };
    await lead(ONCE);
    const two = [...ONCE, await raise("b")];
    await lead(two);
    const three = [...two, await raise("c")];
    await Promise.all([lead(three), served().then((dashboard) => dashboard.close())]);
    await lead(three);
  });
});
