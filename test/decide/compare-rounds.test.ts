import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { fingerprint, treeId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Round, StoryState } from "../../src/core/stories/story-state.ts";
import {
  bestRound,
  brokenTests,
  isStrictlyImproving,
  openCount,
  stalledAtOnce,
  stalledByCause,
} from "../../src/decide/converge.ts";
import { newStory, UNJUDGED } from "../../src/fold/new-state.ts";
import { story } from "../kit/story-world.ts";

/*
 * Histories of a made-up suite: `base` passed at the base, `target` failed there, `new` came with the work. What each
 * round is told about is worked out here from the suite itself, the way the checks gate would.
 */
interface Told {
  /** What really fails in this round. */
  readonly failing: readonly string[];
  readonly loads: boolean;
  readonly blocking: number;
}

const POLICY = presetPolicy("goal");
const BASE = ["base 1", "base 2", "base 3", "base 4"];
const TARGETS = ["target 1", "target 2"];
const NEW = ["new 1", "new 2", "new 3"];
const ALL = [...BASE, ...TARGETS, ...NEW];

const roundOf = (told: Told, at: number): Round => ({
  attempt: at + 1,
  tree: treeId(`t${at}`),
  commit: `c${at}`,
  failure: fingerprint(`f${at}`),
  blocking: told.blocking,
  findings: [],
  identities: {
    failing: told.loads ? told.failing : [`load error ${at}`],
    unlisted: 0,
    passing: [],
    passedAtBase: told.loads ? told.failing.filter((name) => BASE.includes(name)) : [],
    passedLast: [],
    ranTests: told.loads ? ["unit"] : [],
    notLoaded: told.loads ? [] : ["unit"],
  },
});
const roundsOf = (history: readonly Told[]): Round[] => history.map(roundOf);

/** Does the loop stop at the newest of these rounds, and by which rule? */
function stopsAt(rounds: readonly Round[], policy: Policy = POLICY): string | null {
  const state: StoryState = {
    ...newStory(story("a"), 0, 0),
    policy,
    phase: "implement",
    preExisting: TARGETS,
    gates: { checks: { ...UNJUDGED, rounds } },
  };
  return (stalledAtOnce(state, policy, "checks") ?? stalledByCause(state, policy, "checks"))?.stall ?? null;
}

const failing = fc.subarray(ALL, { minLength: 1 });
const loaded = fc.record({ failing, loads: fc.constant(true), blocking: fc.integer({ min: 1, max: 9 }) });
const unloaded = fc.record({ failing, loads: fc.constant(false), blocking: fc.integer({ min: 1, max: 9 }) });
const any = fc.oneof({ arbitrary: loaded, weight: 4 }, { arbitrary: unloaded, weight: 1 });
const history = fc.array(any, { minLength: 1, maxLength: 8 });

/** In the order that the design states, written down a second time and as plainly as can be. */
function isNearer(a: Told, b: Told): boolean {
  const passing = (names: readonly string[], told: Told): number =>
    names.filter((name) => !told.failing.includes(name)).length;
  if (passing(BASE, a) !== passing(BASE, b)) return passing(BASE, a) > passing(BASE, b);
  if (passing(TARGETS, a) !== passing(TARGETS, b)) return passing(TARGETS, a) > passing(TARGETS, b);
  return a.blocking < b.blocking;
}

describe("stop rules over generated histories", () => {
  test("a loop in which every round fixes something and breaks nothing never stops by plateau or cascade", () => {
    // Each round takes some away from what fails; new tests that were asked for may come, and a round may not load.
    const steps = fc.array(fc.record({ take: fc.nat(), adds: fc.boolean(), stumbles: fc.boolean() }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.subarray(BASE), steps, (first, plan) => {
        let open = [...first, ...TARGETS];
        const rounds: Told[] = [{ failing: open, loads: true, blocking: 1 }];
        for (const [at, { take, adds, stumbles }] of plan.entries()) {
          if (open.length === 0) break;
          if (stumbles) rounds.push({ failing: open, loads: false, blocking: 9 });
          open = open.filter((_, place) => place !== take % open.length);
          if (adds) open = [...open, `asked for ${at}`];
          if (open.length === 0) break;
          rounds.push({ failing: open, loads: true, blocking: open.length });
          const known = roundsOf(rounds);
          expect(stopsAt(known)).toBeNull();
          if (!rounds.some(({ loads }) => !loads)) expect(isStrictlyImproving(known, TARGETS)).toBe(true);
        }
      }),
    );
  });

  test("a round that breaks a test that passed at the base and in the best round is always a cascade", () => {
    fc.assert(
      fc.property(
        fc.array(any, { minLength: 1, maxLength: 6 }),
        loaded,
        fc.constantFrom(...BASE),
        (before, last, name) => {
          const best = bestRound(roundsOf(before), TARGETS);
          fc.pre(best !== null && !best.identities!.failing.includes(name));
          const now = { ...last, failing: [...new Set([...last.failing, name])] };
          const rounds = roundsOf([...before, now]);
          expect(brokenTests(rounds, TARGETS)).toContain(name);
          expect(stopsAt(rounds)).toBe("regression-cascade");
        },
      ),
    );
  });

  test("a test that nobody has seen before is never a regression", () => {
    fc.assert(
      fc.property(history, loaded, (before, last) => {
        const seen = new Set(before.flatMap((told) => told.failing));
        const unseen = last.failing.filter((name) => NEW.includes(name) && !seen.has(name));
        const broken = brokenTests(roundsOf([...before, last]), TARGETS);
        for (const name of unseen) expect(broken).not.toContain(name);
      }),
    );
  });

  test("the best round loaded, and no loaded round is nearer to a pass", () => {
    fc.assert(
      fc.property(history, (told) => {
        const best = bestRound(roundsOf(told), TARGETS);
        const ran = told.filter(({ loads }) => loads);
        expect(best === null).toBe(ran.length === 0);
        if (best === null) return;
        const at = Number(best.tree.slice(1));
        expect(told[at]!.loads).toBe(true);
        for (const other of ran) expect(isNearer(other, told[at]!)).toBe(false);
        for (const earlier of told.slice(0, at).filter(({ loads }) => loads))
          expect(isNearer(told[at]!, earlier)).toBe(true);
      }),
    );
  });

  test("a round that does not load changes neither the best tree nor what is broken, and never stops the loop by itself", () => {
    fc.assert(
      fc.property(history, unloaded, fc.nat(), (told, stumble, place) => {
        const rounds = roundsOf(told);
        const at = place % (told.length + 1);
        const extra: Round = { ...roundOf(stumble, 99), tree: treeId("stumbled") };
        const withIt = rounds.toSpliced(at, 0, extra);
        expect(bestRound(withIt, TARGETS)?.tree).toBe(bestRound(rounds, TARGETS)?.tree);
        if (at < told.length) expect(brokenTests(withIt, TARGETS)).toEqual(brokenTests(rounds, TARGETS));
        else expect(brokenTests(withIt, TARGETS)).toEqual([]);
        const endsInIt = [...rounds, extra];
        const before = stopsAt(rounds);
        if (before === null) expect(stopsAt(endsInIt)).toBeNull();
      }),
    );
  });

  test("names of tests make no difference", () => {
    const renamed = (name: string): string => `z${[...name].toReversed().join("")}`;
    fc.assert(
      fc.property(history, (told) => {
        const rounds = roundsOf(told);
        const other = rounds.map((round): Round => {
          const { failing: failed, passedAtBase, ...rest } = round.identities!;
          return {
            ...round,
            identities: { ...rest, failing: failed.map(renamed), passedAtBase: passedAtBase.map(renamed) },
          };
        });
        const targets = TARGETS.map(renamed);
        expect(bestRound(other, targets)?.tree).toBe(bestRound(rounds, TARGETS)?.tree);
        expect(brokenTests(other, targets)).toEqual(brokenTests(rounds, TARGETS).map(renamed));
        expect(isStrictlyImproving(other, targets)).toBe(isStrictlyImproving(rounds, TARGETS));
      }),
    );
  });

  test("the number of failures makes no difference: a thousand more from the start change nothing", () => {
    const crowd = Array.from({ length: 1000 }, (_, i) => `crowd ${i}`);
    fc.assert(
      fc.property(history, (told) => {
        const crowded = told.map((each) => ({ ...each, failing: [...each.failing, ...crowd] }));
        const [plain, full] = [roundsOf(told), roundsOf(crowded)];
        expect(bestRound(full, TARGETS)?.tree).toBe(bestRound(plain, TARGETS)?.tree);
        expect(brokenTests(full, TARGETS)).toEqual(brokenTests(plain, TARGETS));
        expect(stopsAt(full)).toBe(stopsAt(plain));
      }),
      { numRuns: 30 },
    );
  });

  test("a loop among the same tests ends by plateau, in any order", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...NEW), { minLength: 40, maxLength: 40 }), (order) => {
        const rounds = roundsOf(order.map((name) => ({ failing: [name], loads: true, blocking: 1 })));
        const stops = rounds.map((_, at) => stopsAt(rounds.slice(0, at + 1)));
        expect(stops.some((stop) => stop !== null)).toBe(true);
      }),
    );
  });

  test("rounds before the gate's last pass are neither restored nor compared", () => {
    const [first, second] = roundsOf([
      { failing: ["new 1"], loads: true, blocking: 1 },
      { failing: ["base 1"], loads: true, blocking: 1 },
    ]);
    expect(brokenTests([first!, second!], [])).toEqual(["base 1"]);
    expect(brokenTests([first!, { ...second!, afterPass: true }], [])).toEqual([]);
  });

  test("a test of the work that passed in the last round is broken only against that round", () => {
    const [first, second] = roundsOf([
      { failing: ["new 1"], loads: true, blocking: 1 },
      { failing: ["new 2"], loads: true, blocking: 1 },
    ]);
    const passedLast = { ...second!, identities: { ...second!.identities!, passedLast: ["new 2"] } };
    expect(brokenTests([first!, second!], [])).toEqual([]);
    expect(brokenTests([first!, passedLast], [])).toEqual(["new 2"]);
  });

  test("rounds of an older journal without tests are not compared", () => {
    const [first, second] = roundsOf([
      { failing: ["new 1"], loads: true, blocking: 1 },
      { failing: ["base 1"], loads: true, blocking: 1 },
    ]);
    const { identities: _1, findings: _2, ...old } = first!;
    expect(brokenTests([old, second!], [])).toEqual([]);
    expect(brokenTests([old, first!, second!], [])).toEqual(["base 1"]);
    expect(bestRound([old], [])).toBeNull();
  });

  describe("a run that does not name all of its failing tests", () => {
    const [first, second] = roundsOf([
      { failing: ["new 1"], loads: true, blocking: 1 },
      { failing: ["base 1"], loads: true, blocking: 1 },
    ]) as [Round, Round];
    const unlisted = (round: Round, more: number): Round => ({
      ...round,
      identities: { ...round.identities!, unlisted: more },
    });

    test("counts failures without a name as lost", () => {
      expect(bestRound([unlisted(first, 2), second], [])).toBe(second);
      expect(bestRound([unlisted(first, 1), unlisted(second, 1)], [])!.commit).toBe(first.commit);
    });

    test("shows a base failure as fixed only if its name is among the passed tests", () => {
      const named = {
        ...unlisted(second, 1),
        identities: { ...unlisted(second, 1).identities!, passing: ["target 1"] },
      };
      expect(bestRound([unlisted(second, 1), named], ["target 1"])).toBe(named);
    });

    test("is not compared: tests that fail now may have failed then", () => {
      expect(brokenTests([first, second], [])).toEqual(["base 1"]);
      expect(brokenTests([unlisted(first, 1), second], [])).toEqual([]);
    });
  });

  test("a test that passed last time is no regression where the best round is an older one", () => {
    const [best, worse, now] = roundsOf([
      { failing: ["new 1"], loads: true, blocking: 1 },
      { failing: ["new 1", "base 1"], loads: true, blocking: 2 },
      { failing: ["new 2"], loads: true, blocking: 1 },
    ]) as [Round, Round, Round];
    const passedLast = { ...now, identities: { ...now.identities!, passedLast: ["new 2"] } };
    expect(brokenTests([best, worse, passedLast], [])).toEqual([]);
    expect(brokenTests([best, passedLast], [])).toEqual(["new 2"]);
  });

  test("a round that does not load breaks nothing, even if an earlier one did not load for the same reason", () => {
    const [first, best, now] = roundsOf([
      { failing: [], loads: false, blocking: 1 },
      { failing: ["new 1"], loads: true, blocking: 1 },
      { failing: [], loads: false, blocking: 1 },
    ]) as [Round, Round, Round];
    const again = { ...now, identities: { ...now.identities!, failing: first.identities!.failing } };
    expect(brokenTests([first, best, again], [])).toEqual([]);
  });

  test("nothing is open or broken before the first round, and openCount counts the newest", () => {
    expect(openCount([])).toBe(0);
    expect(brokenTests([], [])).toEqual([]);
    const rounds = roundsOf([
      { failing: ["new 1"], loads: true, blocking: 1 },
      { failing: ["new 1", "new 2"], loads: true, blocking: 2 },
    ]);
    expect(openCount(rounds)).toBe(2);
    const { identities: _1, findings: _2, ...old } = rounds[1]!;
    expect(openCount([old])).toBe(0);
  });

  test("a round improves if it loads, fixes something, and breaks or brings back nothing", () => {
    const told = (failing: readonly string[], loads = true): Told => ({ failing, loads, blocking: failing.length });
    const improves = (...history: Told[]): boolean => isStrictlyImproving(roundsOf(history), TARGETS);
    const both = ["new 1", "new 2"];
    expect(improves(told(both))).toBe(false);
    expect(improves(told(both), told(["new 1"]))).toBe(true);
    expect(improves(told(both), told(both))).toBe(false);
    expect(improves(told(both), told([], false))).toBe(false);
    expect(improves(told(both), told(["new 1", "base 1"]))).toBe(false);
    expect(improves(told([...both, "new 3"]), told(["new 1", "new 3"]), told(["new 2", "new 3"]))).toBe(false);
  });
});
