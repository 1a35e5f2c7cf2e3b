import { expect, test } from "vitest";
import { createMemoryJournal } from "../kit/memory-journal.ts";
import { knownFlakes } from "../../src/compose/engine-world.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { judgement } from "../kit/story-world.ts";

test("each read of the journal continues after the last one, one at a time", async () => {
  const journal = createMemoryJournal();
  const reads: number[] = [];
  const flakes = knownFlakes({
    read: (after) => {
      reads.push(after);
      return journal.read(after);
    },
  });
  const judged = (seq: number, tree: string, ...flaky: readonly string[]) =>
    journal.append(
      storyId("a"),
      seq,
      [{ type: "gate.judged", judgement: { ...judgement("checks", tree, "inconclusive"), flaky } }],
      1,
    );
  expect(await flakes()).toEqual([]);
  await judged(0, "t1", "unit > a");
  await judged(1, "t2", "unit > a", "unit > b");
  const [one, other] = await Promise.all([flakes(), flakes()]);
  expect(one).toEqual(other);
  expect(one).toMatchObject([
    { name: "unit > a", times: 2, trees: ["t1", "t2"] },
    { name: "unit > b", times: 1, trees: ["t2"] },
  ]);
  await judged(2, "t3", "unit > b");
  expect(await flakes()).toMatchObject([{ times: 2 }, { name: "unit > b", times: 2 }]);
  expect(reads).toEqual([0, 0, 2, 2]);
});
