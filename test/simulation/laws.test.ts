import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { canonicalJson } from "../../src/stdx/canonical-json.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { PRESETS, type Policy } from "../../src/core/events/policy.ts";
import type { Recorded } from "../../src/core/events/event.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import { affects } from "../../src/decide/gate-status.ts";
import { stepsBound } from "./steps-bound.ts";
import { decide } from "../../src/decide/decide.ts";
import { evolve, fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { isWaitNamed } from "./laws.ts";
import { choices, walk } from "./random-walk.ts";
import { story } from "../kit/story-world.ts";

const RUNS = { numRuns: Number(process.env["REMAND_WALKS"] ?? 400) };
const STORIES = [
  story("a"),
  story("b", { dependsOn: [storyId("a")] }),
  story("c", { priority: 0 }),
  story("d", { dependsOn: [storyId("b"), storyId("c")] }),
];
const presets = fc.constantFrom(...PRESETS).map((name): Policy => presetPolicy(name));

/** Laws 2 to 5 are asserted inside the walk, at every turn, against the walk's own record of what was proven. */
describe("laws, over random runs of four stories", () => {
  test("1: every run ends, accepted or failed or with somebody named to wait for, within its bound", () => {
    fc.assert(
      fc.property(
        presets,
        fc.array(fc.nat({ max: 1_000_000 }), { minLength: 3000, maxLength: 3000 }),
        (policy, picks) => {
          const { isOver, run, events } = walk(policy, STORIES, picks, 0);
          expect(isOver).toBe(true);
          expect(isWaitNamed(run)).toBe(true);
          expect(events.length).toBeLessThan(STORIES.length * stepsBound(policy));
        },
      ),
      { numRuns: Math.ceil(RUNS.numRuns / 3) },
    );
  });

  test("2, 3, 4, 5: no gate without proof, no budget exceeded, only failures charged, nothing dispatched while blocked", () => {
    fc.assert(
      fc.property(presets, choices, fc.nat({ max: 12 }), (policy, picks, answersEvery) => {
        const { run, witness } = walk(policy, STORIES, picks, answersEvery);
        for (const [id, state] of entries(run.stories)) {
          if (state.ending?.how !== "accepted" || state.ending.forced !== null) continue;
          for (const gate of policy.phases.at(-1)!.gates) {
            const isWaived = state.waivers.some((waiver) => waiver.gate === gate && waiver.by !== "");
            expect(isWaived || witness.proven[id]?.[gate]).toBe(true);
          }
        }
      }),
      RUNS,
    );
  });

  test("3: a restart anywhere decides the same, and a finished attempt is not dispatched again", () => {
    fc.assert(
      fc.property(presets, choices, fc.nat(), (policy, picks, cut) => {
        const { events, commands } = walk(policy, STORIES, picks, 5);
        const part = events.slice(0, cut % (events.length + 1));
        const once = fold(part, EMPTY_RUN);
        const again = fold(JSON.parse(JSON.stringify(part)) as Recorded[], EMPTY_RUN);
        expect(decide(again, policy, 1e15)).toEqual(decide(once, policy, 1e15));
        const started = commands.flatMap((command) =>
          command.type === "start-attempt" ? [`${command.story} ${command.attempt}`] : [],
        );
        expect(new Set(started).size).toBe(started.length);
      }),
      RUNS,
    );
  });

  test("6: a gate is judged again if, and only if, what changed could have changed its evidence", () => {
    fc.assert(
      fc.property(presets, choices, (policy, picks) => {
        const { events } = walk(policy, STORIES, picks, 0);
        let run = EMPTY_RUN;
        const proven = new Map<string, boolean>();
        for (const line of events) {
          const before = line.story === null ? undefined : lookup(run.stories, line.story, byText);
          const key = (gate: GateName): string => `${line.story} ${gate}`;
          const { event } = line;
          // Judged again although it had passed and nothing it looks at has changed since?
          if (event.type === "gate.started") expect(proven.get(key(event.gate)) ?? false).toBe(false);
          run = evolve(run, line);
          const after = line.story === null ? undefined : lookup(run.stories, line.story, byText);
          if (event.type === "gate.judged") proven.set(key(event.judgement.gate), event.judgement.result === "pass");
          if (event.type === "attempt.finished" || event.type === "lint.fixed")
            for (const gate of Object.keys(policy.gates) as GateName[])
              if (affects(policy, gate, event.changed)) proven.delete(key(gate));
          if (before?.phase !== after?.phase || event.type === "tree.restored")
            for (const gate of Object.keys(policy.gates) as GateName[]) proven.delete(key(gate));
        }
      }),
      RUNS,
    );
  });

  test("7: state is a fold: event by event, in parts, or from text, it is the same to the byte", () => {
    fc.assert(
      fc.property(presets, choices, fc.nat(), (policy, picks, cut) => {
        const { run, events } = walk(policy, STORIES, picks, 4);
        const middle = cut % (events.length + 1);
        const inParts = fold(events.slice(middle), fold(events.slice(0, middle), EMPTY_RUN));
        const fromText = fold(
          events.map((line) => JSON.parse(JSON.stringify(line)) as Recorded),
          EMPTY_RUN,
        );
        expect(canonicalJson(inParts)).toBe(canonicalJson(run));
        expect(canonicalJson(fromText)).toBe(canonicalJson(run));
      }),
      RUNS,
    );
  });

  test("8: stories that wait for nobody are not held up by one that is escalated", () => {
    fc.assert(
      fc.property(presets, choices, (policy, picks) => {
        const { run } = walk(policy, STORIES, picks, 0);
        if (run.remediation !== null || run.escalation !== null) return;
        const due = new Set(decide(run, policy, Number.MAX_SAFE_INTEGER).map((command) => command.story));
        for (const [id, state] of entries(run.stories)) {
          const isFree = state.ending === null && state.escalation === null && !state.held && state.running === null;
          const waits =
            state.policy === null &&
            state.story.dependsOn.some((on) => lookup(run.stories, on, byText)?.ending?.how !== "accepted");
          // Beside a story that must run alone the others wait for their turn: then one of them is due.
          if (isFree && (run.alone ?? 0) === 0) expect(due.has(id)).toBe(!waits);
          if (isFree && !waits) expect(due.size).toBeGreaterThan(0);
        }
      }),
      RUNS,
    );
  });

  test("lines that come twice, late, or from nowhere never break the fold", () => {
    fc.assert(
      fc.property(presets, choices, fc.array(fc.nat(), { maxLength: 30 }), (policy, picks, noise) => {
        const { events } = walk(policy, STORIES, picks, 3);
        const mixed = [...events];
        for (const n of noise) mixed.splice(n % mixed.length, 0, events[(n * 7) % events.length]!);
        const run = fold(mixed, EMPTY_RUN);
        for (const lane of Object.values(run.busy)) expect(lane).toBeGreaterThanOrEqual(0);
        expect(() => decide(run, policy, Number.MAX_SAFE_INTEGER)).not.toThrow();
      }),
      RUNS,
    );
  });
});
