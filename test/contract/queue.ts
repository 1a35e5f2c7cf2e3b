import { describe, expect, test } from "vitest";
import type { VirtualClock } from "../kit/virtual-clock.ts";
import type { Lane } from "../../src/core/stories/command.ts";
import type { Job, Queue } from "../../src/ports/queue.ts";

export type QueueMaker = (limits: Readonly<Partial<Record<Lane, number>>>) => { queue: Queue; clock: VirtualClock };

export const job = (id: string, lane: Lane = "developers", notBefore = 0): Job => ({
  id,
  lane,
  notBefore,
  command: { key: id, story: null, type: "check-health", attempt: 1 },
});

/** Lets everything run that can run without the clock. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Makes work that continues until the test ends it, and records starts and ends. */
export function handwork() {
  const begun: string[] = [];
  const ended: string[] = [];
  const signals = new Map<string, AbortSignal>();
  const ends = new Map<string, { finish(): void; fail(error: Error): void }>();
  return {
    begun,
    ended,
    signals,
    running: (): string[] => begun.filter((id) => !ended.includes(id)),
    work: async ({ id }: Job, signal: AbortSignal): Promise<void> => {
      begun.push(id);
      signals.set(id, signal);
      try {
        await new Promise<void>((finish, fail) => ends.set(id, { finish, fail }));
      } finally {
        ended.push(id);
      }
    },
    finish: async (id: string): Promise<void> => {
      ends.get(id)!.finish();
      await settle();
    },
    fail: async (id: string, error: Error): Promise<void> => {
      ends.get(id)!.fail(error);
      await settle();
    },
  };
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  void promise.finally(() => (pending = false));
  await settle();
  return pending;
}

/** Tests what every queue guarantees, wherever its jobs run. */
export function queueContract(name: string, make: QueueMaker): void {
  describe(`${name} keeps the queue's contract`, () => {
    running(make);
    times(make);
    ending(make);
  });
}

function running(make: QueueMaker): void {
  test("jobs wait for the start, then run in the order in which they were enqueued", async () => {
    const { queue } = make({ developers: 1 });
    const hands = handwork();
    for (const id of ["a", "b", "c"]) queue.enqueue(job(id));
    await settle();
    expect(hands.begun).toEqual([]);
    queue.start(hands.work);
    await settle();
    expect(hands.begun).toEqual(["a"]);
    await hands.finish("a");
    await hands.finish("b");
    await hands.finish("c");
    expect(hands.ended).toEqual(["a", "b", "c"]);
    await queue.stop(false);
  });

  test("all wait if no running job has anything left to do at this moment", async () => {
    const { queue } = make({});
    const done: string[] = [];
    const end = new Promise<void>((resolve) => setTimeout(resolve, 5));
    queue.start(async ({ id }) => {
      for (let step = 0; step < 20; step++) await Promise.resolve();
      done.push(id);
      await end;
    });
    queue.enqueue(job("a"));
    queue.enqueue(job("b"));
    await queue.allWait();
    expect(done).toEqual(["a", "b"]);
    await queue.stop(false);
  });

  test("the id of a waiting or running job is taken; after its end it is free again", async () => {
    const { queue } = make({ developers: 1 });
    const hands = handwork();
    queue.start(hands.work);
    for (const id of ["a", "a", "b", "b", "a"]) queue.enqueue(job(id));
    await settle();
    expect(hands.begun).toEqual(["a"]);
    await hands.finish("a");
    queue.enqueue(job("b"));
    await hands.finish("b");
    expect(hands.begun).toEqual(["a", "b"]);
    queue.enqueue(job("a"));
    await settle();
    expect(hands.begun).toEqual(["a", "b", "a"]);
    await hands.finish("a");
    await queue.idle();
    await queue.stop(false);
  });

  test("each lane runs as many jobs as its limit allows, and no lane waits for another", async () => {
    const { queue } = make({ developers: 2, critics: 1 });
    const hands = handwork();
    queue.start(hands.work);
    for (let i = 0; i < 5; i++) {
      queue.enqueue(job(`d${i}`));
      queue.enqueue(job(`c${i}`, "critics"));
      queue.enqueue(job(`e${i}`, "engine"));
    }
    await settle();
    expect(hands.running().sort()).toEqual(["c0", "d0", "d1", "e0", "e1", "e2", "e3", "e4"]);
    await hands.finish("d1");
    expect(hands.running().sort()).toEqual(["c0", "d0", "d2", "e0", "e1", "e2", "e3", "e4"]);
    await hands.finish("c0");
    expect(hands.running()).toContain("c1");
    const stopping = queue.stop(false);
    for (const id of hands.running()) await hands.finish(id);
    await stopping;
  });

  test("a limit is never exceeded, and every job runs once, even with a thousand jobs", async () => {
    const { queue } = make({ developers: 3 });
    let now = 0;
    let most = 0;
    const done: string[] = [];
    queue.start(async ({ id }) => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      done.push(id);
    });
    for (let i = 0; i < 1000; i++) queue.enqueue(job(`${i}`));
    await queue.idle();
    expect(most).toBe(3);
    expect(new Set(done).size).toBe(1000);
    expect(done).toHaveLength(1000);
    await queue.stop(false);
  });

  test("a job may enqueue the next one, and the queue is not idle in between", async () => {
    const { queue } = make({ developers: 1 });
    const done: string[] = [];
    queue.start(async ({ id }) => {
      done.push(id);
      if (done.length < 5) queue.enqueue(job(`step-${done.length}`));
    });
    queue.enqueue(job("step-0"));
    await queue.idle();
    expect(done).toEqual(["step-0", "step-1", "step-2", "step-3", "step-4"]);
    await queue.stop(false);
  });
}

function times(make: QueueMaker): void {
  const DAY = 24 * 3600 * 1000;

  test("a job does not start before its time, and takes no slot until then", async () => {
    const { queue, clock } = make({ developers: 1 });
    const hands = handwork();
    queue.start(hands.work);
    queue.enqueue(job("late", "developers", clock.now() + 1000));
    queue.enqueue(job("now"));
    await settle();
    expect(hands.begun).toEqual(["now"]);
    await hands.finish("now");
    await clock.advance(999);
    expect(hands.begun).toEqual(["now"]);
    await clock.advance(1);
    expect(hands.begun).toEqual(["now", "late"]);
    await hands.finish("late");
    await queue.stop(false);
  });

  test("jobs run in the order of their times, whatever order they were enqueued in", async () => {
    const { queue, clock } = make({});
    const began: string[] = [];
    queue.start(async ({ id }) => void began.push(`${id}@${clock.now()}`));
    for (const at of [300, 100, 200, 100, 50 * DAY])
      queue.enqueue(job(`${at}-${began.length}-${Math.min(at, 400)}`, "engine", at));
    queue.enqueue(job("again", "engine", 100));
    await clock.advance(100);
    await clock.advance(400);
    expect(began).toEqual(["100-0-100@100", "again@100", "200-0-200@200", "300-0-300@300"]);
    await clock.advance(50 * DAY);
    expect(began.at(-1)).toBe(`${50 * DAY}-0-400@${50 * DAY}`);
    await queue.idle();
    await queue.stop(false);
  });

  test("a queue with a delayed job is not idle", async () => {
    const { queue, clock } = make({});
    queue.start(async () => {});
    queue.enqueue(job("later", "engine", 60 * DAY));
    const idle = queue.idle();
    expect(await isPending(idle)).toBe(true);
    await clock.advance(60 * DAY);
    await idle;
    await queue.stop(false);
  });
}

function ending(make: QueueMaker): void {
  test("idle resolves at once without jobs", async () => {
    const { queue } = make({});
    expect(await isPending(queue.idle())).toBe(false);
    queue.start(async () => {});
    expect(await isPending(queue.idle())).toBe(false);
    await queue.stop(false);
    expect(await isPending(queue.idle())).toBe(false);
  });

  test("after stop, running jobs end, and no other job starts or is accepted", async () => {
    const { queue, clock } = make({ developers: 1 });
    const hands = handwork();
    queue.start(hands.work);
    for (const id of ["a", "b"]) queue.enqueue(job(id));
    queue.enqueue(job("later", "developers", 1000));
    await settle();
    const stopping = queue.stop(false);
    queue.enqueue(job("c"));
    expect(await isPending(stopping)).toBe(true);
    expect(hands.signals.get("a")!.aborted).toBe(false);
    await hands.finish("a");
    await stopping;
    await clock.advance(5000);
    expect(hands.begun).toEqual(["a"]);
    await queue.idle();
  });

  test("an immediate stop aborts the running jobs by their signal, and waits for them", async () => {
    const { queue } = make({});
    const hands = handwork();
    queue.start(hands.work);
    for (const id of ["a", "b"]) queue.enqueue(job(id));
    await settle();
    const stopping = queue.stop(true);
    expect([...hands.signals.values()].map((signal) => signal.aborted)).toEqual([true, true]);
    await hands.finish("a");
    expect(await isPending(stopping)).toBe(true);
    await hands.finish("b");
    await stopping;
  });

  test("a job that throws ends the queue, and the waiting caller gets the error", async () => {
    const { queue } = make({ developers: 2 });
    const hands = handwork();
    queue.start(hands.work);
    for (const id of ["a", "b", "c"]) queue.enqueue(job(id));
    await settle();
    const fault = new Error("a fault of our own");
    const idle = queue.idle().catch((error: unknown) => error);
    await hands.fail("a", fault);
    expect(await idle).toBe(fault);
    expect(hands.begun).toEqual(["a", "b"]);
    const stopping = queue.stop(false).catch((error: unknown) => error);
    expect(await isPending(stopping)).toBe(true);
    await hands.finish("b");
    expect(await stopping).toBe(fault);
    expect(hands.ended).toEqual(["a", "b"]);
    await expect(queue.idle()).rejects.toThrow("a fault of our own");
  });
}
