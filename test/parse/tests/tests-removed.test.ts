import { expect, test } from "vitest";
import { readTestsRemoved } from "../../../src/parse/tests/test-report-parts.ts";

test.each([
  ["Done.\nTests removed: the old API is gone\nmore", "the old API is gone"],
  ["\u001b[1mTests removed:\u001b[0m   moved to e2e\r\n", "moved to e2e"],
  ["Tests removed: first\nTests removed: second", "first"],
])("%j gives a reason", (message, reason) => {
  expect(readTestsRemoved(message)).toBe(reason);
});

test.each([
  "",
  "Tests removed:",
  "Tests removed: \n",
  "Tests removed: -",
  "Tests removed: 3",
  "> Tests removed: quoted",
  "  Tests removed: indented",
  "tests removed: small",
])("%j gives none", (message) => {
  expect(readTestsRemoved(message)).toBeNull();
});

test("a long reason is cut, and a long message read in no time", () => {
  expect(readTestsRemoved(`Tests removed: ${"because ".repeat(1000)}`)).toHaveLength(500);
  expect(readTestsRemoved("Tests removed:".padEnd(2_000_000, " "))).toBeNull();
});
