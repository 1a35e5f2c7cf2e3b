import { expect, it } from "vitest";
import { storyId } from "../../src/core/events/ids.ts";
import { foldJournal } from "../../src/engine/fold-journal.ts";
import { continueLedger } from "../../src/engine/ledger.ts";
import { createMemoryJournal } from "../kit/memory-journal.ts";
import { story } from "../kit/story-world.ts";
import { stateOf } from "../seeds/scripted-run.ts";

const A = storyId("a");
const clock = { now: () => 1000, sleep: () => Promise.resolve() };
const watcher = { onLines: () => undefined, onOutput: () => undefined };

async function journalWithStory() {
  const journal = createMemoryJournal();
  await journal.append(A, 0, [{ type: "story.added", story: story("a") }], 1);
  return { journal, known: await foldJournal(journal) };
}

it("continues from another reader's state, and reads only newer lines", async () => {
  const { journal, known } = await journalWithStory();
  await journal.append(A, 1, [{ type: "story.held", by: "eve" }], 2);
  const readFrom: number[] = [];
  const read: typeof journal.read = (after, only) => {
    readFrom.push(after);
    return journal.read(after, only);
  };
  const reading = { ...journal, read, latestSnapshot: () => Promise.reject(new Error("the snapshot is not needed")) };
  const ledger = await continueLedger({ journal: reading, clock, watcher }, known);
  expect(readFrom).toEqual([1]);
  expect(stateOf(ledger.state(), "a").held).toBe(true);
  expect(await ledger.append(A, [{ type: "story.released", by: "ada" }])).toBe(true);
  expect(stateOf(ledger.state(), "a")).toMatchObject({ held: false, seq: 3 });
  // The reader's own counts are as they were.
  expect(known.seqs.get(A)).toBe(1);
});

it("appends nothing if another writer was first, and then sees those events", async () => {
  const { journal, known } = await journalWithStory();
  const ledger = await continueLedger({ journal, clock, watcher }, known);
  await journal.append(A, 1, [{ type: "story.held", by: "eve" }], 2);
  expect(await ledger.append(A, [{ type: "story.released", by: "ada" }])).toBe(false);
  expect(stateOf(ledger.state(), "a").held).toBe(true);
  expect(await ledger.append(A, [{ type: "story.released", by: "ada" }])).toBe(true);
});
