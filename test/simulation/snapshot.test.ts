import fc from "fast-check";
import { expect, test } from "vitest";
import { createMemoryJournal } from "../kit/memory-journal.ts";
import { exitCodeOf } from "../../src/app/command.ts";
import { presetPolicy } from "../../src/config/presets.ts";
import { foldJournal, NOTHING_FOLDED, stateText, withLine } from "../../src/engine/fold-journal.ts";
import { foldStoryDetails, foldOutlines } from "../../src/engine/fold-outlines.ts";
import { createSnapshotSaver, SNAPSHOT_FORMAT } from "../../src/engine/snapshot.ts";
import { EMPTY_RUN, newStory } from "../../src/fold/new-state.ts";
import { decide } from "../../src/decide/decide.ts";
import type { Recorded } from "../../src/core/events/event.ts";
import { storyId, type StoryId } from "../../src/core/events/ids.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import type { Journal, JournalReader } from "../../src/ports/journal.ts";
import { undoRefusal } from "../../src/core/stories/escalation.ts";
import { boardRows } from "../../src/views/board/board.ts";
import { inboxItems, itemsOf } from "../../src/views/answers/inbox.ts";
import { summaryText } from "../../src/views/run/run-summary.ts";
import { stateOf } from "../seeds/scripted-run.ts";
import { choices, walk } from "./random-walk.ts";
import { story } from "../kit/story-world.ts";

/** Without any snapshot. */
async function foldEveryLine(journal: Pick<JournalReader, "read">): Promise<RunState> {
  let folded = NOTHING_FOLDED();
  for await (const line of journal.read(0)) folded = withLine(folded, line);
  return folded.state;
}

// S4.100
test("from snapshots taken anywhere the journal gives the same state, the same decisions and the same board", async () => {
  const policy = presetPolicy("critic-audit");
  const stories = [story("a"), story("b", { dependsOn: [storyId("a")] }), story("c", { dependsOn: [storyId("b")] })];
  await fc.assert(
    fc.asyncProperty(choices, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), async (picks, cuts) => {
      const { events } = walk(policy, stories, picks, 5);
      const journal = createMemoryJournal();
      const all = [...events.slice(0, 2), STRAY, ...events.slice(2)];
      const seqs = await written(journal, all, new Set(cuts.map((cut) => 1 + (cut % all.length))));
      const whole = await foldEveryLine(journal);
      const folded = await foldJournal(journal);
      expect(stateText(folded.state)).toBe(stateText(whole));
      expect(decide(folded.state, policy, 1e15)).toEqual(decide(whole, policy, 1e15));
      expect(new Map(folded.seqs)).toEqual(seqs);
      const outlined = await foldOutlines(journal);
      expect(boardRows(outlined, null)).toEqual(boardRows(whole, null));
      expect(exitCodeOf(outlined, null)).toBe(exitCodeOf(whole, null));
      expect(summaryText(outlined, null, ".")).toBe(summaryText(whole, null, "."));
      const open = await foldOutlines(journal, "open", 0);
      const goesOn = ({ status }: { readonly status: string }): boolean => !["accepted", "failed"].includes(status);
      expect(boardRows(open, null).filter(goesOn)).toEqual(boardRows(whole, null).filter(goesOn));
      expect(exitCodeOf(open, null)).toBe(exitCodeOf(whole, null));
      expect(summaryText(open, null, ".")).toBe(summaryText(whole, null, "."));
      for (const { id } of stories) {
        const one = await foldOutlines(journal, [id]);
        expect(boardRows(one, [id])).toEqual(boardRows(whole, [id]));
        expect(exitCodeOf(one, [id])).toBe(exitCodeOf(whole, [id]));
        expect(summaryText(one, [id], ".")).toBe(summaryText(whole, [id], "."));
        const close = await foldStoryDetails(journal, [id, storyId("of-no-such-name")]);
        expect(close.states).toEqual([stateOf(whole, id)]);
        expect(boardRows(close.run, [id])).toEqual(boardRows(whole, [id]));
        expect(undoRefusal(close.run, close.states[0]!)).toBe(undoRefusal(whole, stateOf(whole, id)));
      }
      const asking = await foldStoryDetails(journal, "asking");
      expect(itemsOf(asking.run, asking.states)).toEqual(inboxItems(whole));
    }),
    { numRuns: 60 },
  );
});

/** A line that no story knows of: the number of lines of its stream is still known after a snapshot. */
const STRAY = { story: storyId("nobody"), event: { type: "story.started", by: "test" }, at: 1 } as const;

/** Writes the lines, and snapshots at these places; at some of them another engine takes over. */
async function written(
  journal: Journal,
  recorded: readonly Pick<Recorded, "story" | "event" | "at">[],
  places: ReadonlySet<number>,
): Promise<Map<StoryId | null, number>> {
  const seqs = new Map<StoryId | null, number>();
  let folded = NOTHING_FOLDED();
  let save = createSnapshotSaver(journal, null);
  for (const { story: stream, event, at } of recorded) {
    const appended = await journal.append(stream, seqs.get(stream) ?? 0, [event], at);
    if (!appended.ok) throw new Error("nobody else writes here");
    for (const line of appended.stored) folded = withLine(folded, line);
    seqs.set(stream, (seqs.get(stream) ?? 0) + 1);
    if (!places.has(folded.position)) continue;
    await save(folded);
    if (folded.position % 2 === 0) continue;
    const opened = await foldJournal(journal);
    [folded, save] = [opened, createSnapshotSaver(journal, opened.kept)];
  }
  return seqs;
}

test("the form of the state is the one the snapshots' format was given to", () => {
  const keys = [...Object.keys(EMPTY_RUN), ...Object.keys(newStory(story("a"), 0, 0))].sort().join(" ");
  // When this changes, old snapshots do not fit any more: give SNAPSHOT_FORMAT another number, then update this line.
  expect(`${SNAPSHOT_FORMAT}: ${keys}`).toMatchInlineSnapshot(
    `"run/16: arrival asked attempts base busy commit completed counters delivered dependents disputes ending escalatedAt escalation escalation escalations escalations exceptions failing flagged gates grace guidance halted held inFlight lanes locations message phase policy policy position preExisting productReady queued raised raised remediation requested rework reworks running scope seq seq sessions spent spent startedAt startedFrom stopping stories story timers tree trees undo usual wait waivers warned warned watched"`,
  );
});
