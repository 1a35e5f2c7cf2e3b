import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { ANSWER_VERBS, undoRefusal } from "../../src/core/stories/escalation.ts";
import type { Event } from "../../src/core/events/event.ts";
import { type StoryId, storyId } from "../../src/core/events/ids.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { decide } from "../../src/decide/decide.ts";
import { escalateStory } from "../../src/decide/escalate.ts";
import { entries } from "../../src/stdx/sorted-map.ts";
import { choices, walk } from "../simulation/random-walk.ts";
import { keyOf } from "../simulation/state-key.ts";
import { answer, story } from "../kit/story-world.ts";
import { begin, performCommand, reasonFor, runScript, stateOf, foldEvents, world } from "../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const UNDONE: Event = { type: "answer.undone", by: "Ada" };
const stuck = (...more: Parameters<typeof begin>[1][]): RunState =>
  runScript(begin(POLICY, story("a"), ...more), world({ gates: { review: ["fail", "fail", "fail"] }, story: "a" })).run;
/** The run with a question about the story: only a question can be deferred. */
function asked(run: RunState, id: StoryId): RunState {
  const state = stateOf(run, id);
  if (state.escalation !== null) return run;
  const reason = { type: "stall", stall: "same-failure", detail: "the same test fails" } as const;
  return foldEvents(run, id, { type: "escalation.raised", escalation: escalateStory(state, reason, "review") });
}

const whatNext = (run: RunState) => decide(run, POLICY, 1e15).map(({ key: _key, ...command }) => command);

describe("an answer that is undone", () => {
  it.each(["resolve", "send-back", "waive", "raise-budget", "force-complete", "abandon"] as const)(
    "%s leaves the story as it was, question and counters included",
    (verb) => {
      const run = stuck();
      const said = foldEvents(run, "a", answer(verb, { budget: "failures:review", limit: 9 }));
      expect(reasonFor(said, "a")).toBeNull();
      const back = foldEvents(said, "a", UNDONE);
      const { seq: _1, ...then } = stateOf(run, "a");
      const { seq: _2, ...now } = stateOf(back, "a");
      expect(now).toEqual(then);
      expect(stateOf(back, "a").gates.review?.failures).toBe(3);
    },
  );

  it("can be undone after the brief is written, and not once an attempt has started", () => {
    const said = foldEvents(stuck(), "a", answer("send-back", { message: "use the other one" }));
    const [sendBack] = decide(said, POLICY, 0);
    expect(sendBack?.type).toBe("send-back");
    const briefed = performCommand(said, sendBack!);
    expect(reasonFor(foldEvents(briefed, "a", UNDONE), "a")).toBe("budget");
    expect(stateOf(foldEvents(briefed, "a", UNDONE), "a").guidance).toEqual([]);
    const begun = performCommand(briefed, decide(briefed, POLICY, 0)[0]!);
    expect(undoRefusal(begun, stateOf(begun, "a"))).not.toBeNull();
    expect(keyOf(foldEvents(begun, "a", UNDONE))).toBe(keyOf(begun));
  });

  it("is only the last one, and only once", () => {
    const waived = foldEvents(stuck(), "a", answer("waive", { message: "one" }));
    const both = foldEvents(waived, "a", answer("send-back", { message: "two" }));
    const back = foldEvents(both, "a", UNDONE);
    expect(stateOf(back, "a").waivers).toHaveLength(1);
    expect(keyOf(foldEvents(back, "a", UNDONE))).toBe(keyOf(back));
  });

  it("must exist, and must not have been given while something ran", () => {
    const running = runScript(begin(POLICY, story("a")), (command) =>
      command.type === "start-gate"
        ? [{ type: "gate.started", gate: command.gate, tree: command.tree, stages: [] }]
        : null,
    ).run;
    expect(undoRefusal(running, stateOf(running, "a"))).toBe("work on it has begun");
    const said = foldEvents(running, "a", answer("send-back", { message: "stop" }));
    expect(undoRefusal(said, stateOf(said, "a"))).toBe("work on it has begun");
    expect(stateOf(foldEvents(said, "a", UNDONE), "a").requested).not.toBeNull();
  });

  it("stories that depend on a forced story wait again, unless their work has begun", () => {
    const b = story("b", { dependsOn: [storyId("a")] });
    const forced = foldEvents(stuck(b), "a", answer("force-complete"));
    expect(whatNext(forced)).toMatchObject([{ type: "start-story", story: "b" }]);
    const back = foldEvents(forced, "a", UNDONE);
    expect(whatNext(back)).toEqual([]);
    expect(reasonFor(back, "a")).toBe("budget");
    const begun = foldEvents(forced, "b", { type: "story.started", by: "engine" });
    expect(undoRefusal(begun, stateOf(begun, "a"))).toBe("work that builds on it has begun: b");
    expect(stateOf(foldEvents(begun, "a", UNDONE), "a").ending?.how).toBe("accepted");
  });

  it("keeps what it did not cause: warnings, ids of questions, and pauses", () => {
    const said = foldEvents(
      stuck(),
      "a",
      answer("resolve"),
      { type: "budget.warned", budget: "cost", used: 8, limit: 10 },
      { type: "story.held", by: "Eve" },
    );
    expect(stateOf(foldEvents(said, "a", UNDONE), "a")).toMatchObject({ warned: ["cost"], held: true, escalations: 1 });
  });

  it("an answer and its undo never change what is decided next", () => {
    const stories = [story("a"), story("b", { dependsOn: [storyId("a")] }), story("c")];
    fc.assert(
      fc.property(choices, fc.nat(), fc.constantFrom(...ANSWER_VERBS), (picks, which, verb) => {
        const { run } = walk(POLICY, stories, picks, 6);
        const open = [...entries(run.stories)].filter(([, state]) => state.ending === null && state.running === null);
        const [id] = open[which % Math.max(1, open.length)] ?? [];
        // These answer one question each, and unasked they change nothing that could be taken back.
        if (id === undefined || ["retry", "declare-healthy", "halt", "merge", "drop"].includes(verb)) return;
        const before = verb === "defer" ? asked(run, id) : run;
        const tests = verb === "allow" ? { tests: ["test/**"] } : {};
        const back = foldEvents(before, id, answer(verb, { gate: "review", ...tests }), UNDONE);
        expect(keyOf(back)).toBe(keyOf(before));
        expect(whatNext(back)).toEqual(whatNext(before));
      }),
      { numRuns: 300 },
    );
  });
});
