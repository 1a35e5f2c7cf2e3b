import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeBaseTests, type BaseTestInput } from "../../../src/core/gates/base-tests.ts";
import { readSuiteResults, suiteResultsText, type SuiteResults } from "../../../src/core/gates/test-names.ts";

const ADDS = "test/cart.test.js > adds";
const REMOVES = "test/cart.test.js > removes";

const suite = (passed: readonly string[], more: Partial<SuiteResults> = {}): SuiteResults => ({
  isNamed: true,
  passed: passed.reduce((all, name) => all.set(name, (all.get(name) ?? 0) + 1), new Map<string, number>()),
  failed: new Set(),
  ran: passed.length,
  ...more,
});

const judge = (input: Partial<BaseTestInput>) =>
  judgeBaseTests({
    base: suite([ADDS, REMOVES]),
    candidate: suite([ADDS, REMOVES]),
    pinned: null,
    isExcused: () => false,
    isRenamed: () => false,
    licensed: [],
    ...input,
  });

const pinned = (passed: readonly string[], failing: readonly string[] = [], isLoadFailure = false) => ({
  results: suite(passed),
  failures: failing.map((name) => ({ name, isLoadFailure })),
});

const FINE = { contested: [], licensed: [], gone: [], renamed: [], fewer: null };

describe("a test that passed at the base", () => {
  test("passes if it passes with the work; new tests change nothing", () => {
    expect(judge({ candidate: suite([ADDS, REMOVES, "test/new.test.js > new"]) })).toEqual(FINE);
    expect(judge({ pinned: pinned([ADDS, REMOVES]) })).toEqual(FINE);
  });

  test("is contested if its base version fails with the work", () => {
    const { contested } = judge({ pinned: pinned([ADDS], [REMOVES]) });
    expect(contested).toEqual([{ test: REMOVES, why: "fails", file: "test/cart.test.js" }]);
  });

  test("is contested once with its file, if the file does not load", () => {
    const { contested, gone } = judge({ pinned: pinned([], ["test/cart.test.js: cannot find ../src/cart.js"], true) });
    expect(contested).toEqual([{ test: "test/cart.test.js", why: "not-loaded", file: "test/cart.test.js" }]);
    expect(gone).toEqual([]);
  });

  test("is contested if the work removed it and its base version still passes", () => {
    const { contested } = judge({ candidate: suite([ADDS]), pinned: pinned([ADDS, REMOVES]) });
    expect(contested).toEqual([{ test: REMOVES, why: "removed", file: "test/cart.test.js" }]);
  });

  test("is gone if it no longer runs, with or without the base's tests", () => {
    expect(judge({ candidate: suite([ADDS]) }).gone).toEqual([REMOVES]);
    expect(judge({ candidate: suite([ADDS]), pinned: pinned([ADDS]) }).gone).toEqual([REMOVES]);
  });

  test("is gone if one of two tests with its name is missing", () => {
    expect(judge({ base: suite([ADDS, ADDS]), candidate: suite([ADDS]) }).gone).toEqual([ADDS]);
  });

  test("is renamed if its body has another name", () => {
    const input = {
      candidate: suite([ADDS]),
      pinned: pinned([ADDS, REMOVES]),
      isRenamed: (t: string) => t === REMOVES,
    };
    expect(judge(input)).toEqual({ ...FINE, renamed: [REMOVES] });
  });

  test("is licensed by its name, its file or a pattern", () => {
    for (const license of [REMOVES, "removes", "test/cart.test.js", "test/*"]) {
      const failing = judge({ pinned: pinned([ADDS], [REMOVES]), licensed: [license] });
      expect(failing.contested).toEqual([]);
      expect(failing.licensed.map((each) => each.test)).toEqual([REMOVES]);
      expect(judge({ candidate: suite([ADDS]), licensed: [license] }).gone).toEqual([]);
    }
    expect(judge({ pinned: pinned([ADDS], [REMOVES]), licensed: ["adds"] }).contested).toHaveLength(1);
  });

  test("does not count if it is a known failure, flaky, or a target", () => {
    const isExcused = (name: string): boolean => name === REMOVES;
    expect(judge({ pinned: pinned([ADDS], [REMOVES]), candidate: suite([ADDS]), isExcused })).toEqual(FINE);
  });
});

describe("tests without names", () => {
  const unnamed = (ran: number | null): SuiteResults => ({ isNamed: false, passed: new Map(), failed: new Set(), ran });

  test("fewer tests than at the base are found by their number", () => {
    expect(judge({ base: unnamed(8), candidate: unnamed(5) }).fewer).toEqual({ before: 8, now: 5 });
    expect(judge({ base: unnamed(8), candidate: unnamed(9) }).fewer).toBeNull();
    expect(judge({ base: unnamed(8), candidate: unnamed(null) }).fewer).toBeNull();
    expect(judge({ base: null, candidate: unnamed(5) }).fewer).toBeNull();
  });

  test("the run with the base's tests is counted", () => {
    const run = { results: unnamed(8), failures: [] };
    expect(judge({ base: unnamed(8), candidate: unnamed(2), pinned: run }).fewer).toBeNull();
    expect(
      judge({ base: unnamed(8), candidate: unnamed(8), pinned: { results: unnamed(5), failures: [] } }).fewer,
    ).toEqual({
      before: 8,
      now: 5,
    });
  });

  test("a test that was named at the base must be named in the work's run", () => {
    expect(judge({ candidate: unnamed(2), base: suite([ADDS, REMOVES]) }).gone).toEqual([ADDS, REMOVES]);
    expect(judge({ base: unnamed(2), candidate: suite([ADDS]) })).toEqual(FINE);
  });
});

test("every test of the base gets one result: passed, contested, licensed, renamed or gone", () => {
  const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f"), { minLength: 1 });
  const asTest = (name: string): string => `t.js > ${name}`;
  fc.assert(
    fc.property(names, names, names, names, (base, now, ran, licensed) => {
      const failing = base.filter((name) => !ran.includes(name) && name < "d");
      const verdict = judge({
        base: suite(base.map(asTest)),
        candidate: suite(now.map(asTest)),
        pinned: pinned(ran.map(asTest), failing.map(asTest)),
        licensed: licensed.map(asTest),
      });
      for (const name of base) {
        const told = [...verdict.contested, ...verdict.licensed].map(({ test: each }) => each);
        const fine = now.includes(name) && !failing.includes(name);
        const isTold = [...told, ...verdict.gone].includes(asTest(name)) || licensed.includes(name);
        expect(fine || isTold).toBe(true);
        expect(verdict.contested.some(({ test: each }) => each === asTest(name)) && licensed.includes(name)).toBe(
          false,
        );
      }
    }),
  );
});

test("reads results as they were written, and nothing else", () => {
  const results = suite([ADDS, ADDS, REMOVES], { failed: new Set(["x"]), ran: 4 });
  expect(readSuiteResults(suiteResultsText(results))).toEqual(results);
  expect(readSuiteResults("{")).toBeNull();
  expect(readSuiteResults("null")).toBeNull();
});
