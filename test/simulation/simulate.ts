import { isDeepStrictEqual } from "node:util";
import { presetPolicy } from "../../src/config/presets.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { storyId, type StoryId } from "../../src/core/events/ids.ts";
import { GATES, type GateName } from "../../src/core/gates/gate.ts";
import type { Event } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { drive } from "../../src/engine/drive.ts";
import { openLedger } from "../../src/engine/ledger.ts";
import { recover } from "../../src/engine/recover.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { decide } from "../../src/decide/decide.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import type { StoredEvent, Watcher } from "../../src/ports/journal.ts";
import { assert } from "../../src/stdx/assert.ts";
import { checkBudgets, checkCommands, EMPTY_WITNESS, isWaitNamed, witnessEvent } from "./laws.ts";
import { RemandError } from "../../src/core/events/error.ts";
import { createBriefLaw } from "./brief-law.ts";
import { chance } from "./chance.ts";
import { checkDeeds, checkOutbox, loseOpenWork, newWorkCounts } from "./work-counts.ts";
import { CHEATED, Killed, newDisk, sharing, simulatedWorld, type Disk, type Faults } from "./simulated-world.ts";
import { story } from "../kit/story-world.ts";

/** Half of the seeds are short, with two gates; the others take the four presets in turn. */
export function policyFor(seed: number): Policy {
  const name = (["critic-audit", "factory", "goal", "story"] as const)[seed % 8];
  const base = presetPolicy(name ?? "critic-audit");
  const gates = base.phases.find((plan) => plan.phase === "implement")?.gates ?? [];
  const unblamed = Object.fromEntries(GATES.map((gate) => [gate, { ...base.gates[gate], blame: false }]));
  return {
    ...base,
    // No merges here, and the text phases are simulated elsewhere.
    phases: [
      {
        phase: "implement",
        gates: name === undefined ? ["integrity", "checks"] : gates.filter((gate) => gate !== "merge"),
      },
    ],
    gates: unblamed as Policy["gates"],
    // Time passes only for those who wait for it; what ends with its time is played apart.
    limits: {
      ...base.limits,
      story: { ...base.limits.story, timeMs: null },
      run: { ...base.limits.run, timeMs: null },
    },
    stall: { ...base.stall, plateau: 3 },
    concurrency: { ...base.concurrency, developers: 2, checks: 1 },
    deliver: seed % 2 === 0 ? "branch" : "merge",
    merge: "auto",
    autonomy: seed % 2 === 0 ? base.autonomy : "full",
  };
}

const STORIES = [story("a"), story("b", { dependsOn: [storyId("a")] }), story("c", { priority: 0 }), story("d")];

/** Far more than any seed needs: more steps mean an endless loop. */
export const MOST_CALLS = 20_000;

export interface Simulated {
  readonly state: RunState;
  readonly disk: Disk;
  /** How often the world was asked to do something: every one of these is a place to be killed at. */
  readonly calls: number;
  readonly lives: number;
}

export async function newProject(seed: number, policy: Policy = policyFor(seed)): Promise<Disk> {
  const disk = newDisk();
  await disk.journal.append(null, 0, [{ type: "policy.set", policy, by: "test" }], 0);
  for (const each of STORIES) await disk.journal.append(each.id, 0, [{ type: "story.added", story: each }], 0);
  return disk;
}

export const NOBODY = { onLines: () => undefined, onOutput: () => undefined };

export async function driven(world: ReturnType<typeof simulatedWorld>): Promise<RunState> {
  const ledger = await openLedger(world);
  await recover(ledger, world, "died");
  return drive(ledger, world, new AbortController().signal);
}

/**
 * A zombie: an engine stands still at one of its calls, another one takes over and ends everything, and then the first
 * wakes and goes on with what it was about to do. Nothing of that may count.
 */
export async function simulateZombie(seed: number, stopsAt: number): Promise<Disk> {
  const disk = await newProject(seed);
  const gate: { open: () => void } = { open: () => undefined };
  const opened = new Promise<void>((resolve) => (gate.open = resolve));
  let calls = 0;
  let stopped: () => void = () => undefined;
  const hasStopped = new Promise<void>((resolve) => (stopped = resolve));
  const holdStill = async (): Promise<void> => {
    if (++calls < stopsAt) return;
    stopped();
    await opened;
  };
  const first = driven(simulatedWorld(disk, { seed, blocked: true }, holdStill, NOBODY)).finally(stopped);
  await hasStopped;
  // What the first one does after that is counted for it alone, and its heir repeats nothing that was reported.
  const heir = sharing(disk, { deeds: { ...newWorkCounts(), outboxAsked: disk.deeds.outboxAsked } });
  await driven(simulatedWorld(heir, { seed, blocked: true }, () => undefined, NOBODY));
  gate.open();
  await first;
  return heir;
}

/** An event of another writer that changes nothing, in a story's stream or in the project's. */
async function speak(disk: Disk, about: (typeof STORIES)[number] | null): Promise<void> {
  let seq = 0;
  for await (const line of disk.journal.read(0)) if (line.story === (about?.id ?? null)) seq = line.seq;
  const word: Event =
    about === null ? { type: "run.resumed", by: "somebody" } : { type: "story.changed", story: about, what: [] };
  await disk.journal.append(about?.id ?? null, seq, [word], disk.nowMs);
}

/**
 * Another writer appends to the stories' streams just before the engine does: its events change nothing, and the
 * engine's own events must not be lost.
 */
export async function simulateChatter(seed: number, blocked = false): Promise<Disk> {
  const disk = await newProject(seed);
  let calls = 0;
  const chatter = async (what: string): Promise<void> => {
    calls++;
    if (what !== "append" || chance(seed, "chatter", calls) > 0.15) return;
    await speak(disk, blocked && calls % 2 === 0 ? null : STORIES[calls % STORIES.length]!);
  };
  await driven(simulatedWorld(disk, { seed, blocked }, chatter, NOBODY));
  return disk;
}

/** Infrastructure fails now and then: a full disk, a git error. The engine records it and retries, within a bound. */
export async function simulateTrouble(seed: number): Promise<Disk> {
  const disk = await newProject(seed);
  let calls = 0;
  const trouble = async (what: string): Promise<void> => {
    calls++;
    if (what === "append" && chance(seed, "chatter", calls) < 0.15) await speak(disk, STORIES[calls % STORIES.length]!);
    const canFail = /^(?:keep|prepare|changed|evidence|outbox|restore)$/.test(what);
    if (canFail && chance(seed, "trouble", calls) < 0.04)
      throw new RemandError("git-failed", `no room for ${what}`, "make room");
  };
  await driven(simulatedWorld(disk, { seed, blocked: true }, trouble, NOBODY));
  return disk;
}

/** What befalls the engine besides chance kills. */
export interface Disturbance {
  /** Does this step end the engine, every time it runs? */
  readonly killsEngine?: (what: "agent" | GateName, story: StoryId) => boolean;
  /** Does the machine go down with the engine? */
  readonly isReboot?: boolean;
}

/**
 * Runs the engine to its end in a simulated world, killing it at the given calls and starting it again each time. It is
 * not killed a third time in the same step: that is no chance any more, and a person is asked.
 */
export async function simulate(
  seed: number,
  blocked: boolean,
  kills: ReadonlySet<number>,
  { killsEngine, isReboot = false }: Disturbance = {},
): Promise<Simulated> {
  const disk = await newProject(seed);
  let calls = 0;
  for (let lives = 1; ; lives++) {
    let dead = false;
    let deciding: Promise<boolean> | null = null;
    const alive = async (): Promise<void> => {
      const at = ++calls;
      if (calls > MOST_CALLS) throw new Error(`no end after ${MOST_CALLS} calls`);
      // Nothing else may go on while it is decided whether the engine dies here.
      if (deciding !== null) await deciding;
      if (dead) throw new Killed();
      if (!kills.has(at)) return;
      deciding = isReboot ? Promise.resolve(true) : hasDiedTwice(disk).then((isSpared) => !isSpared);
      if (await deciding) dead = true;
      if (!dead) return;
      if (isReboot) disk.bootedAt = ++disk.nowMs;
      throw new Killed();
    };
    const onRun: Faults["onRun"] = (what, story) => {
      dead ||= killsEngine?.(what, story) ?? false;
      if (dead) throw new Killed();
    };
    const told = tellOnce();
    const from = (await disk.journal.head()).position;
    const world = simulatedWorld(disk, { seed, blocked, onRun }, alive, told);
    try {
      const state = await driven(world);
      told.check(from, state.position);
      return { state, disk, calls, lives };
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      loseOpenWork(disk.deeds);
    }
  }
}

/** Watchers get each line once, in order. */
function tellOnce(): Watcher & { check(from: number, to: number): void } {
  const told: number[] = [];
  return {
    onLines: (lines) => void told.push(...lines.map(({ position }) => position)),
    onOutput: () => undefined,
    check: (from, to) => {
      const all = Array.from({ length: to - from }, (_, n) => from + n + 1);
      assert(isDeepStrictEqual(told, all), `told of lines ${told.join(" ")} instead of ${from + 1} to ${to}`);
    },
  };
}

/** What is on the target is, name by name, a tree that every gate passed. */
function checkLanded(disk: Disk, lines: readonly StoredEvent[], run: RunState): void {
  for (const { story: id, tree } of disk.target.landed) {
    const { policy } = lookup(run.stories, id, byText)!;
    for (const gate of policy!.phases.flatMap((plan) => plan.gates)) {
      const isPassed = lines.some(
        ({ story: of, event }) =>
          of === id &&
          event.type === "gate.judged" &&
          event.judgement.gate === gate &&
          event.judgement.tree === tree &&
          event.judgement.result === "pass",
      );
      if (!isPassed) throw new Error(`${tree} of ${id} was put onto the target, and ${gate} never passed it`);
    }
  }
}

/** What checkJournal may expect besides the laws. */
export interface Expected {
  /** All of the journal's work was done and counted in this disk's own world. */
  readonly isAlone: boolean;
  /** Steps of the engine do not fail, and nothing is taken over: what the outbox kept comes into the journal. */
  readonly isOutboxSafe: boolean;
}

const ONE_ENGINE: Expected = { isAlone: true, isOutboxSafe: true };

/** Has the engine died twice in a step that some story has not got beyond? */
export async function hasDiedTwice(disk: Disk): Promise<boolean> {
  let run = EMPTY_RUN;
  for await (const line of disk.journal.read(0)) run = evolve(run, line);
  for (const [, { counters }] of entries(run.stories)) if ((counters.engineDeaths?.times ?? 0) >= 2) return true;
  return false;
}

/** Folds the journal again and asserts the laws at every line: it checks what was written, not what ran. */
export async function checkJournal(disk: Disk, expected = ONE_ENGINE): Promise<RunState> {
  let run = EMPTY_RUN;
  let witness = EMPTY_WITNESS;
  const checkBrief = createBriefLaw();
  const lines: StoredEvent[] = [];
  for await (const line of disk.journal.read(0)) lines.push(line);
  for (const line of lines) {
    const before = line.story === null ? undefined : lookup(run.stories, line.story, byText);
    run = evolve(run, line);
    const after = line.story === null ? undefined : lookup(run.stories, line.story, byText);
    if (before !== undefined && after !== undefined && before.ending === null) {
      witness = witnessEvent(witness, before, after, line.event);
      checkBrief(before, line.event, (id) => disk.evidence.get(id) ?? "");
    }
    const { policy } = run;
    if (policy === null) continue;
    checkBudgets(run, witness, policy);
    checkCommands(run, witness, decide(run, policy, Number.MAX_SAFE_INTEGER));
    for (const lane of ["developers", "checks", "critics", "auditors"] as const)
      if (run.busy[lane] > policy.concurrency[lane])
        throw new Error(`${run.busy[lane]} at once in ${lane}, of ${policy.concurrency[lane]}`);
    // Law 9: what the diff shows counts, whatever the agent says of it.
    if (line.event.type === "story.accepted" && after?.tree?.includes(CHEATED) === true)
      throw new Error(`${line.story} was accepted with ${after.tree}, which integrity refuses`);
  }
  if (!isWaitNamed(run)) throw new Error("it ended with nobody to wait for");
  const ended = lines.flatMap((line) =>
    line.event.type === "attempt.finished" ? [`${line.story} ${line.event.attempt}`] : [],
  );
  if (new Set(ended).size !== ended.length) throw new Error("an attempt ended twice");
  checkDeeds(disk.deeds, lines, expected.isAlone);
  if (expected.isOutboxSafe) checkOutbox(disk.deeds, disk.outbox, lines);
  checkLanded(disk, lines, run);
  const verified = await disk.journal.verify();
  if (!verified.ok) throw new Error(verified.problem);
  return run;
}

/** How every story ended, without the times and numbers that a restart may change. */
export function outcomeOf(run: RunState): Record<string, unknown> {
  const outcome: Record<string, unknown> = {};
  for (const [id, state] of entries(run.stories)) {
    const failures = Object.fromEntries(Object.entries(state.gates).map(([gate, known]) => [gate, known.failuresEver]));
    const worked = state.attempts.filter((attempt) => attempt.outcome === "ready").length;
    outcome[id] = {
      ending: state.ending?.how ?? null,
      asks: state.escalation?.reason.type ?? null,
      failures,
      worked,
      tree: state.tree,
    };
  }
  return outcome;
}
