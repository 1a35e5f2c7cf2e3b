import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/preset-policy.ts";
import type { EndedAttempt } from "../../src/engine/report-attempt.ts";
import { attemptKey, isAttempt, reportAttempt, runningPhase } from "../../src/engine/report-attempt.ts";
import { roleName } from "../../src/domain/ids.ts";
import type { EngineWorld } from "../../src/engine/world.ts";
import { newStory } from "../../src/policy/new-state.ts";
import type { KeepNote } from "../../src/ports/workspace.ts";
import { agentResult } from "../contract/agent-result.ts";
import { story } from "../simulation/world.ts";
import { edit, stageOf, type Stage } from "./one-story.ts";

const POLICY = presetPolicy("critic-audit");
const ENDED: EndedAttempt = { outcome: { type: "ready" }, summary: "done", durationMs: 4 };

/** An agent has ended and nothing of that is reported yet. */
async function ended(isEdited: boolean): Promise<Stage> {
  const stage = await stageOf(POLICY, (on) => () => {
    if (isEdited) edit(on);
    return agentResult({ status: "cancelled" });
  });
  await stage.until("start-attempt");
  stage.disk.outbox.set("a/attempt-1", JSON.stringify(ENDED));
  stage.disk.deeds.outboxAsked.add("a/attempt-1");
  return stage;
}

async function report(stage: Stage): Promise<void> {
  const ledger = await stage.ledger();
  await reportAttempt(ledger, stage.world, ledger.story(stage.story.id), 1, ENDED);
}

describe("the report of an attempt", () => {
  test("says what git has of it, and empties the outbox", async () => {
    const stage = await ended(true);
    await report(stage);
    expect(await stage.events("attempt.finished")).toEqual([
      {
        type: "attempt.finished",
        attempt: 1,
        ...ENDED,
        tree: "t0+",
        commit: "t0+",
        changed: ["src/a.ts"],
        productChanged: true,
      },
    ]);
    expect(stage.disk.outbox.size).toBe(0);
  });

  test("of one that changed nothing asks git for no changes", async () => {
    const stage = await ended(false);
    const changed = async (): Promise<never> => expect.unreachable();
    stage.world = { ...stage.world, workspace: { ...stage.world.workspace, changed } };
    await report(stage);
    expect(await stage.events("attempt.finished")).toMatchObject([{ tree: "t0", changed: [], productChanged: false }]);
  });

  test("names attempt, phase, role and journal in the commit", async () => {
    const stage = await ended(true);
    const notes: KeepNote[] = [];
    const { keep } = stage.world.workspace;
    const noting: EngineWorld["workspace"]["keep"] = async (id, note) => {
      notes.push(note);
      return keep(id, note);
    };
    stage.world = { ...stage.world, workspace: { ...stage.world.workspace, keep: noting } };
    await report(stage);
    const { hash } = await stage.disk.journal.head();
    expect(notes).toMatchObject([
      { attempt: 1, subject: "Story a (attempt 1)", phase: "implement", role: roleName("developer") },
    ]);
    expect(notes[0]!.journalHead).not.toBe("");
    expect(hash).not.toBe("");
  });

  test("of one that another engine ended meanwhile is dropped", async () => {
    const stage = await ended(true);
    const ledger = await stage.ledger();
    const state = ledger.story(stage.story.id);
    await stage.tell({ type: "work.interrupted", detail: "taken over" });
    await stage.tell({ type: "story.held", by: "ada" });
    const behind = { ...ledger, append: async () => false };
    await reportAttempt(behind, stage.world, state, 1, ENDED);
    expect(await stage.events("attempt.finished")).toEqual([]);
  });
});

test("an attempt is known by its number, and its end is kept under it", () => {
  const running = { type: "attempt", attempt: 2, role: roleName("developer"), since: 0, seq: 1, unclear: 0 } as const;
  expect(isAttempt(2)(running)).toBe(true);
  expect(isAttempt(1)(running)).toBe(false);
  expect(isAttempt(2)({ type: "gate", gate: "review", since: 0, seq: 1 })).toBe(false);
  expect(attemptKey(story("a").id, 2)).toBe("a/attempt-2");
});

test("the phase is that of the attempt that runs, or the story's before the first", () => {
  const state = { ...newStory(story("a"), 0, 0), phase: "implement" } as const;
  expect(runningPhase(state)).toBe("implement");
  expect(runningPhase({ ...state, attempts: [{ phase: "implement" }, { phase: "plan" }] as never })).toBe("plan");
});
