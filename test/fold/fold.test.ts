import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { Event, Recorded } from "../../src/core/events/event.ts";
import { roleName, storyId, treeId } from "../../src/core/events/ids.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { decide } from "../../src/decide/decide.ts";
import { evolve, fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { canonicalJson } from "../../src/stdx/canonical-json.ts";
import { attemptEnd, attemptStart, judgement, outcomesOf, recordedEvent, story } from "../kit/story-world.ts";
import { begin, lineOf, performCommand, runScript, stateOf, foldEvents } from "../seeds/scripted-run.ts";
import { byText, lookup } from "../../src/stdx/sorted-map.ts";

const POLICY = presetPolicy("critic-audit");

/** A journal made by choosing any outcome of any command, as the numbers say. */
function journal(choices: readonly number[]): { events: Recorded[]; run: RunState } {
  const first: Recorded[] = [
    recordedEvent(0, null, { type: "policy.set", policy: POLICY, by: "test" }),
    ...["a", "b"].map((id) => recordedEvent(0, id, { type: "story.added", story: story(id) })),
  ];
  const events = [...first];
  let run = fold(first, EMPTY_RUN);
  for (const [step, choice] of choices.entries()) {
    const commands = decide(run, POLICY, step * 1000);
    const command = commands[choice % Math.max(1, commands.length)];
    if (command === undefined) continue;
    const state = command.story === null ? null : (lookup(run.stories, command.story, byText) ?? null);
    const outcomes = outcomesOf(command, state);
    for (const event of outcomes[(choice >> 4) % outcomes.length]!.events) {
      const line = recordedEvent(step * 1000, command.story, event);
      events.push(line);
      run = evolve(run, line);
    }
  }
  return { events, run };
}

const CHOICES = fc.array(fc.nat(0xffff), { maxLength: 80 });

describe("the fold", () => {
  // S0.16, S2.14, S4.16, S4.79
  it("gives the same state byte for byte when the journal is replayed, whole or in parts", () => {
    fc.assert(
      fc.property(CHOICES, fc.nat(), (choices, cut) => {
        const { events, run } = journal(choices);
        const at = cut % (events.length + 1);
        const again = fold(events.slice(at), fold(events.slice(0, at), EMPTY_RUN));
        expect(canonicalJson(again)).toBe(canonicalJson(run));
      }),
      { numRuns: 100 },
    );
  });

  it("decides the same commands with the same keys every time", () => {
    fc.assert(
      fc.property(CHOICES, (choices) => {
        const { run } = journal(choices);
        expect(decide(run, POLICY, 99_000)).toEqual(decide(run, POLICY, 99_000));
      }),
      { numRuns: 100 },
    );
  });

  it("counts each stream, and the whole journal", () => {
    const { events, run } = journal([0, 16, 32, 48, 64, 80]);
    expect(run.position).toBe(events.length);
    expect(stateOf(run, "a").seq + stateOf(run, "b").seq + run.seq).toBe(events.length);
  });
});

describe("events without effect", () => {
  const run = begin(POLICY, story("a"));
  const PROJECT: Event[] = [
    { type: "policy.set", policy: POLICY, by: "x" },
    { type: "base.moved", commit: "b" },
    { type: "run.resumed", by: "x" },
    { type: "infrastructure.blocked", issue: "x" },
    { type: "remediation.started", attempt: 1 },
    { type: "health.checked", healthy: true, remaining: [], durationMs: 1 },
  ];

  it.each(PROJECT.map((event) => [event.type, event] as const))(
    "%s in a story's stream changes no story",
    (_type, event) => {
      const after = foldEvents(run, "a", event);
      expect({ ...after, position: 0 }).toEqual({ ...run, position: 0 });
    },
  );

  it("an event of a story nobody knows, and a story that is added twice", () => {
    expect(foldEvents(run, "nobody", { type: "story.accepted" }).stories).toBe(run.stories);
    expect(
      stateOf(foldEvents(run, "a", { type: "story.added", story: story("a", { title: "Other" }) }), "a").story.title,
    ).toBe("Story a");
  });

  it("a story's event in the project's stream", () => {
    expect(foldEvents(run, null, { type: "story.accepted" })).toMatchObject({ remediation: null, halted: null });
  });

  it("a repair or a health check when nothing is broken only adds its cost", () => {
    const after = foldEvents(
      run,
      null,
      { type: "remediation.started", attempt: 1 },
      { type: "health.checked", healthy: false, remaining: [], costUsd: 3, durationMs: 1 },
    );
    expect(after.remediation).toBeNull();
    expect(after.spent.costUsd).toBe(3);
  });

  it("blame when nothing fails", () => {
    const blame = {
      verdict: "unmet",
      basis: "ranked",
      confidence: 1,
      suspects: [],
      explanation: "",
      testRuns: 0,
    } as const;
    const state = stateOf(foldEvents(run, "a", { type: "blame.found", gate: "checks", blame, durationMs: 7 }), "a");
    expect(state).toMatchObject({ failing: null, spent: { timeMs: 7 } });
  });

  it("a second report of broken infrastructure does not restart the first repair", () => {
    const once = foldEvents(run, null, { type: "infrastructure.blocked", issue: "first" });
    expect(foldEvents(once, null, { type: "infrastructure.blocked", issue: "second" }).remediation?.issue).toBe(
      "first",
    );
  });
});

describe("a judgement of another tree than the current one", () => {
  it.each(["pass", "fail"] as const)("%s: proves nothing", (result) => {
    const ready = runScript(begin(POLICY, story("a")), (command) =>
      command.type === "start-gate" ? [{ type: "story.held", by: "x" }] : null,
    ).run;
    const state = stateOf(
      foldEvents(ready, "a", { type: "gate.judged", judgement: judgement("integrity", "old", result) }),
      "a",
    );
    expect(state.gates.integrity).toMatchObject({ fresh: false, inconclusives: 1, failuresEver: 0 });
    expect(state.failing).toBeNull();
  });
});

describe("an agent that waits for another story", () => {
  const waits = (run: RunState, id: string, waitsFor: string) => {
    let next = run;
    for (let i = 0; i < 2; i++) {
      const command = decide(next, POLICY, 0).find((each) => each.story === id)!;
      next = performCommand(next, command, (each, state) =>
        each.type === "start-attempt"
          ? [
              attemptStart(each),
              attemptEnd(
                each.attempt,
                {
                  type: "incomplete",
                  category: "blocked_by_dependency",
                  blocker: "x",
                  attempted: [],
                  needed: "y",
                  waitsFor,
                },
                state!.tree!,
                { changed: [], productChanged: false },
              ),
            ]
          : null,
      );
    }
    return next;
  };

  it("waits for it", () => {
    const run = waits(begin(POLICY, story("a"), story("b")), "a", "b");
    expect(stateOf(run, "a").wait).toEqual({ type: "story", story: "b", why: "x" });
    expect(stateOf(runScript(run).run, "a").ending?.how).toBe("accepted");
  });

  it.each([
    ["that nobody knows", begin(POLICY, story("a")), "ghost"],
    ["that is over", begin(POLICY, story("a"), story("b", { shelf: "done" })), "b"],
    ["that depends on it", begin(POLICY, story("a"), story("b", { dependsOn: [storyId("a")] })), "b"],
    [
      "that depends on one that depends on it",
      begin(
        POLICY,
        story("a"),
        story("b", { dependsOn: [storyId("c")] }),
        story("c", { dependsOn: [storyId("a"), storyId("ghost")] }),
      ),
      "b",
    ],
  ])("or, for one %s, a while", (_name, run, on) => {
    expect(stateOf(waits(run, "a", on), "a").wait?.type).toBe("time");
  });

  it("two that wait for each other do not wait forever", () => {
    const one = waits(begin(POLICY, story("a"), story("b")), "a", "b");
    expect(stateOf(waits(one, "b", "a"), "b").wait?.type).toBe("time");
  });
});

describe("where a story begins", () => {
  it("a story in the backlog is not worked on until a person makes it ready", () => {
    const run = begin(POLICY, story("a", { shelf: "backlog" }));
    expect(decide(run, POLICY, 0)).toEqual([]);
    const ready = foldEvents(run, "a", { type: "story.changed", story: story("a"), what: ["shelf"] });
    expect(decide(ready, POLICY, 0).map(lineOf)).toEqual(["start-story"]);
  });

  it("a story whose file says done is accepted, with a note of that", () => {
    expect(stateOf(begin(POLICY, story("a", { shelf: "done" })), "a").ending).toMatchObject({
      how: "accepted",
      forced: { by: "the story's file" },
    });
  });

  it("a retried start keeps its policy", () => {
    const run = foldEvents(
      begin(POLICY, story("a")),
      "a",
      { type: "story.started", by: "e" },
      { type: "step.failed", step: "prepare", detail: "no space", infrastructure: false },
    );
    const other = foldEvents(run, null, { type: "policy.set", policy: { ...POLICY, preset: "goal" }, by: "Ada" });
    const again = foldEvents(
      other,
      "a",
      { type: "story.started", by: "e" },
      { type: "story.prepared", tree: treeId("t0"), commit: "c", preExisting: ["old"] },
    );
    expect(stateOf(again, "a")).toMatchObject({
      policy: { preset: "critic-audit" },
      preExisting: ["old"],
      counters: { stepFailures: 0 },
    });
  });

  it("without a policy nothing starts", () => {
    const run = fold([recordedEvent(0, "a", { type: "story.added", story: story("a") })], EMPTY_RUN);
    expect(decide(run, POLICY, 0)).toEqual([]);
    expect(stateOf(foldEvents(run, "a", { type: "story.started", by: "x" }), "a").policy).toBeNull();
  });
});

const START = {
  type: "start-attempt",
  key: "a:1",
  story: storyId("a"),
  phase: "implement",
  role: roleName("developer"),
  reworkOf: null,
  spellOutFormat: false,
  timeoutMs: 1,
  forecastUsd: null,
} as const;

describe("a branch that is updated from its target", () => {
  const atAudit = runScript(begin(POLICY, story("a")), (command) =>
    command.type === "start-gate" && command.gate === "audit" ? [{ type: "story.held", by: "x" }] : null,
  ).run;
  const updatedWith = (changed: readonly string[]) =>
    ({ type: "branch.updated", tree: treeId("both"), commit: "c9", changed, conflicts: [] }) as const;
  const updated = (changed: readonly string[]) => stateOf(foldEvents(atAudit, "a", updatedWith(changed)), "a");

  it("is judged again only by gates whose paths the target changed", () => {
    expect(updated(["src/a.ts"]).gates).toMatchObject({ checks: { fresh: false }, review: { fresh: false } });
    expect(updated(["README.md"]).gates).toMatchObject({ checks: { fresh: true }, review: { fresh: false } });
    expect(updated(["src/a.ts"])).toMatchObject({ tree: "both", commit: "c9", running: null });
  });

  it("has integrity run again too: every gate must pass the delivered tree", () => {
    expect(updated(["a.ts"]).gates.integrity?.fresh).toBe(false);
    expect(updated([]).gates.integrity?.fresh).toBe(true);
  });

  it("is not blamed for the target's changes: the next work is compared with the updated tree", () => {
    expect(updated(["src/a.ts"])).toMatchObject({ startedFrom: null, scope: null });
    const next = foldEvents(atAudit, "a", updatedWith(["src/a.ts"]), attemptStart({ ...START, attempt: 9 }));
    expect(stateOf(next, "a").startedFrom).toBe("both");
  });
});

describe("the baseline of work", () => {
  const steps = (...outcomes: readonly ("ready" | "crashed")[]) => {
    let run = foldEvents(begin(POLICY, story("a")), "a", { type: "story.started", by: "x" });
    run = foldEvents(run, "a", { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] });
    for (const [index, type] of outcomes.entries()) {
      const attempt = index + 1;
      const end = type === "ready" ? ({ type } as const) : ({ type, detail: "x" } as const);
      run = foldEvents(
        run,
        "a",
        attemptStart({ ...START, attempt }),
        attemptEnd(attempt, end, `t${attempt}`, { changed: ["src/a.ts"] }),
      );
    }
    return stateOf(run, "a").startedFrom;
  };

  it("is the tree before it; leftovers of a crashed attempt count as its own", () => {
    expect(steps("ready")).toBe("t0");
    expect(steps("ready", "ready")).toBe("t1");
    expect(steps("crashed", "ready")).toBe("t0");
    expect(steps("ready", "crashed", "crashed", "ready")).toBe("t1");
  });
});
