import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createPostgresJournal } from "../../src/adapters/postgres/journal.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { foldJournal } from "../../src/engine/fold-journal.ts";
import { openLedger } from "../../src/engine/ledger.ts";
import { createSnapshotSaver } from "../../src/engine/snapshot.ts";
import { decide } from "../../src/decide/decide.ts";
import { instantPolicy, instantStory, instantWorld } from "../engine/instant-world.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { modelStory, retold } from "./model-story.ts";

/** The built program; this file itself runs from `.build/bench/fleet`. */
const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const FEW = 1000;
const MANY = 100_000;

/**
 * A hundred thousand stories, most of them ended, compared with a thousand: the cost of the next decision and of a
 * status.
 */
export async function measureLongJournal(newDatabase: () => Promise<string>): Promise<readonly BenchResult[]> {
  const few = await measured(await newDatabase(), FEW);
  const many = await measured(await newDatabase(), MANY);
  const row = (name: string, of: keyof typeof few, unit: string, limit: number | null): BenchResult => ({
    name: `fleet: ${name}, ${MANY.toLocaleString("en")} stories`,
    value: many[of],
    unit,
    ratio: many[of] / few[of],
    against: `${FEW.toLocaleString("en")} stories (${few[of].toPrecision(3)} ${unit})`,
    limit,
  });
  return [
    row("from a line to the next decision", "decisionMs", "ms", 2),
    row("deciding alone", "decideMs", "ms", 2),
    row("remand status --db", "statusMs", "ms", 2),
    row("a worker opens the journal", "openMs", "ms", null),
    row("its memory", "rssMb", "MB", null),
  ];
}

async function measured(url: string, stories: number) {
  await write(url, stories);
  const journal = await createPostgresJournal(url);
  try {
    const begin = performance.now();
    const ledger = await openLedger(instantWorld({ journal, atOnce: 20, failures: 0 }));
    const openMs = performance.now() - begin;
    const rssMb = process.memoryUsage().rss / 1024 / 1024;
    const decisions: number[] = [];
    const decides: number[] = [];
    for (let i = 0; i < 150; i++) {
      const name = `fresh-${i}`;
      const story = storyId(name);
      const began = performance.now();
      await ledger.append(story, [{ type: "story.added", story: instantStory(name) }]);
      const folded = performance.now();
      const state = ledger.state();
      const command = decide(state, state.policy!, Date.now(), new Set([story])).find((each) => each.story === story);
      decisions.push(performance.now() - began);
      decides.push(performance.now() - folded);
      if (command === undefined) throw new Error("nothing is to be done for a new story");
      await ledger.append(story, [{ type: "story.failed", how: "abandoned", reason: "bench" }]);
    }
    await ledger.rest();
    return {
      openMs,
      rssMb,
      decisionMs: median(decisions.slice(30)),
      decideMs: median(decides.slice(30)),
      statusMs: await statusMs(url),
    };
  } finally {
    await journal.close();
  }
}

const BATCH = 2000;

async function write(url: string, stories: number): Promise<void> {
  const journal = await createPostgresJournal(url);
  const policy = instantPolicy(1_000_000);
  await journal.append(null, 0, [{ type: "policy.set", policy, by: "bench" }], 0);
  const over = await modelStory();
  for (let from = 0; from < stories; from += BATCH) {
    await Promise.all(
      Array.from({ length: Math.min(BATCH, stories - from) }, async (_, i) => {
        const name = `story-${from + i}`;
        const events: readonly Event[] = retold(over, name);
        const { ok } = await journal.append(storyId(name), 0, events, Date.now());
        if (!ok) throw new Error("a conflict although no other process writes");
      }),
    );
  }
  const folded = await foldJournal(journal);
  await createSnapshotSaver(journal, folded.kept)(folded);
  await journal.close();
}

async function statusMs(url: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 4; round++) {
    const begin = performance.now();
    const child = spawn(process.execPath, [MAIN, "status", "--db", url], { stdio: ["ignore", "pipe", "inherit"] });
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => (bytes += chunk.length));
    await once(child, "exit");
    times.push(performance.now() - begin);
    if (bytes === 0) throw new Error("remand status said nothing");
  }
  return median(times.slice(1));
}
