import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import {
  type EndedAttempt,
  attemptKey,
  isAttempt,
  reportAttempt,
  runningPhase,
} from "../../../src/engine/perform/report-attempt.ts";
import { roleName } from "../../../src/core/events/ids.ts";
import type { EngineWorld } from "../../../src/engine/world.ts";
import { newStory } from "../../../src/fold/new-state.ts";
import type { CommitNote } from "../../../src/ports/workspace.ts";
import { agentResult } from "../../contract/agent-result.ts";
import { story } from "../../kit/story-world.ts";
import { type Stage, edit, createStage } from "../../kit/one-story.ts";

const POLICY = presetPolicy("critic-audit");
const ENDED: EndedAttempt = { outcome: { type: "ready" }, summary: "done", durationMs: 4 };

/** An agent has ended and nothing of that is reported yet. */
async function ended(isEdited: boolean): Promise<Stage> {
  const stage = await createStage(POLICY, (on) => () => {
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
  test("has git's commit and changes, and empties the outbox", async () => {
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

  test("of an attempt without changes does not ask git for them", async () => {
    const stage = await ended(false);
    const changed = async (): Promise<never> => expect.unreachable();
    stage.world = { ...stage.world, workspace: { ...stage.world.workspace, changedPaths: changed } };
    await report(stage);
    expect(await stage.events("attempt.finished")).toMatchObject([{ tree: "t0", changed: [], productChanged: false }]);
  });

  test("names attempt, phase, role and journal in the commit", async () => {
    const stage = await ended(true);
    const notes: CommitNote[] = [];
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

  test("of an attempt that another engine ended is dropped", async () => {
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

test("changes outside the scope are reverted in a separate commit, and recorded before", async () => {
  const policy = { ...POLICY, scope: { ...POLICY.scope, outside: "revert" as const } };
  const stage = await ended(true);
  const ledger = await stage.ledger();
  const scope = { allow: ["src/b.ts"], deny: [], tests: "open", exceptions: "never", reason: "" } as const;
  const state = { ...ledger.story(stage.story.id), policy, scope };
  const calls: unknown[] = [];
  const { workspace } = stage.world;
  const putBack: EngineWorld["workspace"]["restorePaths"] = async (id, paths, from, note) => {
    calls.push([id, paths, from, note.subject, note.attempt, JSON.parse(stage.disk.outbox.get("a/attempt-1")!)]);
    return workspace.restorePaths(id, paths, from, note);
  };
  stage.world = { ...stage.world, workspace: { ...workspace, restorePaths: putBack } };
  await reportAttempt({ ...ledger, story: () => state }, stage.world, state, 1, ENDED);
  const subject = "Story a (attempt 1): revert files outside the scope";
  expect(calls).toEqual([["a", ["src/a.ts"], "t0", subject, 1, { ...ENDED, putBack: ["src/a.ts"] }]]);
  expect(await stage.events("attempt.finished")).toMatchObject([{ putBack: ["src/a.ts"] }]);
});

test("the product of a text phase is its section, and not the other files", async () => {
  const page = "# Story a\n\nMake it work.\n";
  const text = "## Refinement\n\nIt must add numbers.\n\nREADY_FOR_REVIEW: a\n\nSummary: done";
  const stage = await createStage(presetPolicy("story"), (on) => () => {
    edit(on);
    return agentResult({ text });
  });
  const files = new Map([["a.md", page]]);
  const pages: EngineWorld["pages"] = {
    find: async () => ({ path: "a.md", original: page }),
    read: async (_place, path) => files.get(path) ?? null,
    write: async (_place, path, now) => void files.set(path, now),
  };
  const fileAt: EngineWorld["workspace"]["fileAt"] = async (_id, tree) => (tree === "t0" ? page : files.get("a.md")!);
  stage.world = { ...stage.world, pages, workspace: { ...stage.world.workspace, fileAt } };
  await stage.until("start-attempt");
  const [finished] = await stage.events("attempt.finished");
  expect(finished).toMatchObject({ productChanged: true, outcome: { type: "ready" } });
  expect(finished!.product).toMatch(/^[0-9a-f]{16}$/);
});

describe("a rework of a story with a file", () => {
  async function reworked(outcome: EndedAttempt["outcome"]): Promise<{ text: string; stage: Stage }> {
    const stage = await ended(true);
    const ledger = await stage.ledger();
    const preset = presetPolicy("story");
    const note = await stage.world.evidence.keep("Name the unit.");
    const state = {
      ...ledger.story(stage.story.id),
      policy: { ...preset, scope: { ...preset.scope, outside: "revert" as const } },
      scope: { allow: ["src/b.ts"], deny: [], tests: "open", exceptions: "never", reason: "" } as const,
      rework: { gate: "review", route: {}, brief: "b", note } as never,
      reworks: 2,
    };
    const files = new Map([["a.md", "# Story a\n"]]);
    const pages: EngineWorld["pages"] = {
      find: async () => ({ path: "a.md", original: "# Story a\n" }),
      read: async (_place, path) => files.get(path) ?? null,
      write: async (_place, path, now) => void files.set(path, now),
    };
    const { workspace } = stage.world;
    const changed = async () => ["a.md", "src/b.ts"];
    const putBack = async (): Promise<never> => expect.unreachable();
    stage.world = { ...stage.world, pages, workspace: { ...workspace, changedPaths: changed, restorePaths: putBack } };
    await reportAttempt({ ...ledger, story: () => state }, stage.world, state, 1, { ...ENDED, outcome });
    return { text: files.get("a.md")!, stage };
  }

  test("is noted there with the review's feedback, and the file is not a change outside the scope", async () => {
    const { text, stage } = await reworked({ type: "ready" });
    expect(text).toContain("### Iteration 2: implement");
    expect(text).toContain("> Name the unit.");
    expect(await stage.events("attempt.finished")).toMatchObject([
      { changed: ["a.md", "src/b.ts"], productChanged: true, product: expect.any(String) as string },
    ]);
  });

  test("is not noted if the agent crashed", async () => {
    expect((await reworked({ type: "crashed", detail: "exit 1" })).text).toBe("# Story a\n");
  });
});

test("an attempt's result is stored under its number", () => {
  const running = { type: "attempt", attempt: 2, role: roleName("developer"), since: 0, seq: 1, unclear: 0 } as const;
  expect(isAttempt(2)(running)).toBe(true);
  expect(isAttempt(1)(running)).toBe(false);
  expect(isAttempt(2)({ type: "gate", gate: "review", since: 0, seq: 1 })).toBe(false);
  expect(attemptKey(story("a").id, 2)).toBe("a/attempt-2");
});

test("the phase is that of the running attempt, or the story's before the first", () => {
  const state = { ...newStory(story("a"), 0, 0), phase: "implement" } as const;
  expect(runningPhase(state)).toBe("implement");
  expect(
    runningPhase({ ...state, attempts: [{ phase: "implement" }, { phase: "refine" }, { phase: "plan" }] as never }),
  ).toBe("plan");
});
