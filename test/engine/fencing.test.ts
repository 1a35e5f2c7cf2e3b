import { beforeEach, describe, expect, test } from "vitest";
import { createVirtualClock } from "../kit/virtual-clock.ts";
import { createMemoryJournal } from "../kit/memory-journal.ts";
import { presetPolicy } from "../../src/config/presets.ts";
import type { Command } from "../../src/core/stories/command.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId, treeId } from "../../src/core/events/ids.ts";
import { decidedAt, withFencing } from "../../src/engine/fencing.ts";
import { openLedger, type Ledger } from "../../src/engine/ledger.ts";
import { decide } from "../../src/decide/decide.ts";
import { attemptStart, story } from "../kit/story-world.ts";

const A = storyId("a");
const B = storyId("b");
const HELD: Event = { type: "story.held", by: "ada" };
const INTERRUPTED: Event = { type: "work.interrupted", detail: "it stopped" };
const WATCHER = { onLines: () => undefined, onOutput: () => undefined };

let ours: Ledger;
let theirs: Ledger;
beforeEach(async () => {
  const journal = createMemoryJournal();
  const policy = presetPolicy("critic-audit");
  await journal.append(null, 0, [{ type: "policy.set", policy, by: "test" }], 0);
  for (const id of ["a", "b"]) await journal.append(storyId(id), 0, [{ type: "story.added", story: story(id) }], 0);
  const world = { journal, clock: createVirtualClock(), watcher: WATCHER };
  [ours, theirs] = [await openLedger(world), await openLedger(world)];
});

/** What is to be done for the story now. */
async function next<T extends Command["type"]>(type: T): Promise<Extract<Command, { type: T }>> {
  await ours.catchUp();
  const found = decide(ours.state(), ours.state().policy!, 0).find(
    (command) => command.type === type && command.story !== B,
  );
  expect(found, `${type} comes next`).toBeDefined();
  return found as Extract<Command, { type: T }>;
}

async function tell(stream: typeof A | null, event: Event): Promise<void> {
  await theirs.catchUp();
  expect(await theirs.append(stream, [event])).toBe(true);
}

/** The story has begun, and its first attempt is what comes next. */
async function attempt() {
  const start = await next("start-story");
  const gripped = withFencing(start, ours);
  expect(await gripped.append(A, [{ type: "story.started", by: "test" }])).toBe(true);
  const prepared: Event = { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] };
  expect(await gripped.append(A, [prepared])).toBe(true);
  return next("start-attempt");
}

test("a command's key ends with the number of events at its decision", () => {
  expect(decidedAt({ key: "a:17" })).toBe(17);
  expect(decidedAt({ key: "a:b:3" })).toBe(3);
  expect(decidedAt({ key: "@project:0" })).toBe(0);
});

describe("a story's command", () => {
  test("cannot append first if events were appended since its decision", async () => {
    const command = await attempt();
    await tell(A, HELD);
    await ours.catchUp();
    const gripped = withFencing(command, ours);
    expect(await gripped.append(A, [attemptStart(command)])).toBe(false);
    expect(ours.story(A).running).toBeNull();
    // It has begun nothing, so it has lost nothing; it is refused again and again.
    expect(gripped.mayWrite(A)).toBe(true);
    expect(await gripped.append(A, [attemptStart(command)])).toBe(false);
  });

  test("given out twice is done once", async () => {
    const command = await attempt();
    await theirs.catchUp();
    expect(await withFencing(command, theirs).append(A, [attemptStart(command)])).toBe(true);
    const second = withFencing(command, ours);
    expect(await second.append(A, [attemptStart(command)])).toBe(false);
    // What runs now is not what it lost: it never had it.
    expect(second.mayWrite(A)).toBe(true);
  });

  test("continues what it started, even after a person's answer", async () => {
    const command = await attempt();
    const gripped = withFencing(command, ours);
    expect(await gripped.append(A, [attemptStart(command)])).toBe(true);
    await tell(A, HELD);
    await ours.catchUp();
    expect(gripped.mayWrite(A)).toBe(true);
    expect(await gripped.append(A, [INTERRUPTED])).toBe(true);
    expect(ours.story(A).running).toBeNull();
  });

  test("may not end what another command started", async () => {
    const command = await attempt();
    const gripped = withFencing(command, ours);
    expect(await gripped.append(A, [attemptStart(command)])).toBe(true);
    await tell(A, INTERRUPTED);
    await ours.catchUp();
    expect(gripped.mayWrite(A)).toBe(false);
    expect(await gripped.append(A, [INTERRUPTED])).toBe(false);
    const again = await next("start-attempt");
    await theirs.catchUp();
    expect(await withFencing(again, theirs).append(A, [attemptStart(again)])).toBe(true);
    await ours.catchUp();
    expect(gripped.mayWrite(A)).toBe(false);
    expect(await gripped.append(A, [INTERRUPTED])).toBe(false);
    expect(ours.story(A).running).not.toBeNull();
  });

  test("may start another step directly after it has ended the first", async () => {
    const command = await attempt();
    const gripped = withFencing(command, ours);
    expect(await gripped.append(A, [attemptStart(command)])).toBe(true);
    expect(await gripped.append(A, [INTERRUPTED])).toBe(true);
    const step: Event = { type: "step.started", step: "lint-fix" };
    expect(await gripped.append(A, [step])).toBe(true);
    expect(gripped.mayWrite(A)).toBe(true);
    expect(await gripped.append(A, [INTERRUPTED])).toBe(true);
    await tell(A, HELD);
    await ours.catchUp();
    expect(await gripped.append(A, [step])).toBe(false);
  });

  test("knows which of several events started its step", async () => {
    const command = await attempt();
    const gripped = withFencing(command, ours);
    const step: Event = { type: "step.started", step: "update" };
    expect(await gripped.append(A, [step, INTERRUPTED, attemptStart(command)])).toBe(true);
    expect(gripped.mayWrite(A)).toBe(true);
    expect(await gripped.append(A, [INTERRUPTED])).toBe(true);
  });

  test("that asks an agent again belongs to the attempt that runs", async () => {
    const command = await attempt();
    expect(await withFencing(command, ours).append(A, [attemptStart(command)])).toBe(true);
    const unclear: Event = { type: "attempt.unclear", attempt: command.attempt, detail: "?", durationMs: 1 };
    expect(await ours.append(A, [unclear])).toBe(true);
    const ask = await next("ask-again");
    const gripped = withFencing(ask, ours);
    expect(gripped.mayWrite(A)).toBe(true);
    await tell(A, HELD);
    await ours.catchUp();
    expect(await gripped.append(A, [unclear])).toBe(true);
    await tell(A, INTERRUPTED);
    await ours.catchUp();
    expect(gripped.mayWrite(A)).toBe(false);
    expect(await gripped.append(A, [unclear])).toBe(false);
  });

  test("appends to other streams, or with an explicit number, without fencing", async () => {
    const command = await attempt();
    const gripped = withFencing(command, ours);
    expect(await gripped.append(A, [attemptStart(command)])).toBe(true);
    await tell(A, INTERRUPTED);
    await ours.catchUp();
    expect(gripped.mayWrite(B)).toBe(true);
    expect(gripped.mayWrite(null)).toBe(true);
    expect(await gripped.append(B, [HELD])).toBe(true);
    expect(await gripped.append(A, [HELD], ours.story(A).seq - 1)).toBe(false);
    expect(await gripped.append(A, [HELD], ours.story(A).seq)).toBe(true);
  });
});

describe("a command about the project", () => {
  const RESUMED: Event = { type: "run.resumed", by: "ada" };
  const project = (type: string): Command => ({ key: `@project:${ours.state().seq}`, story: null, type }) as Command;

  test("cannot append first if events were appended since, and can append later", async () => {
    const late = withFencing(project("start-remediation"), ours);
    await tell(null, RESUMED);
    await ours.catchUp();
    expect(await late.append(null, [RESUMED])).toBe(false);
    expect(await late.append(null, [RESUMED])).toBe(false);
    const gripped = withFencing(project("start-remediation"), ours);
    expect(await gripped.append(null, [RESUMED])).toBe(true);
    await tell(null, RESUMED);
    await ours.catchUp();
    expect(gripped.mayWrite(null)).toBe(true);
    expect(await gripped.append(null, [RESUMED])).toBe(true);
  });

  test("that checks the health need not follow the newest events", async () => {
    const gripped = withFencing(project("check-health"), ours);
    await tell(null, RESUMED);
    await ours.catchUp();
    expect(await gripped.append(null, [RESUMED])).toBe(true);
  });
});
