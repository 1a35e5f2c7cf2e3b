import { afterEach, expect, test } from "vitest";
import { createLaneAsking } from "../../src/adapters/queue/lane-asking.ts";
import type { Lane } from "../../src/domain/lane.ts";

const end = { signal: new AbortController(), over: Promise.resolve() };
afterEach(async () => {
  end.signal.abort();
  await end.over;
});

/** Asks, and counts by lane how often. */
function running(pollMs: number, answer: (lane: Lane) => Promise<boolean> = async () => false) {
  const asking = createLaneAsking(pollMs);
  const asked: Lane[] = [];
  end.signal = new AbortController();
  end.over = asking.run((lane) => {
    asked.push(lane);
    return answer(lane);
  }, end.signal.signal);
  const count = (lane: Lane): number => asked.filter((each) => each === lane).length;
  return { ...asking, count };
}

// Nobody is asked a second time by itself within these tests: an idle lane is asked every five seconds at most.
test("a lane is asked when it is told of a job, and no other is", { timeout: 4000 }, async () => {
  const lanes = running(500);
  await expect.poll(() => lanes.count("checks")).toBe(1);
  lanes.wake(["checks"]);
  await expect.poll(() => lanes.count("checks")).toBe(2);
  expect([lanes.count("developers"), lanes.count("engine")]).toEqual([1, 1]);
});

test(
  "once told, it is asked again and again for a while: all hands may have been full",
  { timeout: 4000 },
  async () => {
    const lanes = running(50);
    await expect.poll(() => lanes.count("checks")).toBe(1);
    lanes.wake(["checks"]);
    await expect.poll(() => lanes.count("checks"), { timeout: 3000 }).toBeGreaterThan(8);
  },
);

test("however often it is told, it is asked only now and then", { timeout: 4000 }, async () => {
  const lanes = running(2000);
  await expect.poll(() => lanes.count("checks")).toBe(1);
  // Far more words than questions: only a few fit between two ordinary ones.
  for (let words = 0; words < 50; words++) {
    lanes.wake(["checks"], words % 2 === 0 ? "ours" : "others");
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(lanes.count("checks")).toBeLessThanOrEqual(2);
});

test("a word that comes while it is asked is not lost", { timeout: 4000 }, async () => {
  let answer: () => void = () => undefined;
  const slow = new Promise<boolean>((resolve) => (answer = () => resolve(false)));
  const lanes = running(500, (lane) => (lane === "checks" ? slow : Promise.resolve(false)));
  await expect.poll(() => lanes.count("checks")).toBe(1);
  lanes.wake(["checks"]);
  answer();
  await expect.poll(() => lanes.count("checks"), { timeout: 2000 }).toBe(2);
});

test("whoever was in another's way comes again soon, without being told", { timeout: 4000 }, async () => {
  let inTheWay = 2;
  const lanes = running(200, async (lane) => lane === "checks" && inTheWay-- > 0);
  await expect.poll(() => lanes.count("checks"), { timeout: 3000 }).toBe(3);
  expect(lanes.count("developers")).toBe(1);
});

test("it ends at once when it is told to", { timeout: 2000 }, async () => {
  const lanes = running(60_000);
  await expect.poll(() => lanes.count("engine")).toBe(1);
  end.signal.abort();
  await end.over;
});
