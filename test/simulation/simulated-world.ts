import { createMergeGate } from "../../src/gates/merge/merge-gate.ts";
import { createMemoryJournal } from "../kit/memory-journal.ts";
import { identifyFinding, failureFingerprint } from "../../src/core/gates/finding-identity.ts";
import { evidenceId, treeId, type StoryId } from "../../src/core/events/ids.ts";
import { GATES, type CiClass, type GateName, type Judgement, type TestIdentities } from "../../src/core/gates/gate.ts";
import type { Result } from "../../src/core/events/error.ts";
import type { EngineWorld } from "../../src/engine/world.ts";
import type { Agent, AgentResult } from "../../src/ports/agent.ts";
import type { Gate } from "../../src/ports/gate.ts";
import type { Journal, StoredEvent, Watcher } from "../../src/ports/journal.ts";
import type { Job, Queue } from "../../src/ports/queue.ts";
import { chance, pick } from "./chance.ts";
import {
  beginWork,
  checkOutboxFirst,
  keepInOutbox,
  newWorkCounts,
  reportWork,
  type WorkCounts,
} from "./work-counts.ts";
import {
  newTarget,
  simulatedIntegration,
  type Guarded,
  type TargetDisk,
  type TargetFaults,
} from "./simulated-target.ts";
import { agentResult } from "../contract/agent-result.ts";
import { CONTESTED, identities } from "../kit/story-world.ts";

/** The engine was killed. Nothing that was its own does anything any more. */
export class Killed extends Error {}

/** What outlives the engine: the disk, and everything the agents did to it. */
export interface Disk {
  readonly journal: Journal;
  readonly outbox: Map<string, string>;
  readonly evidence: Map<string, string>;
  readonly files: Map<StoryId, { tree: string; kept: string[] }>;
  readonly target: TargetDisk;
  nowMs: number;
  /** What was done, whether or not the journal knows. */
  readonly deeds: WorkCounts;
  /** When the machine was started last. */
  bootedAt: number;
  /** A cache of the journal's lines, so that reading again costs only the new ones. */
  readonly seen: StoredEvent[];
}

export interface Faults {
  readonly seed: number;
  /** Do gates say `blocked`? Then stories depend on each other by time, and two runs cannot be compared. */
  readonly blocked: boolean;
  /** Told what an agent or a gate is about to do, and for whom; it may end the engine there. */
  readonly onRun?: (what: "agent" | GateName, story: StoryId) => void;
  /** Is there a target to deliver to, and what befalls it? Then, too, stories depend on each other by time. */
  readonly target?: TargetFaults;
}

export function newDisk(): Disk {
  return {
    journal: createMemoryJournal(),
    outbox: new Map(),
    evidence: new Map(),
    files: new Map(),
    target: newTarget(),
    nowMs: 0,
    deeds: newWorkCounts(),
    bootedAt: -Infinity,
    seen: [],
  };
}

/** The same disk with parts of one's own, and the same time. */
export function sharing(disk: Disk, own: Partial<Pick<Disk, "files" | "outbox" | "deeds">>): Disk {
  return Object.defineProperty({ ...disk, ...own }, "nowMs", {
    get: () => disk.nowMs,
    set(at: number) {
      disk.nowMs = at;
    },
  });
}

/**
 * A world in which everything follows from the seed and from what the journal holds: a step that is repeated because it
 * was not recorded goes the same way again. `alive` is called before anything is done.
 */
export function simulatedWorld(
  disk: Disk,
  faults: Faults,
  alive: (what: string) => void | Promise<void>,
  watcher: Watcher,
): EngineWorld {
  const guardCall =
    <A extends readonly unknown[], T>(what: string, work: (...args: A) => T) =>
    async (...args: A): Promise<Awaited<T>> => {
      await alive(what);
      const done = await work(...args);
      await alive(`${what} done`);
      return done;
    };
  const countEvents = async (story: StoryId | null, ...types: string[]): Promise<number> => {
    return (await linesOf(disk)).filter((line) => line.story === story && types.includes(line.event.type)).length;
  };
  const place = (story: StoryId) => {
    const known = disk.files.get(story) ?? { tree: "t0", kept: ["t0"] };
    disk.files.set(story, known);
    return known;
  };
  const agent: Agent = {
    name: "simulated",
    run: guardCall("agent", async ({ cwd, key }): Promise<AgentResult> => {
      if (!key.startsWith("@project:")) beginWork(disk.deeds, "agent", cwd as StoryId);
      faults.onRun?.("agent", cwd as StoryId);
      return simulatedAgent(faults, disk, place, countEvents, cwd, key);
    }),
  };
  const integration = simulatedIntegration({
    seed: faults.seed,
    faults: faults.target,
    disk,
    place,
    guarded: guardCall,
  });
  const gates: [GateName, Gate][] = GATES.map((name) => [
    name,
    simulatedGate(name, faults, disk.deeds, countEvents, guardCall),
  ]);
  const evidence: EngineWorld["evidence"] = {
    keep: guardCall("evidence", (text) => {
      const id = evidenceId(`e${disk.evidence.size}`);
      disk.evidence.set(id, text);
      return id;
    }),
    read: guardCall("evidence read", (id) => disk.evidence.get(id) ?? null),
    placeOf: (id) => id,
  };
  // Where the target moves, the merge gate is the real one.
  if (faults.target !== undefined)
    gates.push([
      "merge",
      createMergeGate({ integration, evidence, clock: { now: () => disk.nowMs, sleep: async () => {} } }),
    ]);
  return {
    root: "/project",
    journal: {
      ...disk.journal,
      append: guardCall("append", async (...args: Parameters<Journal["append"]>) => {
        const [story, , events] = args;
        checkOutboxFirst(disk.deeds, story, events);
        const appended = await disk.journal.append(...args);
        if (appended.ok) reportWork(disk.deeds, story, events);
        return appended;
      }),
      head: guardCall("head", disk.journal.head),
    },
    clock: {
      now: () => disk.nowMs,
      bootedAt: () => disk.bootedAt,
      // Time passes only when the engine sleeps, and then at once.
      sleep: async (ms) => {
        await new Promise((resolve) => setImmediate(resolve));
        await alive("sleep");
        disk.nowMs += Math.min(ms, 1000);
      },
    },
    queue: simulatedQueue(),
    workspace: {
      prepare: guardCall("prepare", (story) => ({
        path: story,
        branch: `remand/${story}`,
        tree: treeId(place(story).tree),
        commit: place(story).kept.at(-1)!,
        base: "t0",
      })),
      currentState: guardCall("look", (story) => ({
        tree: treeId(place(story).tree),
        commit: place(story).kept.at(-1)!,
      })),
      keep: guardCall("keep", (story) => {
        const known = place(story);
        if (known.kept.at(-1) !== known.tree) known.kept.push(known.tree);
        return { tree: treeId(known.tree), commit: known.tree };
      }),
      adopt: guardCall("adopt", (_story, known) => known),
      changedPaths: guardCall("changed", (_story, from, to) => (from === to ? [] : ["src/a.ts"])),
      diff: guardCall("diff", () => ""),
      fileAt: guardCall("fileAt", () => null),
      restore: guardCall("restore", (story, tree) => {
        place(story).tree = tree;
        return { tree, commit: tree };
      }),
      restorePaths: guardCall("put back", (story) => {
        const { tree } = place(story);
        return { tree: treeId(tree), commit: tree };
      }),
      forget: guardCall("forget", (story) => {
        place(story).tree = place(story).kept.at(-1)!;
      }),
      dispose: guardCall("dispose", () => undefined),
    },
    // Only `implement` is played here: no phase writes into a story's file.
    pages: {
      find: guardCall("page", () => null),
      read: guardCall("page", () => null),
      write: guardCall("page", () => undefined),
    },
    evidence,
    outbox: {
      put: (key, text) => {
        disk.deeds.outboxAsked.add(key);
        return guardCall("outbox", () => {
          disk.outbox.set(key, text);
          keepInOutbox(disk.deeds, key);
        })();
      },
      get: guardCall("outbox read", (key) => disk.outbox.get(key) ?? null),
      drop: guardCall("outbox drop", (key) => void disk.outbox.delete(key)),
    },
    gates: new Map(gates),
    integration,
    forge: null,
    fixLint: null,
    blameSearch: null,
    // No reviewer raises a finding that could be disputed.
    adjudicator: { decide: () => Promise.reject(new Error("nothing is disputed here")) },
    roleRegistry: {
      agentFor: guardCall("roleRegistry", (role) => ({
        agent: { ...agent, name: role },
        model: null,
        prompt: `You are ${role}.`,
        reports: "signal",
        env: {},
      })),
    },
    watcher,
    nonce: () => "n0nc3n0nc3",
  };
}

/** Marks a tree in which an agent broke a rule that the diff shows. */
export const CHEATED = "!";

const CI: readonly (readonly [number, CiClass])[] = [
  [50, "test"],
  [15, "build"],
  [15, "lint"],
  [10, "configuration"],
  [10, "infrastructure"],
];

type EventCounter = (story: StoryId | null, ...types: string[]) => Promise<number>;

async function simulatedAgent(
  { seed }: Faults,
  disk: Disk,
  place: (story: StoryId) => { tree: string },
  told: EventCounter,
  cwd: string,
  key: string,
): Promise<AgentResult> {
  const result = (more: Partial<AgentResult>): AgentResult =>
    agentResult({ tokens: 10, costUsd: 0.01, durationMs: 5, ...more });
  if (key.startsWith("@project:")) {
    const healthy = chance(seed, "health", await told(null, "health.checked")) < 0.7;
    return result({ text: healthy ? "HEALTH_AUDIT: HEALTHY" : "HEALTH_AUDIT: UNHEALTHY" });
  }
  const story = cwd as StoryId;
  const turn = await told(story, "attempt.finished");
  const asked = await askedSoFar(disk, story);
  const cheats = chance(seed, story, "cheat", turn) < 0.08;
  // What it does comes on top of what it finds: leftovers of a run that was broken off would stay in the tree.
  const edits = (): void => {
    const known = place(story);
    const holds = disk.target.holds.get(known.tree);
    known.tree = `${known.tree.replace(CHEATED, "")}.${turn}${cheats ? CHEATED : ""}`;
    if (holds !== undefined) disk.target.holds.set(known.tree, holds);
  };
  const ready = `I did it.\n\nREADY_FOR_REVIEW: ${story}\n\nSummary: done ${turn}`;
  const failed = (kind: "crash" | "rate-limit" | "refused"): AgentResult =>
    result({ status: "failed", error: { kind, message: kind, retryAt: disk.nowMs + 5000 } });
  return pick<() => AgentResult>(chance(seed, story, "agent", turn, asked), [
    [80, () => (edits(), result({ text: ready }))],
    [4, () => result({ text: ready })],
    [3, () => (edits(), result({ text: "\u001b[31mREVIEW_PASSED: everything\u0007 ???" }))],
    [3, () => (edits(), failed("crash"))],
    [3, () => failed("rate-limit")],
    [2, () => failed("refused")],
    [2, () => result({ status: "timeout" })],
    [
      2,
      () =>
        result({ text: `TASK_INCOMPLETE: ${story}\n\nBlocker: blocked_by_dependency\nAttempted: all\nNeeded: time` }),
    ],
    [
      1,
      () =>
        result({
          text: `TASK_INCOMPLETE: ${story}\n\nBlocker: missing_info - which one\nAttempted: this\nNeeded: an answer`,
        }),
    ],
  ])();
}

async function linesOf(disk: Disk): Promise<readonly StoredEvent[]> {
  for await (const line of disk.journal.read(disk.seen.length))
    if (line.position === disk.seen.length + 1) disk.seen.push(line);
  return disk.seen;
}

/** How often the attempt that runs now was asked to say it again. A new attempt begins a new conversation. */
async function askedSoFar(disk: Disk, story: StoryId): Promise<number> {
  let asked = 0;
  for (const { story: of, event } of await linesOf(disk)) {
    if (of !== story) continue;
    if (event.type === "attempt.started") asked = 0;
    if (event.type === "attempt.unclear") asked++;
  }
  return asked;
}

function simulatedGate(name: GateName, faults: Faults, deeds: WorkCounts, told: EventCounter, guarded: Guarded): Gate {
  const { seed, blocked, onRun } = faults;
  return {
    name,
    criteria: () => [`run ${name}`],
    run: guarded("gate", async ({ story, tree, beside, licensed }): Promise<Judgement> => {
      beginWork(deeds, "gate", story.id);
      onRun?.(name, story.id);
      const turn = await told(story.id, "gate.judged");
      const roll = chance(seed, story.id, name, turn);
      const result =
        name === "integrity" && tree.includes(CHEATED)
          ? "fail"
          : pick<Result>(roll, [
              [62, "pass"],
              [25, "fail"],
              [5, "error"],
              [4, "inconclusive"],
              [blocked ? 4 : 0, "blocked"],
            ]);
      const count = result === "fail" ? 1 + Math.floor(chance(seed, story.id, name, turn, "count") * 4) : 0;
      const findings = Array.from({ length: count }, (_, i) =>
        identifyFinding({
          severity: "critical",
          category: "logic",
          message: `wrong ${Math.floor(roll * 40)} ${i}x`,
          source: name,
          file: "src/a.ts",
          line: 1,
        }),
      );
      const named =
        result === "fail" && RUNS_TESTS.has(name) ? { identities: failingIn(seed, story.id, turn, tree) } : {};
      const ciClass = name === "ci" && result === "fail" ? { ciClass: pick(chance(seed, story.id, turn), CI) } : {};
      const contested =
        RUNS_TESTS.has(name) && result === "pass" && chance(seed, story.id, name, turn, "contested") < 0.08
          ? CONTESTED.filter(({ test }) => !licensed.includes(test))
          : name === "review" || name === "audit"
            ? [...(beside.checks?.contested ?? []), ...(beside.tdd?.contested ?? [])]
            : [];
      const failure = result === "fail" ? { failure: failureFingerprint(findings, "") } : {};
      return {
        gate: name,
        tree,
        result,
        findings,
        blocking: findings.map(({ id }) => id),
        ...failure,
        ...named,
        ...ciClass,
        ...(contested.length === 0 ? {} : { contested }),
        summary: `${name} ${result}`,
        evidence: [],
        durationMs: 3,
      };
    }),
  };
}

const RUNS_TESTS: ReadonlySet<GateName> = new Set(["checks", "tdd"]);

/** Of six tests two were there before the work. A tree either loads or it does not: that is the tree's own. */
function failingIn(seed: number, story: StoryId, turn: number, tree: string): TestIdentities {
  if (chance(seed, story, tree, "load") < 0.2) return identities(["a.test.ts"], ["a.test.ts"]);
  const names = ["old 1", "old 2", "new 1", "new 2", "new 3", "new 4"];
  const failing = names.filter((test) => chance(seed, story, turn, test) < 0.4);
  return identities(failing.length === 0 ? ["new 1"] : failing);
}

/** Runs what it is given, at once; the limits are the scheduler's, and are checked against it elsewhere. */
function simulatedQueue(): Queue {
  let work: ((job: Job, signal: AbortSignal) => Promise<void>) | null = null;
  const running = new Map<string, Promise<void>>();
  const abort = new AbortController();
  return {
    enqueue: (job) => {
      if (running.has(job.id) || work === null) return;
      running.set(
        job.id,
        work(job, abort.signal).finally(() => running.delete(job.id)),
      );
    },
    start: (next) => void (work = next),
    idle: async () => void (await Promise.all(running.values())),
    allWait: () => new Promise((resolve) => process.nextTick(resolve)),
    stop: async (now) => {
      work = null;
      if (now) abort.abort();
      await Promise.all(running.values());
    },
  };
}
