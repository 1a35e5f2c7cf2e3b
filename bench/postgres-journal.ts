import { join } from "node:path";
import pg from "pg";
import { createPostgresJournal } from "../src/adapters/postgres/journal.ts";
import { readAddress } from "../src/adapters/postgres/pool.ts";
import { storyId } from "../src/core/events/ids.ts";
import type { Journal } from "../src/ports/journal.ts";
import { startPostgres, type PostgresServer } from "../test/kit/fleet/postgres-server.ts";
import { median, type BenchResult } from "./bench-result.ts";
import { glances } from "./postgres/glances.ts";
import { appendLines, countLines, event } from "./journal/lines.ts";

/**
 * The cost of a journaled event in a fleet's database, compared with the minimum: one commit of the same bytes on the
 * same server, which forces its log to the disk. Then the benefit of grouping, and the cost of reading.
 */
export async function run(): Promise<readonly BenchResult[]> {
  const server = await startPostgres({ fsync: true, below: join(process.cwd(), ".build") });
  try {
    return [
      ...(await singleAppends(server)),
      ...(await manyWriters(server)),
      ...(await grouped(server)),
      ...(await readBack(server)),
      ...(await glances(server)),
    ];
  } finally {
    await server.stop();
  }
}

const TURNS = 400;
const WARM_UP = 300;

/**
 * Single appends that wait for their commit, alternating with the floor, so that a slow moment of the disk affects
 * both.
 */
async function singleAppends(server: PostgresServer): Promise<readonly BenchResult[]> {
  const url = `${server.url}?schema=single`;
  const journal = await createPostgresJournal(url);
  const client = new pg.Client({ connectionString: readAddress(url).url });
  await client.connect();
  await client.query("CREATE TABLE bare (id bigserial PRIMARY KEY, text text)");
  const bare = async (i: number): Promise<void> => {
    await client.query({
      name: "bare",
      text: "INSERT INTO bare (text) VALUES ($1)",
      values: [JSON.stringify(event(i))],
    });
  };
  const ours: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < WARM_UP + TURNS; i++) {
    floor.push(await timed(() => bare(i)));
    ours.push(await timed(() => appendLines(journal, "one", i)));
  }
  await client.end();
  await journal.close();
  const [oursMs, floorMs] = [median(ours.slice(WARM_UP)), median(floor.slice(WARM_UP))];
  return [
    {
      name: "postgres journal: one event, waited for",
      value: oursMs,
      unit: "ms",
      ratio: oursMs / floorMs,
      against: `one bare commit (${floorMs.toFixed(2)} ms)`,
      limit: 2,
    },
  ];
}

const WRITERS = 4;
const EACH = 250;

/** Four journals, as with four workers, which take turns at the end of the chain. */
async function manyWriters(server: PostgresServer): Promise<readonly BenchResult[]> {
  const url = `${server.url}?schema=writers`;
  const journals = await Promise.all(Array.from({ length: WRITERS }, () => createPostgresJournal(url)));
  const write = async (journal: Journal, name: string): Promise<void> => {
    for (let i = 0; i < EACH; i++) await appendLines(journal, name, i);
  };
  const aloneMs = await timed(() => write(journals[0]!, "alone"));
  const ms = await timed(async () => {
    await Promise.all(journals.map((journal, i) => write(journal, `writer-${i}`)));
  });
  for (const journal of journals) await journal.close();
  const each = ms / (WRITERS * EACH);
  return [
    {
      name: `postgres journal: ${WRITERS} writers, an event of each at a time`,
      value: each,
      unit: "ms/event",
      ratio: each / (aloneMs / EACH),
      against: `one writer alone (${(aloneMs / EACH).toFixed(2)} ms)`,
      limit: null,
    },
  ];
}

const STORIES = 1000;
const STEPS = 10;

/** A thousand stories at once, ten steps each: every step waits for its own commit, as in the engine. */
async function grouped(server: PostgresServer): Promise<readonly BenchResult[]> {
  const journal = await createPostgresJournal(`${server.url}?schema=grouped`);
  const singleMs = await timed(async () => {
    for (let i = 0; i < 200; i++) await appendLines(journal, "one", i);
  });
  const ms = await timed(async () => {
    await Promise.all(
      Array.from({ length: STORIES }, async (_, story) => {
        for (let step = 0; step < STEPS; step++) await appendLines(journal, `story-${story}`, step);
      }),
    );
  });
  await journal.close();
  const floor = (singleMs / 200) * STORIES * STEPS;
  return [
    {
      name: `postgres journal: ${STORIES} stories × ${STEPS} steps, gathered`,
      value: ms,
      unit: "ms",
      ratio: ms / floor,
      against: `a commit each (${floor.toFixed(0)} ms)`,
      limit: 0.5,
    },
  ];
}

const LINES = 100_000;

async function readBack(server: PostgresServer): Promise<readonly BenchResult[]> {
  const journal = await createPostgresJournal(`${server.url}?schema=long`);
  for (let from = 0; from < LINES; from += 5000) {
    const events = Array.from({ length: 5000 }, (_, i) => event(from + i));
    await journal.append(storyId("long"), from, events, from);
  }
  const client = new pg.Client({ connectionString: readAddress(server.url).url });
  await client.connect();
  const reads: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < 5; round++) {
    floors.push(await timed(() => readBare(client)));
    reads.push(await timed(() => countLines(journal, LINES)));
  }
  await client.end();
  const verifyMs = await timed(async () => {
    const verified = await journal.verify();
    if (!verified.ok) throw new Error(verified.problem);
  });
  await journal.close();
  const [readMs, floorMs] = [median(reads), median(floors)];
  return [
    {
      name: "postgres journal: read 100,000 events",
      value: readMs,
      unit: "ms",
      ratio: readMs / floorMs,
      against: `the same rows by the driver, parsed (${floorMs.toFixed(0)} ms)`,
      limit: 2,
    },
    {
      name: "postgres journal: verify 100,000 events",
      value: verifyMs,
      unit: "ms",
      ratio: verifyMs / readMs,
      against: "reading them",
      limit: null,
    },
  ];
}

/** The minimum: reads the same rows in the same pages, and parses their JSON. */
async function readBare(client: pg.Client): Promise<void> {
  const text =
    "SELECT position, stream, seq, at, v, event, hash FROM long.line WHERE position > $1 ORDER BY position LIMIT 2000";
  let after = 0;
  for (let count = 2000; count === 2000;) {
    const { rows } = await client.query<{ position: string; event: string }>({ name: "bare", text, values: [after] });
    for (const { event } of rows) JSON.parse(event);
    count = rows.length;
    after = Number(rows.at(-1)?.position ?? after);
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
