import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/adapters/clock/virtual-clock.ts";
import { createLocalQueue } from "../../src/adapters/queue/local-queue.ts";
import { handwork, job, queueContract, settled } from "../contract/queue.ts";

queueContract("the queue in one process", (limits) => {
  const clock = createVirtualClock();
  return { queue: createLocalQueue({ limits, clock }), clock };
});

test("one sleep waits for all that is later, and none is left when it stops", async () => {
  const clock = createVirtualClock();
  const queue = createLocalQueue({ limits: {}, clock });
  queue.start(async () => {});
  for (let i = 0; i < 100; i++) queue.enqueue(job(`${i}`, "engine", 1000 - i));
  await settled();
  expect(clock.sleeping()).toBe(1);
  await queue.stop(false);
  expect(clock.sleeping()).toBe(0);
});

test("ten thousand jobs that wait cost little", async () => {
  const clock = createVirtualClock();
  const queue = createLocalQueue({ limits: { developers: 4 }, clock });
  const hands = handwork();
  const begin = performance.now();
  for (let i = 0; i < 10_000; i++) queue.enqueue(job(`${i}`, "developers", i % 2 === 0 ? 0 : 1 + (i % 997)));
  queue.start(async ({ id }) => void hands.begun.push(id));
  while (hands.begun.length < 10_000) {
    await settled();
    await clock.advanceToNext();
  }
  await queue.idle();
  expect(performance.now() - begin).toBeLessThan(5000);
  await queue.stop(false);
});

test("it is started once", () => {
  const queue = createLocalQueue({ limits: {}, clock: createVirtualClock() });
  queue.start(async () => {});
  expect(() => queue.start(async () => {})).toThrow("a queue is started once");
});
