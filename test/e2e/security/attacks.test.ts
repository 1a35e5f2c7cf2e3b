/**
 * A sample of the attacks and of the honest changes that `npm run test:attacks` plays in full, each through the built
 * program; and the guide's tables, which are written from the same rows.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { guideTables } from "../../attacks/guide.ts";
import { accepts, refuses } from "../../attacks/play.ts";
import { ATTACKS, HONEST } from "../../attacks/rows.ts";

const sample = ATTACKS.filter(({ isSample }) => isSample === true);
const honest = HONEST.filter(({ isSample }) => isSample === true);

describe("the bug is left in, and the work is refused by the test's name", () => {
  refuses(sample);
});

describe("honest work is accepted at once", () => {
  accepts(honest);
});

test("the sample has each class of attack, and is small", () => {
  expect(new Set(sample.map(({ kind }) => kind))).toEqual(new Set(ATTACKS.map(({ kind }) => kind)));
  expect(sample.length + honest.length).toBeLessThanOrEqual(10);
});

test("there are enough of both, no row stands twice, and the guide shows them", () => {
  expect(ATTACKS.length).toBeGreaterThanOrEqual(100);
  expect(HONEST.length).toBeGreaterThanOrEqual(12);
  const titles = [...ATTACKS, ...HONEST].map(({ kind, does, stack }) => `${kind}: ${does} (${stack.name})`);
  expect(new Set(titles).size).toBe(titles.length);
  const guide = readFileSync(new URL("../../../docs/guide/verification.md", import.meta.url), "utf8");
  for (const table of guideTables()) expect(guide).toContain(table);
});
