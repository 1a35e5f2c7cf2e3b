import { expect, test } from "vitest";
import { createVirtualClock } from "../../kit/virtual-clock.ts";
import { createLocalQueue } from "../../../src/adapters/queue/local-queue.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { expectLinearCostOf } from "../../cpu-cost.ts";
import { handwork, job, queueContract, settle } from "../../contract/queue.ts";

queueContract("the queue in one process", (limits) => {
  const clock = createVirtualClock();
  return { queue: createLocalQueue({ limits, clock }), clock };
});

test("the queue sleeps once for all delayed jobs, and not at all after it stopped", async () => {
  const clock = createVirtualClock();
  const queue = createLocalQueue({ limits: {}, clock });
  queue.start(async () => {});
  for (let i = 0; i < 100; i++) queue.enqueue(job(`${i}`, "engine", 1000 - i));
  await settle();
  expect(clock.sleeping()).toBe(1);
  await queue.stop(false);
  expect(clock.sleeping()).toBe(0);
});

/** Returns how often the clock is called while this many jobs wait for each other and for their times. */
async function clockCallsFor(jobs: number): Promise<number> {
  const clock = createVirtualClock();
  let calls = 0;
  const counted = {
    now: () => (calls++, clock.now()),
    sleep: (...args: Parameters<Clock["sleep"]>) => clock.sleep(...args),
  };
  const queue = createLocalQueue({ limits: { developers: 4 }, clock: counted });
  const hands = handwork();
  for (let i = 0; i < jobs; i++) queue.enqueue(job(`${i}`, "developers", i % 2 === 0 ? 0 : 1 + (i % 997)));
  queue.start(async ({ id }) => void hands.begun.push(id));
  while (hands.begun.length < jobs) {
    await settle();
    await clock.advanceToNext();
  }
  await queue.idle();
  await queue.stop(false);
  return calls;
}

// S4.27
test("waiting jobs cost time in proportion to their number", async () => {
  const growth = (await clockCallsFor(10_000)) / (await clockCallsFor(2500));
  expect(growth).toBeLessThan(5);
  await expectLinearCostOf(10_000, clockCallsFor);
});

test("the queue can be started only once", () => {
  const queue = createLocalQueue({ limits: {}, clock: createVirtualClock() });
  queue.start(async () => {});
  expect(() => queue.start(async () => {})).toThrow("a queue is started once");
});
