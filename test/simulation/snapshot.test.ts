import fc from "fast-check";
import { expect, test } from "vitest";
import { createMemoryJournal } from "../../src/adapters/journal/memory-journal.ts";
import { presetPolicy } from "../../src/config/preset-policy.ts";
import {
  foldAnew,
  foldJournal,
  saveSnapshot,
  SNAPSHOT_FORMAT,
  withLine,
  type Folded,
} from "../../src/engine/fold-journal.ts";
import { EMPTY_RUN, newStory } from "../../src/policy/new-state.ts";
import { decide } from "../../src/policy/decide.ts";
import { canonicalJson } from "../../src/stdx/canonical-json.ts";
import { choices, walk } from "./random-walk.ts";
import { story } from "./world.ts";

test("from a snapshot taken anywhere the journal gives the same state, to the byte, and the same decisions", async () => {
  const policy = presetPolicy("critic-audit");
  await fc.assert(
    fc.asyncProperty(choices, fc.nat(), async (picks, cut) => {
      const { events } = walk(policy, [story("a"), story("b")], picks, 5);
      const journal = createMemoryJournal();
      const seqs = new Map<string | null, number>();
      for (const { story: stream, event, at } of events) {
        await journal.append(stream, seqs.get(stream) ?? 0, [event], at);
        seqs.set(stream, (seqs.get(stream) ?? 0) + 1);
      }
      const whole = await foldAnew(journal, Infinity);
      let part: Folded = { state: EMPTY_RUN, position: 0, seqs: new Map() };
      const upTo = 1 + (cut % events.length);
      for await (const line of journal.read(0)) if (line.position <= upTo) part = withLine(part, line);
      await saveSnapshot(journal, part);
      const folded = await foldJournal(journal);
      expect(canonicalJson(folded.state)).toBe(canonicalJson(whole));
      expect(decide(folded.state, policy, 1e15)).toEqual(decide(whole, policy, 1e15));
      expect(new Map(folded.seqs)).toEqual(seqs);
    }),
    { numRuns: 60 },
  );
});

test("the form of the state is the one the snapshots' format was given to", () => {
  const keys = [...Object.keys(EMPTY_RUN), ...Object.keys(newStory(story("a"), 0, 0))].sort().join(" ");
  // When this changes, old snapshots do not fit any more: give SNAPSHOT_FORMAT another number, then mend this line.
  expect(`${SNAPSHOT_FORMAT}: ${keys}`).toMatchInlineSnapshot(
    `"run/4: arrival asked attempts base busy commit completed counters delivered dependents disputes ending escalation escalation escalations escalations exceptions failing flagged gates grace guidance halted held inFlight lanes locations message phase policy policy position preExisting productReady queued raised raised remediation requested rework reworks running scope seq seq sessions spent spent startedAt stopping stories story timers tree trees usual wait waivers warned warned watched"`,
  );
});
