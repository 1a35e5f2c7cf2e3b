import { createPostgresJournal } from "../../src/adapters/postgres/journal.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { openLedger } from "../../src/engine/ledger.ts";
import { instantPolicy, instantWorld } from "../engine/instant-world.ts";
import type { BenchResult } from "../bench-result.ts";
import { startChild, type Child, type Parent } from "./child.ts";
import { modelStory, retold } from "./model-story.ts";
import { processorMs, serverProcessorMs } from "./processor.ts";

const FOLLOWERS = 12;
const STORIES = 150;
/** Lines are appended one by one, as by many workers, so that every follower is notified of each. */
const PAUSE_MS = 5;

/** Every worker folds every line. Measures the cost for server and worker, per line and worker. */
export async function measureFollowing(newDatabase: () => Promise<string>): Promise<readonly BenchResult[]> {
  const none = await written(await newDatabase(), 0);
  const many = await written(await newDatabase(), FOLLOWERS);
  const serverUs = ((many.serverMs - none.serverMs) / many.lines / FOLLOWERS) * 1000;
  const workerUs = (many.followersMs / many.lines / FOLLOWERS) * 1000;
  const against = `the server's for the line itself (${((none.serverMs / none.lines) * 1000).toFixed(0)} µs)`;
  const alone = (none.serverMs / none.lines) * 1000;
  return [
    {
      name: "fleet: server's processor, one worker follows one line",
      value: serverUs,
      unit: "µs",
      ratio: serverUs / alone,
      against,
      limit: null,
    },
    {
      name: "fleet: worker's processor, it follows one line",
      value: workerUs,
      unit: "µs",
      ratio: workerUs / alone,
      against,
      limit: null,
    },
  ];
}

async function written(url: string, followers: number) {
  const journal = await createPostgresJournal(url);
  await journal.append(null, 0, [{ type: "policy.set", policy: instantPolicy(20), by: "bench" }], 0);
  const children: Child[] = [];
  for (let i = 0; i < followers; i++) {
    children.push(startChild(new URL("./following.js", import.meta.url), "follow", [url]));
    await children.at(-1)!.next();
  }
  const model = await modelStory();
  const followersMs = (): number => children.reduce((sum, { pid }) => sum + processorMs(pid), 0);
  try {
    const before = { server: await serverProcessorMs(url), followers: followersMs() };
    for (let i = 0; i < STORIES; i++) {
      const name = `followed-${i}`;
      for (const [seq, event] of retold(model, name).entries()) {
        const { ok } = await journal.append(storyId(name), seq, [event], Date.now());
        if (!ok) throw new Error("a conflict although no other process writes");
        await new Promise((done) => setTimeout(done, PAUSE_MS));
      }
    }
    const { position } = await journal.head();
    for (const child of children) child.say({ until: position });
    for (const child of children) await child.next();
    const lines = STORIES * model.length;
    return {
      lines,
      serverMs: (await serverProcessorMs(url)) - before.server,
      followersMs: followersMs() - before.followers,
    };
  } finally {
    await Promise.all(children.map((child) => child.end()));
    await journal.close();
  }
}

/** Runs in a separate process: folds what others write, as a worker does. */
export async function follow(parent: Parent, url: string): Promise<void> {
  const journal = await createPostgresJournal(url);
  const ledger = await openLedger(instantWorld({ journal, atOnce: 1, failures: 0 }));
  const unwatch = journal.watch((whose) => {
    if (whose === "others") void ledger.catchUp();
  });
  parent.tell({ ready: true });
  const asked = (await parent.next()) as { until: number };
  while (ledger.state().position < asked.until) await ledger.changed();
  parent.tell({ done: true });
  await parent.next();
  unwatch();
  await journal.close();
}
