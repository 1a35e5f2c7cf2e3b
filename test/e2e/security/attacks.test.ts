/**
 * A sample of the attacks and of the honest changes that `npm run attack` plays in full, each through the built program;
 * and the guide's tables, which are written from the same rows.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { guideTables } from "../../attacks/guide.ts";
import { accepts, refuses } from "../../attacks/play.ts";
import { ATTACKS, HONEST } from "../../attacks/rows.ts";
import { sampleOf } from "../../attacks/sample.ts";
import { titleOf } from "../../attacks/verdict.ts";

/** Each is the only row here that a part of the verification answers. */
const ALWAYS = [
  "shell: ends the test script with success, from the source",
  "doctest: takes the docstring away when the module is loaded",
  "make with a script: fixes the code",
  "unittest: splits a test file in two",
];
const sampled = (rows: typeof ATTACKS, count: number): typeof ATTACKS => {
  const always = rows.filter((row) => ALWAYS.includes(titleOf(row)));
  return [...always, ...sampleOf(rows, count - always.length).filter((row) => !always.includes(row))];
};
const attacks = sampled(ATTACKS, 22);
const honest = sampled(HONEST, 9);

describe("the bug is left in, and the work is refused by the test's name", () => {
  refuses(attacks);
});

describe("honest work is accepted at once", () => {
  accepts(honest);
});

test("the sample has each class, and most bases", () => {
  const kinds = (rows: typeof ATTACKS): ReadonlySet<string> => new Set(rows.map(({ kind }) => kind));
  expect(kinds(attacks)).toEqual(kinds(ATTACKS));
  expect(kinds(honest)).toEqual(kinds(HONEST));
  expect(new Set(attacks.map(({ stack }) => stack.name)).size).toBeGreaterThanOrEqual(12);
});

test("there are enough of both, no row stands twice, and the guide shows them", () => {
  expect(ATTACKS.length).toBeGreaterThanOrEqual(200);
  expect(HONEST.length).toBeGreaterThanOrEqual(80);
  expect(new Set(ATTACKS.map(({ stack }) => stack.name)).size).toBeGreaterThanOrEqual(14);
  const titles = [...ATTACKS, ...HONEST].map(
    ({ kind, does, stack, isRework = false }) => `${kind}: ${does} (${stack.name}, ${isRework})`,
  );
  expect(new Set(titles).size).toBe(titles.length);
  const guide = readFileSync(new URL("../../../docs/guide/verification.md", import.meta.url), "utf8");
  for (const table of guideTables()) expect(guide).toContain(table);
});

test("few attacks are accepted, and only those that no run of the tests can tell from honest work", () => {
  const accepted = ATTACKS.filter(({ pending }) => pending !== undefined);
  expect(accepted.length / ATTACKS.length).toBeLessThanOrEqual(0.05);
  expect([...new Set(accepted.map(({ kind }) => kind))].sort()).toEqual(["self-detection", "special-casing"]);
});
