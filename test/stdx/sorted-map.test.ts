import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  byText,
  changes,
  entries,
  fromSorted,
  insert,
  lookup,
  remove,
  size,
  type SortedMap,
} from "../../src/stdx/sorted-map.ts";

type Step = { readonly remove: boolean; readonly key: string; readonly value: number };
const STEP: fc.Arbitrary<Step> = fc.record({ remove: fc.boolean(), key: fc.string({ maxLength: 2 }), value: fc.nat() });

const applied = (map: SortedMap<string, number>, step: Step): SortedMap<string, number> =>
  step.remove ? remove(map, step.key, byText) : insert(map, step.key, step.value, byText);

function model(steps: readonly Step[]): [string, number][] {
  const plain = new Map<string, number>();
  for (const { remove, key, value } of steps)
    if (remove) plain.delete(key);
    else plain.set(key, value);
  return [...plain].sort(([a], [b]) => byText(a, b));
}

/** The height by looking, and that no node leans by more than one. */
function height(map: SortedMap<string, number>): number {
  if (map === null) return 0;
  const [left, right] = [height(map.left), height(map.right)];
  expect(Math.abs(left - right)).toBeLessThanOrEqual(1);
  expect(map.height).toBe(1 + Math.max(left, right));
  return map.height;
}

describe("sorted map", () => {
  it("has the entries of a plain map, in order and balanced, after any steps", () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 200 }), fc.string({ maxLength: 2 }), (steps, key) => {
        const map = steps.reduce(applied, null as SortedMap<string, number>);
        const expected = model(steps);
        expect([...entries(map)]).toEqual(expected);
        expect(size(map)).toBe(expected.length);
        expect(lookup(map, key, byText)).toBe(expected.find(([known]) => known === key)?.[1]);
        height(map);
      }),
    );
  });

  it("leaves every earlier version as it was", () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 60 }), (steps) => {
        const versions: SortedMap<string, number>[] = [null];
        for (const step of steps) versions.push(applied(versions[versions.length - 1]!, step));
        for (const [at, version] of versions.entries())
          expect([...entries(version)]).toEqual(model(steps.slice(0, at)));
      }),
      { numRuns: 50 },
    );
  });

  it("is built from sorted entries at once, and balanced", () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 100 }), (steps) => {
        const map = fromSorted(model(steps));
        expect([...entries(map)]).toEqual(model(steps));
        expect(size(map)).toBe(model(steps).length);
        height(map);
        const more = applied(map, { remove: false, key: "m", value: -1 });
        expect(lookup(more, "m", byText)).toBe(-1);
        height(more);
      }),
    );
  });

  it("lists the changes since an earlier version", () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 60 }), fc.array(STEP, { maxLength: 60 }), (first, then) => {
        const before = first.reduce(applied, null as SortedMap<string, number>);
        const after = then.reduce(applied, before);
        const known = new Map(entries(before));
        expect([...changes(before, after, byText)]).toEqual(
          [...entries(after)].filter(([key, value]) => known.get(key) !== value),
        );
        expect([...changes(after, after, byText)]).toEqual([]);
      }),
    );
  });

  it("is the same map after removing a missing key", () => {
    const map = ["b", "a", "c"].reduce((all, key) => insert(all, key, 1, byText), null as SortedMap<string, number>);
    expect(remove(map, "aa", byText)).toBe(map);
    expect(remove(map, "zz", byText)).toBe(map);
    expect(remove(null, "a", byText)).toBeNull();
  });

  it("stays flat when keys come in order, and shares all but a path", () => {
    let map: SortedMap<number, number> = null;
    const order = (a: number, b: number): number => a - b;
    for (let i = 0; i < 10_000; i++) map = insert(map, i, i, order);
    expect(map!.height).toBeLessThanOrEqual(14 * 1.44);
    const nodes = (of: typeof map, seen: Set<object>): Set<object> => {
      if (of !== null) {
        seen.add(of);
        nodes(of.left, seen);
        nodes(of.right, seen);
      }
      return seen;
    };
    const before = nodes(map, new Set());
    const fresh = [...nodes(insert(map, 5000.5, 0, order), new Set())].filter((node) => !before.has(node));
    expect(fresh.length).toBeLessThanOrEqual(25);
  });

  it("gives its first entries without walking the rest", () => {
    const map = Array.from({ length: 5000 }, (_, i) => String(i).padStart(4, "0")).reduce(
      (all, key) => insert(all, key, 1, byText),
      null as SortedMap<string, number>,
    );
    let looked = 0;
    for (const [key] of entries(map)) {
      looked++;
      expect(key).toBe("0000");
      break;
    }
    expect(looked).toBe(1);
  });
});
