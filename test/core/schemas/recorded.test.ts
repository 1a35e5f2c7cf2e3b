import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Event, Recorded } from "../../../src/core/events/event.ts";
import { AUTONOMIES, PRESETS, type Policy } from "../../../src/core/events/policy.ts";
import { decide } from "../../../src/decide/decide.ts";
import { evolve, fold } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { eventSchema, readRecorded } from "../../../src/core/schemas/event.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import { outcomesOf, recordedEvent, story } from "../../kit/story-world.ts";
import { EVENTS, recordedOf } from "../../kit/event-arbitraries.ts";

const TYPES = Object.keys(EVENTS) as Event["type"][];
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("these tests make every event that the schema knows, and no other", () => {
  expect([...TYPES].sort()).toEqual(eventSchema.options.map((option) => option.shape.type.value).sort());
});

describe("a stored line reads back as the same value", () => {
  test.each(TYPES)("%s", (type) => {
    fc.assert(
      fc.property(recordedOf(type), (line) => {
        expect(readRecorded(stored(line))).toStrictEqual({ ok: true, recorded: line });
      }),
    );
  });

  test("the policy of every preset with every autonomy", () => {
    for (const preset of PRESETS)
      for (const autonomy of AUTONOMIES) {
        const line = recordedEvent(0, null, {
          type: "policy.set",
          policy: { ...presetPolicy(preset), autonomy },
          by: "Ada",
        });
        expect(readRecorded(stored(line))).toStrictEqual({ ok: true, recorded: line });
      }
  });

  test("the journal of a whole run, which folds to the same state again", () => {
    const picks = fc.array(fc.nat(), { minLength: 20, maxLength: 80 });
    fc.assert(
      fc.property(fc.constantFrom(...PRESETS), picks, (preset, choices) => {
        const journal = journalOf(presetPolicy(preset), choices);
        const read = journal.map((line) => readRecorded(stored(line)));
        expect(read).toEqual(journal.map((line) => ({ ok: true, recorded: line })));
        const again = read.flatMap((line) => (line.ok ? [line.recorded] : []));
        expect(fold(again, EMPTY_RUN)).toEqual(fold(journal, EMPTY_RUN));
      }),
      { numRuns: 40 },
    );
  });
});

/** A made-up run of two stories: at each turn some due command goes some way. */
function journalOf(policy: Policy, choices: readonly number[]): Recorded[] {
  const stories = [story("a"), story("b")];
  const journal = [
    recordedEvent(0, null, { type: "policy.set", policy, by: "Ada" }),
    ...stories.map((each) => recordedEvent(0, each.id, { type: "story.added", story: each })),
  ];
  let run = fold(journal, EMPTY_RUN);
  for (const choice of choices) {
    const due = decide(run, policy, Number.MAX_SAFE_INTEGER);
    const command = due[choice % due.length];
    if (command === undefined) break;
    const ways = outcomesOf(command, command.story === null ? null : lookup(run.stories, command.story, byText)!);
    for (const event of ways[(choice >> 3) % ways.length]!.events) {
      const line = recordedEvent(journal.length, command.story, event);
      journal.push(line);
      run = evolve(run, line);
    }
  }
  return journal;
}

test("anything at all is read without throwing", () => {
  const anything = fc.anything({
    withNullPrototype: true,
    withBigInt: true,
    withDate: true,
    withMap: true,
    maxDepth: 4,
  });
  fc.assert(
    fc.property(anything, anything, (value, event) => {
      expect(readRecorded(value).ok).toBe(false);
      expect(readRecorded({ v: 1, at: 0, story: null, event }).ok).toBe(false);
    }),
    { numRuns: 500 },
  );
});
