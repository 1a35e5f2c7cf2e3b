import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createSystemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createVirtualClock } from "../../kit/virtual-clock.ts";

const DAY = 24 * 3600 * 1000;

describe("the machine's clock", () => {
  const clock = createSystemClock();

  test("sleeps at least as long as requested, and not much longer", async () => {
    const begin = clock.now();
    await clock.sleep(30);
    expect(clock.now() - begin).toBeGreaterThanOrEqual(29);
    await clock.sleep(0);
    await clock.sleep(-5);
    await clock.sleep(Number.NaN);
  });

  test("wakes early when aborted, even before the sleep starts", async () => {
    // An hour is longer than the test's time limit: a clock that does not wake fails the test.
    const early = new AbortController();
    const sleep = clock.sleep(3_600_000, early.signal);
    early.abort();
    await sleep;
    await clock.sleep(3_600_000, early.signal);
    expect(early.signal.aborted).toBe(true);
  });

  describe("over weeks", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    test("sleeps for longer than a timer's maximum", async () => {
      let awake = false;
      const sleep = clock.sleep(40 * DAY).then(() => (awake = true));
      await vi.advanceTimersByTimeAsync(40 * DAY - 1000);
      expect(awake).toBe(false);
      await vi.advanceTimersByTimeAsync(1000);
      await sleep;
      expect(awake).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    });

    test("wakes if the machine was suspended past the time", async () => {
      let awake = false;
      const sleep = clock.sleep(10 * DAY).then(() => (awake = true));
      vi.setSystemTime(Date.now() + 11 * DAY);
      await vi.advanceTimersByTimeAsync(60_000);
      await sleep;
      expect(awake).toBe(true);
    });

    test("is not delayed by a clock that was set back", async () => {
      let awake = false;
      const sleep = clock.sleep(DAY).then(() => (awake = true));
      vi.setSystemTime(Date.now() - 100 * DAY);
      await vi.advanceTimersByTimeAsync(DAY + 60_000);
      await sleep;
      expect(awake).toBe(true);
    });
  });
});

describe("a fake clock", () => {
  test("wakes each sleeper at its time, in order, including sleepers added meanwhile", async () => {
    const clock = createVirtualClock(1000);
    const seen: string[] = [];
    const sleeper = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      seen.push(`${name}@${clock.now()}`);
    };
    const all = [
      sleeper("b", 20),
      sleeper("a", 10),
      sleeper("c", 20),
      sleeper("a", 10).then(() => sleeper("d", 5)),
      sleeper("late", 500),
    ];
    await clock.advance(100);
    expect(seen).toEqual(["a@1010", "a@1010", "d@1015", "b@1020", "c@1020"]);
    expect(clock.now()).toBe(1100);
    expect(clock.sleeping()).toBe(1);
    expect(await clock.advanceToNext()).toBe(true);
    expect(seen.at(-1)).toBe("late@1500");
    expect(await clock.advanceToNext()).toBe(false);
    await Promise.all(all);
  });

  test("wakes early when aborted, and drops the sleeper", async () => {
    const clock = createVirtualClock();
    const early = new AbortController();
    const sleep = clock.sleep(100, early.signal);
    early.abort();
    await sleep;
    await clock.sleep(100, early.signal);
    await clock.sleep(0);
    expect(clock.sleeping()).toBe(0);
    expect(clock.now()).toBe(0);
    await expect(clock.advance(-1)).rejects.toThrow("time goes forward");
  });
});
