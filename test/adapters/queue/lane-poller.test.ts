import { afterEach, expect, test } from "vitest";
import { createVirtualClock } from "../../kit/virtual-clock.ts";
import { createLanePoller } from "../../../src/adapters/queue/dbos-lanes.ts";
import type { Lane } from "../../../src/core/stories/command.ts";

const end = { signal: new AbortController(), over: Promise.resolve() };
afterEach(async () => {
  end.signal.abort();
  await end.over;
});

/** Polls by a clock that the test moves, and counts polls by lane. */
function running(pollMs: number, answer: (lane: Lane) => Promise<boolean> = async () => false) {
  const clock = createVirtualClock();
  const poller = createLanePoller(pollMs, clock);
  const asked: Lane[] = [];
  end.signal = new AbortController();
  end.over = poller.run((lane) => {
    asked.push(lane);
    return answer(lane);
  }, end.signal.signal);
  const count = (lane: Lane): number => asked.filter((each) => each === lane).length;
  return { ...poller, count, pass: clock.advance };
}

test("a hint polls only its own lane", async () => {
  const lanes = running(500);
  await lanes.pass(0);
  expect(lanes.count("checks")).toBe(1);
  lanes.wake(["checks"]);
  await lanes.pass(100);
  expect(lanes.count("checks")).toBe(2);
  expect([lanes.count("developers"), lanes.count("engine")]).toEqual([1, 1]);
});

test("a lane without hints is polled every five seconds, because a hint may get lost", async () => {
  const lanes = running(500);
  await lanes.pass(4700);
  expect(lanes.count("checks")).toBe(1);
  await lanes.pass(600);
  expect(lanes.count("checks")).toBe(2);
});

test("after a hint, a lane is polled repeatedly for five seconds, because all slots may have been taken", async () => {
  const lanes = running(50);
  await lanes.pass(0);
  lanes.wake(["checks"]);
  await lanes.pass(5000);
  expect(lanes.count("checks")).toBeGreaterThan(90);
  const often = lanes.count("checks");
  await lanes.pass(5000);
  expect(lanes.count("checks")).toBeLessThanOrEqual(often + 3);
});

test("however many hints come, a lane is polled only five times in a regular pause", async () => {
  const lanes = running(2000);
  await lanes.pass(0);
  for (let words = 0; words < 50; words++) {
    lanes.wake(["checks"]);
    await lanes.pass(40);
  }
  expect(lanes.count("checks")).toBe(1 + 5);
});

test("hints of other workers cause only two polls in a regular pause", async () => {
  const lanes = running(2000);
  await lanes.pass(0);
  for (let words = 0; words < 50; words++) {
    lanes.wake(["checks"], "others");
    await lanes.pass(40);
  }
  expect(lanes.count("checks")).toBe(1 + 2);
});

test("a hint during a poll is not lost", async () => {
  let answer: () => void = () => undefined;
  const slow = new Promise<boolean>((resolve) => (answer = () => resolve(false)));
  const lanes = running(500, (lane) => (lane === "checks" ? slow : Promise.resolve(false)));
  await lanes.pass(0);
  lanes.wake(["checks"]);
  await lanes.pass(1000);
  expect(lanes.count("checks")).toBe(1);
  answer();
  await lanes.pass(1);
  expect(lanes.count("checks")).toBe(2);
});

test("a poll that collided with another worker's is repeated soon, without a hint", async () => {
  let inTheWay = 2;
  const lanes = running(200, async (lane) => lane === "checks" && inTheWay-- > 0);
  await lanes.pass(600);
  expect(lanes.count("checks")).toBe(3);
  expect(lanes.count("developers")).toBe(1);
});

test("also works with the machine's own clock, and ends at once on abort", async () => {
  const poller = createLanePoller(1);
  let asked = 0;
  end.signal = new AbortController();
  end.over = poller.run(async (lane) => {
    if (lane === "engine" && ++asked < 4) poller.wake(["engine"]);
    return false;
  }, end.signal.signal);
  await expect.poll(() => asked).toBeGreaterThan(3);
  end.signal.abort();
  await end.over;
});
