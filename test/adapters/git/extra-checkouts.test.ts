import { expect, test } from "vitest";
import { extraCheckoutsFor } from "../../../src/adapters/git/experiment-runner.ts";

const GB = 1_000_000_000;

test.each([
  ["two processors with nothing to do", 2, 0, 8 * GB, 1],
  ["two that are busy", 2, 1.5, 8 * GB, 0],
  ["eight", 8, 0.4, 32 * GB, 3],
  ["eight that are mostly busy", 8, 5, 32 * GB, 1],
  ["many, and hardly any memory", 64, 0, 2 * GB, 1],
  ["more work than processors, and no memory", 4, 12, 0, 0],
] as const)("%s leave room for this many more runs", (_, processors, load, freeBytes, extra) => {
  expect(extraCheckoutsFor(processors, load, freeBytes)).toBe(extra);
});
