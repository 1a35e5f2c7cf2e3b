import type { Experiment, Told } from "../decide/blame/experiments.ts";
import type { Bench } from "../ports/experiment-runner.ts";

/** How many benches there may be beside the first, and how one is had. */
export interface MoreBenches {
  readonly count: number;
  open(): Promise<Bench>;
}

export interface RunnerOptions {
  readonly bench: Bench;
  readonly more?: MoreBenches;
  /** The state that experiments are about. */
  readonly tree: string;
  filesWithout(hunks: readonly number[]): ReadonlyMap<string, string | null>;
  /** Runs the failing tests in a folder, and says how they ended. */
  run(path: string, control: { readonly signal: AbortSignal }): Promise<Told>;
  onRun(experiment: Experiment): void;
  readonly signal: AbortSignal;
}

export interface ProofRunner {
  /** How many experiments can be under way at once. */
  readonly hands: number;
  /** How an experiment ended. Those that are likely to be next are begun beside it. */
  ended(experiment: Experiment, next: readonly Experiment[]): Promise<Told>;
  close(): Promise<void>;
}

interface Ended {
  readonly told: Told;
  readonly tree: string;
}

interface Going {
  readonly ended: Promise<Ended>;
  readonly stop: AbortController;
  /** Another run was under way at the same time: it may have been in this one's way. */
  isBeside: boolean;
}

/**
 * Makes the runs of a proof, several at once where there are benches for it. What is begun before it is asked for is a
 * guess: if nobody asks in the end it is stopped and forgotten. A run that had others beside it and ended neither well
 * nor as recorded is made again alone, because two runs can be in each other's way (a port, a file in a common place);
 * so what is told is what it would be if runs were made one after the other.
 */
export function proofRunner(options: RunnerOptions): ProofRunner {
  const benches = benchesOf(options);
  const tried = trying(options);
  const going = new Map<string, Going>();

  function begin(experiment: Experiment, bench: Bench): Going {
    const stop = new AbortController();
    const others = [...going.values()];
    for (const other of others) other.isBeside = true;
    const signal = AbortSignal.any([options.signal, stop.signal]);
    const ended = tried.on(bench, experiment, signal).finally(() => benches.free.push(bench));
    // Whoever asks for it hears of an error; a guess that nobody asks for fails for itself.
    ended.catch(() => undefined);
    return { ended, stop, isBeside: others.length > 0 };
  }

  async function stopAllBut(kept: ReadonlySet<string>): Promise<void> {
    for (const [key, each] of going) {
      if (kept.has(key)) continue;
      each.stop.abort();
      going.delete(key);
      await each.ended.catch(() => undefined);
    }
  }

  return {
    hands: 1 + (options.more?.count ?? 0),
    async ended(experiment, next) {
      await benches.open();
      const wanted = [experiment, ...next.filter((each) => nameOf(each) !== nameOf(experiment))];
      await stopAllBut(new Set(wanted.map(nameOf)));
      for (const each of wanted) {
        const bench = going.has(nameOf(each)) ? undefined : benches.free.shift();
        if (bench !== undefined) going.set(nameOf(each), begin(each, bench));
      }
      const own = going.get(nameOf(experiment))!;
      const ended = await own.ended;
      going.delete(nameOf(experiment));
      const isPlain = ended.told.outcomes.every((outcome) => outcome === "pass" || outcome === "fail-same");
      if (!own.isBeside || isPlain) return tried.accepted(ended);
      await stopAllBut(new Set());
      return tried.accepted(await begin(experiment, benches.free.shift()!).ended);
    },
    async close() {
      await stopAllBut(new Set());
      await benches.close();
    },
  };
}

/** The benches that nobody works at; those beside the first are opened when the first run is asked for. */
function benchesOf({ bench, more }: RunnerOptions) {
  const free: Bench[] = [bench];
  const opened: Bench[] = [];
  return {
    free,
    async open(): Promise<void> {
      while (more !== undefined && opened.length < more.count) {
        const another = await more.open();
        opened.push(another);
        free.push(another);
      }
    },
    async close(): Promise<void> {
      for (const each of opened) await each.close();
    },
  };
}

/** One experiment on one bench. Two sets of hunks may leave the same files: what is known of a tree is not run again. */
function trying(options: RunnerOptions) {
  const known = new Map<string, Told>();
  return {
    async on(bench: Bench, experiment: Experiment, signal: AbortSignal): Promise<Ended> {
      const tree = await bench.set(options.tree, options.filesWithout(experiment.without));
      const before = experiment.repeat === 0 ? known.get(tree) : undefined;
      if (before !== undefined) return { told: { ...before, tookMs: 0 }, tree };
      options.onRun(experiment);
      return { told: await options.run(bench.path, { signal }), tree };
    },
    accepted({ told, tree }: Ended): Told {
      known.set(tree, told);
      return told;
    },
  };
}

const nameOf = ({ without, repeat }: Experiment): string => `${without.join(",")}#${repeat}`;
