import type { Experiment, RunOutcome } from "../decide/blame/experiments.ts";
import type { ExperimentCheckout, Trial } from "../ports/experiment-runner.ts";

/** How many checkouts there may be beside the first, and how to open one. */
export interface ExtraCheckouts {
  readonly count: number;
  open(): Promise<ExperimentCheckout>;
}

export interface ProofRunnerOptions {
  readonly checkout: ExperimentCheckout;
  readonly more?: ExtraCheckouts;
  /** The tree that experiments change. */
  readonly tree: string;
  filesWithout(hunks: readonly number[]): ReadonlyMap<string, string | null>;
  /** Runs the failing tests in a folder, and returns their outcome. */
  run(path: string, control: { readonly signal: AbortSignal }, experiment: Experiment): Promise<RunOutcome>;
  onRun(experiment: Experiment): void;
  readonly signal: AbortSignal;
}

export interface ProofRunner {
  /** How many experiments can run at once. */
  readonly hands: number;
  /** Returns the outcome of an experiment. Experiments that are likely to be next may start beside it. */
  ended(experiment: Experiment, next: readonly Experiment[]): Promise<RunOutcome>;
  close(): Promise<void>;
}

interface FinishedExperiment {
  readonly outcome: RunOutcome;
  readonly tree: string;
}

interface RunningExperiment {
  readonly ended: Promise<FinishedExperiment>;
  readonly stop: AbortController;
  /** Whether another run took place at the same time, and may have disturbed this one. */
  isBeside: boolean;
}

/**
 * Makes the runs of a proof, several at once if there are checkouts for it. Runs that start before they are asked for
 * are guesses: one that is not needed is stopped and dropped. A run beside others that neither passed nor failed as
 * recorded is repeated alone, because parallel runs can disturb each other (a port, a shared file). So the result is
 * the same as if the runs were made one after the other.
 */
export function proofRunner(options: ProofRunnerOptions): ProofRunner {
  const checkouts = checkoutPool(options);
  const tried = trying(options);
  const going = new Map<string, RunningExperiment>();

  function begin(experiment: Experiment, checkout: ExperimentCheckout): RunningExperiment {
    const stop = new AbortController();
    const others = [...going.values()];
    for (const other of others) other.isBeside = true;
    const signal = AbortSignal.any([options.signal, stop.signal]);
    const ended = tried.on(checkout, experiment, signal).finally(() => checkouts.free.push(checkout));
    // An error is reported to the caller that asks for the run; a guess that is not needed fails silently.
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
      await checkouts.open();
      const wanted = [experiment, ...next.filter((each) => nameOf(each) !== nameOf(experiment))];
      await stopAllBut(new Set(wanted.map(nameOf)));
      for (const each of wanted) {
        const checkout = going.has(nameOf(each)) ? undefined : checkouts.free.shift();
        if (checkout !== undefined) going.set(nameOf(each), begin(each, checkout));
      }
      const own = going.get(nameOf(experiment))!;
      const ended = await own.ended;
      going.delete(nameOf(experiment));
      const isPlain = ended.outcome.outcomes.every((outcome) => outcome === "pass" || outcome === "fail-same");
      if (!own.isBeside || isPlain) return tried.accepted(ended);
      await stopAllBut(new Set());
      return tried.accepted(await begin(experiment, checkouts.free.shift()!).ended);
    },
    async close() {
      await stopAllBut(new Set());
      await checkouts.close();
    },
  };
}

/** Holds the free checkouts; those beside the first are opened when the first run is asked for. */
function checkoutPool({ checkout, more }: ProofRunnerOptions) {
  const free: ExperimentCheckout[] = [checkout];
  const opened: ExperimentCheckout[] = [];
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

/**
 * Runs one experiment on one checkout. Two sets of hunks may leave the same files, and the outcome of a known tree is
 * not computed again.
 */
function trying(options: ProofRunnerOptions) {
  const known = new Map<string, RunOutcome>();
  return {
    async on(checkout: ExperimentCheckout, experiment: Experiment, signal: AbortSignal): Promise<FinishedExperiment> {
      const tree = await checkout.set(options.tree, options.filesWithout(experiment.without));
      const before = experiment.repeat === 0 ? known.get(tree) : undefined;
      if (before !== undefined) return { outcome: { ...before, tookMs: 0, isKnown: true }, tree };
      options.onRun(experiment);
      return { outcome: await options.run(checkout.path, { signal }, experiment), tree };
    },
    accepted({ outcome, tree }: FinishedExperiment): RunOutcome {
      if (outcome.isKnown !== true) known.set(tree, outcome);
      return outcome;
    },
  };
}

const nameOf = ({ without, repeat }: Experiment): string => `${without.join(",")}#${repeat}`;

/** A failure, and the change to search for its cause. */
export interface BlameCase {
  /** The output of the failed check. */
  readonly output: string;
  /** The folder of the failed run: the paths of its output are relative to it. */
  readonly root: string;
  /** The trees of the last good state and of the failed one. */
  readonly base: string;
  readonly tree: string;
  readonly diff: string;
  isTest(path: string): boolean;
}

export interface BlameTools {
  readonly checkout: ExperimentCheckout;
  textBefore(path: string): Promise<string | null>;
  /** How to prove the cause by running; `null`: only read. */
  readonly proof: ProofOptions | null;
  readonly signal: AbortSignal;
  now(): number;
  onRun?(what: string): void;
  /** Further checkouts, if several runs may be made at once. */
  readonly more?: ExtraCheckouts;
}

export interface ProofOptions {
  readonly trial: Trial;
  readonly command: string;
  readonly limits: { readonly runs: number; readonly timeMs: number };
  /** How long the failed check took; absent if unknown. */
  readonly checkMs?: number;
}
