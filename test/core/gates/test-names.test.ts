import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  distinctTests,
  normalizedTestName,
  TEST_OUTCOMES,
  type NamedTest,
} from "../../../src/core/gates/test-names.ts";

describe("a test's name without what differs from run to run", () => {
  it.each([
    ["src/lib.rs - one (line 12)", "src/lib.rs - one"],
    ["renders <Cart at 0x7f3a9c0012d0>", "renders <Cart at <address>>"],
    ["order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ships", "order <uuid> ships"],
    ["at 2026-11-16T04:32:22.123Z", "at <time>"],
    ["at 04:32:22", "at <time>"],
    ["reads /tmp/cart-Xa81b/items.json", "reads <tmp>"],
    ["reads /private/var/folders/zz/abc_1/T/cart-1/x", "reads <tmp>"],
    ["TestRows/same#01", "TestRows/same"],
    ["TestRows/same#01/inner", "TestRows/same/inner"],
    ["adds 2 and 3", "adds 2 and 3"],
    ["fixes issue #12 in the cart", "fixes issue #12 in the cart"],
    ["two\n  lines", "two lines"],
  ])("%j becomes %j", (name, plain) => expect(normalizedTestName(name)).toBe(plain));

  it("is the same when it is normalized again", () => {
    const part = fc.oneof(
      fc.string(),
      fc.uuid(),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constantFrom("#01", "/", " (line 3)", "0x7f3a9c0012d0", "/tmp/a", "12:13:14", " "),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const once = normalizedTestName(parts.join(""));
        expect(normalizedTestName(once)).toBe(once);
      }),
    );
  });

  it("does not depend on the time, the address or the folder", () => {
    const moment = fc
      .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString());
    const folder = fc.stringMatching(/^[a-z0-9]{1,12}$/);
    const address = fc.bigInt(0x100000n, 0xffffffffffffn).map((number) => `0x${number.toString(16)}`);
    const run = fc.tuple(moment, folder, address, fc.uuid());
    const named = ([at, below, where, id]: readonly string[]): string =>
      normalizedTestName(`saves ${id} at ${at} in /tmp/${below}/x as ${where}`);
    fc.assert(fc.property(run, run, (one, two) => named(one) === named(two)));
  });
});

describe("tests of one identity", () => {
  const test = fc.record<NamedTest>({
    identity: fc.constantFrom("a > x", "a > y", "b > x"),
    file: fc.constant(null),
    outcome: fc.constantFrom(...TEST_OUTCOMES),
  });

  it("are counted, and pass only if all of them pass", () => {
    fc.assert(
      fc.property(fc.array(test), (tests) => {
        const distinct = distinctTests(tests);
        expect(distinct.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(tests.length);
        for (const { identity, outcome } of distinct) {
          const same = tests.filter((each) => each.identity === identity);
          expect(outcome === "passed").toBe(same.every((each) => each.outcome === "passed"));
        }
      }),
    );
  });

  it("give the same result in any order", () => {
    fc.assert(
      fc.property(fc.array(test), (tests) => {
        expect(distinctTests(tests.toReversed())).toEqual(distinctTests(tests));
      }),
    );
  });
});
