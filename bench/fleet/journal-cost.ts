import pg from "pg";
import { createPostgresEvidence } from "../../src/adapters/postgres/evidence.ts";
import { createPostgresJournal, type PostgresJournal } from "../../src/adapters/postgres/journal.ts";
import { openPool } from "../../src/adapters/postgres/pool.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { foldJournal } from "../../src/engine/fold-journal.ts";
import { createSnapshotSaver } from "../../src/engine/snapshot.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { modelStory, retold } from "./model-story.ts";
import { openFloor } from "./floor.ts";

const TURNS = 300;
const WARM_UP = 300;

/** The cost of the PostgreSQL journal alone, compared with one commit on the same server. */
export async function measureJournal(url: string): Promise<readonly BenchResult[]> {
  const journal = await createPostgresJournal(url);
  try {
    const single = await singleAppends(url, journal);
    const model = await modelStory();
    return [
      ...single,
      await gathered(journal, model, single[0]!.value),
      ...(await sizes(url, journal, model)),
      await fanOut(url, journal),
      ...(await snapshots(url, journal)),
      ...(await evidenceSize(url)),
    ];
  } finally {
    await journal.close();
  }
}

/**
 * Single appends that wait for their commit, alternating with the floor, so that a slow moment of the disk affects
 * both.
 */
async function singleAppends(url: string, journal: PostgresJournal): Promise<readonly BenchResult[]> {
  const floor = await openFloor(url);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < WARM_UP + TURNS; i++) {
    const event: Event = { type: "story.flagged", usualMs: 1000 + i, takenMs: 20_000 + i };
    theirs.push(await timed(() => floor.commit(JSON.stringify(event))));
    ours.push(await timed(async () => insist(await journal.append(storyId("single"), i, [event], i))));
  }
  await floor.close();
  const [oursMs, floorMs] = [median(ours.slice(WARM_UP)), median(theirs.slice(WARM_UP))];
  const against = `one commit (${floorMs.toFixed(2)} ms)`;
  return [
    { name: "fleet: one event, waited for", value: oursMs, unit: "ms", ratio: oursMs / floorMs, against, limit: null },
    { name: "fleet: the floor, one commit", value: floorMs, unit: "ms", ratio: 1, against: "itself", limit: null },
  ];
}

const AT_ONCE = 500;

/** Many stories of one process at once: their events share commits. */
async function gathered(journal: PostgresJournal, model: readonly Event[], singleMs: number): Promise<BenchResult> {
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, i) => {
      const name = `gathered-${i}`;
      for (const [seq, event] of retold(model, name).entries())
        insist(await journal.append(storyId(name), seq, [event], begin));
    }),
  );
  const perSecond = ((AT_ONCE * model.length) / (performance.now() - begin)) * 1000;
  return {
    name: `fleet: events per second, ${AT_ONCE} stories of one process`,
    value: perSecond,
    unit: "/s",
    ratio: perSecond / (1000 / singleMs),
    against: `one by one (${(1000 / singleMs).toFixed(0)}/s)`,
    limit: null,
  };
}

/** Disk space per event on the server, with indexes. */
async function sizes(url: string, journal: PostgresJournal, model: readonly Event[]): Promise<readonly BenchResult[]> {
  const { position } = await journal.head();
  const bytes = await relationBytes(url, ["line"]);
  const perEvent = bytes / position;
  const text = model.reduce((sum, event) => sum + JSON.stringify(event).length, 0) / model.length;
  return [
    {
      name: "fleet: bytes of an event on the disk",
      value: perEvent,
      unit: "B",
      ratio: perEvent / text,
      against: `its JSON (${text.toFixed(0)} B)`,
      limit: null,
    },
    { name: "fleet: events of a story", value: model.length, unit: "", ratio: 1, against: "itself", limit: null },
  ];
}

/** The total size of the tables that hold lines. */
async function relationBytes(url: string, names: readonly string[]): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>(
      `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'remand' AND c.relkind = 'r' AND c.relname = ANY($1)`,
      [names],
    );
    return Number(rows[0]!.bytes);
  } finally {
    await client.end();
  }
}

const LISTENERS = 50;

/** The time until the last of many listeners is notified of a line. */
async function fanOut(url: string, journal: PostgresJournal): Promise<BenchResult> {
  const few = await heardMs(url, journal, 1, "fan-1");
  const many = await heardMs(url, journal, LISTENERS, "fan-many");
  return {
    name: `fleet: ${LISTENERS} workers have heard of a line`,
    value: many,
    unit: "ms",
    ratio: many / few,
    against: `one worker (${few.toFixed(1)} ms)`,
    limit: null,
  };
}

async function heardMs(url: string, journal: PostgresJournal, listeners: number, story: string): Promise<number> {
  const readers = await Promise.all(
    Array.from({ length: listeners }, () => createPostgresJournal(url, { connections: 1 })),
  );
  const times: number[] = [];
  try {
    for (let i = 0; i < 25; i++) {
      const stops: (() => void)[] = [];
      const heard = readers.map(
        (reader) =>
          new Promise<void>((done) =>
            stops.push(
              reader.watch((whose) => {
                if (whose === "others") done();
              }),
            ),
          ),
      );
      if (i === 0) await new Promise((done) => setTimeout(done, 1000));
      times.push(
        await timed(async () => {
          insist(await journal.append(storyId(story), i, [{ type: "story.flagged", usualMs: i, takenMs: i }], i));
          await Promise.all(heard);
        }),
      );
      for (const stop of stops) stop();
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.close()));
  }
  return median(times.slice(5));
}

/** The cost of saving a snapshot after a thousand lines, and of a full one. */
async function snapshots(url: string, journal: PostgresJournal): Promise<readonly BenchResult[]> {
  const model = await modelStory();
  const first = await foldJournal(journal);
  const wholeMs = await timed(() => createSnapshotSaver(journal, first.kept)(first));
  const stories = Math.ceil(1000 / model.length);
  await Promise.all(
    Array.from({ length: stories }, async (_, i) => {
      const name = `snapshot-${i}`;
      insist(await journal.append(storyId(name), 0, retold(model, name), 1));
    }),
  );
  const folded = await foldJournal(journal);
  const partMs = await timed(() => createSnapshotSaver(journal, folded.kept)(folded));
  const bytes = await relationBytes(url, ["snapshot", "part", "outline"]);
  const count = folded.state.stories?.size ?? 1;
  return [
    {
      name: "fleet: a snapshot after 1,000 lines",
      value: partMs,
      unit: "ms",
      ratio: partMs / wholeMs,
      against: `the whole state, ${count} stories (${wholeMs.toFixed(0)} ms)`,
      limit: null,
    },
    {
      name: "fleet: bytes of a story in the snapshot",
      value: bytes / count,
      unit: "B",
      ratio: 1,
      against: "itself",
      limit: null,
    },
  ];
}

/** The stored size of a failed check's output. */
async function evidenceSize(url: string): Promise<readonly BenchResult[]> {
  const pool = await openPool(url);
  try {
    const evidence = createPostgresEvidence(pool);
    const line = (i: number): string =>
      `✖ payments > case ${i}: expected ${i * 7919} calls, saw ${(i * 104_729) % 997} (test/payment-${i % 13}.test.ts:${i})`;
    const texts = Array.from({ length: 200 }, (_, n) =>
      Array.from({ length: 200 }, (_unused, i) => line(n * 200 + i)).join("\n"),
    );
    const ms: number[] = [];
    for (const text of texts) ms.push(await timed(() => evidence.keep(text)));
    const bytes = (await relationBytes(url, ["evidence"])) / texts.length;
    const plain = texts[0]!.length;
    return [
      {
        name: "fleet: bytes of a piece of evidence on the disk",
        value: bytes,
        unit: "B",
        ratio: bytes / plain,
        against: `its text (${plain} B)`,
        limit: null,
      },
      { name: "fleet: keeping it", value: median(ms), unit: "ms", ratio: 1, against: "itself", limit: null },
    ];
  } finally {
    await pool.close();
  }
}

function insist({ ok }: { readonly ok: boolean }): void {
  if (!ok) throw new Error("a conflict although no other process writes");
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
