import { byText, lookup } from "../../src/stdx/sorted-map.ts";
import { LANES, type Lane } from "../../src/core/stories/command.ts";
import type { StoryId } from "../../src/core/events/ids.ts";
import { dispatch, doJob, handBack } from "../../src/engine/dispatch.ts";
import { type Ledger, openLedger } from "../../src/engine/ledger.ts";
import { recoverStory } from "../../src/engine/recover.ts";
import type { EngineWorld } from "../../src/engine/world.ts";
import { decide, nextWake } from "../../src/decide/decide.ts";
import type { FleetQueue, ClaimedJob, Ticket } from "../../src/ports/queue.ts";
import { chance } from "./chance.ts";
import { loseOpenWork } from "./work-counts.ts";
import { type Disk, Killed, sharing, simulatedWorld } from "./simulated-world.ts";
import { hasDiedTwice, newProject } from "./simulate.ts";

/** What befalls the workers, each at one of its calls of the world. */
export interface Disturbed {
  /** Calls of the whole fleet at which the calling worker dies. */
  readonly kills: ReadonlySet<number>;
  /** Calls at which the calling worker is suspended, until others have made so many more. */
  readonly freezes: ReadonlyMap<number, number>;
  /** How often a job is given to two workers at once. */
  readonly doubles: number;
}

export const UNDISTURBED: Disturbed = { kills: new Set(), freezes: new Map(), doubles: 0 };

export interface FleetRun {
  readonly disk: Disk;
  readonly calls: number;
  readonly dead: number;
  readonly frozen: number;
  readonly doubled: number;
}

/** A book of jobs that all workers share, with the limits of the lanes; it says which worker took what. */
function createBook(limits: Readonly<Record<Lane, number>>, seed: number, doubles: number) {
  const jobs = new Map<string, { lane: Lane; holders: Set<string>; over: boolean }>();
  const workers = new Map<string, (id: string, signal: AbortSignal) => Promise<void>>();
  const counted = { doubled: 0, faults: [] as unknown[] };
  const heldIn = (lane: Lane): number =>
    [...jobs.values()].filter((job) => job.lane === lane && job.holders.size > 0).length;
  const give = (id: string, holder: string, work: (id: string, signal: AbortSignal) => Promise<void>): void => {
    const job = jobs.get(id)!;
    job.holders.add(holder);
    const run = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      try {
        await work(id, new AbortController().signal);
      } catch (error) {
        if (!(error instanceof Killed)) counted.faults.push(error);
        // A dead worker does not report its end.
        return;
      }
      if (!job.holders.delete(holder)) return;
      if (job.holders.size === 0) job.over = true;
      pump();
    };
    void run();
  };
  let turn = 0;
  const pump = (): void => {
    if (workers.size === 0) return;
    for (const lane of LANES)
      for (const [id, job] of jobs) {
        if (job.lane !== lane || job.over || job.holders.size > 0) continue;
        if (heldIn(lane) >= limits[lane]) break;
        const names = [...workers.keys()];
        const first = names[turn++ % names.length]!;
        give(id, first, workers.get(first)!);
        if (names.length < 2 || chance(seed, "double", id) >= doubles) continue;
        counted.doubled++;
        const second = names[turn++ % names.length]!;
        if (second !== first) give(id, second, workers.get(second)!);
      }
  };
  const of = (name: string): FleetQueue => ({
    enqueue: async (tickets: readonly Ticket[]) => {
      for (const { id, lane } of tickets) if (!jobs.has(id)) jobs.set(id, { lane, holders: new Set(), over: false });
      pump();
    },
    start: async (work) => {
      workers.set(name, work);
      pump();
    },
    findEnded: async (ids) => ids.filter((id) => jobs.get(id)?.over ?? true),
    forget: async (which) => {
      if (Array.isArray(which)) for (const id of which as string[]) jobs.delete(id);
    },
    claimedJobs: async () =>
      [...jobs].flatMap(([id, { lane, holders }]) => [...holders].map((holder): ClaimedJob => ({ id, lane, holder }))),
    release: async (tickets) => {
      for (const { id, holder } of tickets) jobs.get(id)?.holders.delete(holder);
      pump();
    },
    stop: async () => void workers.delete(name),
  });
  return { of, leave: (name: string) => workers.delete(name), counted };
}

interface Worker {
  readonly name: string;
  readonly ledger: Ledger;
  readonly world: EngineWorld;
  readonly queue: FleetQueue;
  gone: boolean;
}

/**
 * Several workers with their own files, one journal and one queue, disturbed at random points. The others detect a dead
 * or suspended worker and take over; a new one replaces it. Ends when nothing is left to do.
 */
export async function simulateFleet(seed: number, disturbed: Disturbed, workers = 3): Promise<FleetRun> {
  const disk = await newProject(seed);
  const fleet: Worker[] = [];
  const count = { calls: 0, dead: 0, frozen: 0, born: 0 };
  const first = await openLedger({
    journal: disk.journal,
    clock: { now: () => 0, sleep: async () => {} },
    watcher: NOBODY,
  });
  const { concurrency } = first.state().policy!;
  const book = createBook({ ...concurrency, engine: Infinity }, seed, disturbed.doubles);
  const thaws: { at: number; thaw: () => void }[] = [];

  const callOf = (self: { dead: boolean; lose(): void }) => async (): Promise<void> => {
    if (self.dead) throw new Killed();
    count.calls++;
    if (count.calls > MOST_CALLS) throw new Error(`no end after ${MOST_CALLS} calls`);
    for (const sleeper of thaws.splice(0)) {
      if (sleeper.at <= count.calls) sleeper.thaw();
      else thaws.push(sleeper);
    }
    const isStruck = disturbed.kills.has(count.calls) || disturbed.freezes.has(count.calls);
    const at = count.calls;
    // A third death in the same step is no chance any more, and a person would be asked.
    if (!isStruck || (await hasDiedTwice(disk))) return;
    if (disturbed.kills.has(at)) {
      count.dead++;
      self.dead = true;
      self.lose();
      throw new Killed();
    }
    const still = disturbed.freezes.get(at)!;
    count.frozen++;
    self.lose();
    await new Promise<void>((resolve) => thaws.push({ at: count.calls + still, thaw: resolve }));
  };
  const born = async (): Promise<void> => {
    const deeds = { ...disk.deeds, open: new Set<string>(), isOutboxFound: false };
    const self = {
      gone: false,
      dead: false,
      lose: (): void => {
        deeds.isReplaced = self.gone = true;
        loseOpenWork(deeds);
      },
    };
    const own = sharing(disk, { files: new Map(), outbox: new Map(), deeds });
    const bare = simulatedWorld(own, { seed, blocked: false }, callOf(self), NOBODY);
    const at: { ledger: Ledger | null } = { ledger: null };
    /** Which run the files of a story belong to: what another worker's run left stays with that worker. */
    const runs = new Map<StoryId, number | null>();
    const runOf = (story: StoryId): number | null =>
      lookup(at.ledger!.state().stories, story, byText)?.running?.seq ?? null;
    const world: EngineWorld = {
      ...bare,
      workspace: {
        ...bare.workspace,
        isHere: async (story) => runOf(story) !== null && runs.get(story) === runOf(story),
        // Code travels: what the journal says is there is what is worked on.
        prepare: async (story: StoryId) => {
          const tree = lookup(at.ledger!.state().stories, story, byText)?.tree ?? "t0";
          const isOtherRun = runs.get(story) !== runOf(story);
          if (isOtherRun || own.files.get(story)?.kept.at(-1) !== tree) own.files.set(story, { tree, kept: [tree] });
          runs.set(story, runOf(story));
          return bare.workspace.prepare(story);
        },
      },
    };
    const ledger = (at.ledger = await openLedger({ ...world, journal: disk.journal }));
    const name = `w${++count.born}`;
    const queue = book.of(name);
    const worker: Worker = {
      name,
      ledger,
      world,
      queue,
      get gone() {
        return self.gone;
      },
      set gone(gone) {
        self.gone = gone;
      },
    };
    fleet.push(worker);
    disk.journal.watch(() => void ledger.catchUp());
    await queue.start((id, signal) => doJob(id, ledger, world, signal));
  };
  for (let n = 0; n < workers; n++) await born();

  const heirs = new Map<string, string>();
  let leader: Worker | null = null;
  let over = new AbortController();
  let dispatching: Promise<void> = Promise.resolve();
  for (let quiet = 0; quiet < 30;) {
    await new Promise((resolve) => setImmediate(resolve));
    // The lease: who is gone is replaced.
    for (const worker of fleet.filter(({ gone }) => gone)) {
      fleet.splice(fleet.indexOf(worker), 1);
      book.leave(worker.name);
      if (worker === leader) {
        over.abort();
        leader = null;
      }
      await born();
    }
    // And its jobs are returned before others may take them. The worker that does so may die as well.
    const there = new Set(fleet.map(({ name }) => name));
    for (const holder of new Set((await book.of("?").claimedJobs()).map((job) => job.holder))) {
      if (there.has(holder) || there.has(heirs.get(holder) ?? "")) continue;
      const heir = fleet[0]!;
      heirs.set(holder, heir.name);
      void takeOver(holder, heir).catch((error: unknown) => book.counted.faults.push(error));
    }
    if (leader === null && fleet.length > 0) {
      const chosen: Worker = (leader = fleet[count.born % fleet.length]!);
      over = new AbortController();
      dispatching = unlessKilled(
        dispatch(
          {
            ledger: chosen.ledger,
            queue: chosen.queue,
            clock: chosen.world.clock,
            recover: async (story) => void (await recoverStory(story, chosen.ledger, chosen.world, "died")),
          },
          over.signal,
        ),
      );
    }
    if (book.counted.faults.length > 0) throw book.counted.faults[0];
    await first.catchUp();
    // No worker makes calls any more: suspended ones wake now, at the end.
    if (isSettled(first, disk.nowMs)) for (const { thaw } of thaws.splice(0)) thaw();
    quiet =
      thaws.length === 0 && isSettled(first, disk.nowMs) && (await book.of("?").claimedJobs()).length === 0
        ? quiet + 1
        : 0;
  }
  over.abort();
  await dispatching;
  return { disk, calls: count.calls, dead: count.dead, frozen: count.frozen, doubled: book.counted.doubled };
}

async function takeOver(gone: string, heir: Worker): Promise<void> {
  const left = (await heir.queue.claimedJobs()).filter(({ holder }) => holder === gone);
  try {
    for (const { id } of left) await handBack(id, heir.ledger, heir.world, "died");
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return;
  }
  await heir.queue.release(left);
}

function isSettled(ledger: Ledger, now: number): boolean {
  const state = ledger.state();
  return decide(state, state.policy!, now).length === 0 && nextWake(state, now) === null;
}

async function unlessKilled(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

const MOST_CALLS = 60_000;
const NOBODY = { onLines: () => undefined, onOutput: () => undefined };
