/**
 * Runs the simulation of the engine for any number of seeds: `npm run simulate -- --seeds 1000000 [--from n] [--workers
 * n]`.
 *
 * Each seed is a world of scripted agents and gates with its own faults. It runs undisturbed, then with crashes at
 * random points, then with broken infrastructure; every law is asserted at every line of each journal. The same seed
 * always gives the same run, so a failing seed is printed and can be repeated exactly.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { checkBlocked, checkKilled } from "../test/simulation/check-seed.ts";

/** Small enough to show progress, and to keep the wait for the last worker short. */
const SEEDS_PER_PART = 250;
const PROGRESS_EVERY_MS = 5000;

interface Part {
  readonly from: number;
  readonly to: number;
}

interface Checked {
  readonly part: Part;
  readonly endings: Readonly<Record<string, number>>;
  readonly failure: { readonly seed: number; readonly why: string } | null;
}

if (isMainThread) process.exitCode = await main();
else await work();

async function main(): Promise<number> {
  const wish = wishOf();
  if (wish === null) return 2;
  const { from, seeds, workers } = wish;
  console.log(`seeds ${from} to ${from + seeds - 1}, ${workers} at a time`);
  const startedAt = performance.now();
  const endings: Record<string, number> = {};
  let done = 0;
  let saidAt = startedAt;
  const failure = await inParts(from, seeds, workers, (checked) => {
    done += checked.part.to - checked.part.from;
    for (const [how, count] of Object.entries(checked.endings)) endings[how] = (endings[how] ?? 0) + count;
    const now = performance.now();
    if (now - saidAt < PROGRESS_EVERY_MS) return;
    saidAt = now;
    const perSecond = done / ((now - startedAt) / 1000);
    console.log(
      `${done} of ${seeds}, ${perSecond.toFixed(0)} a second, ${Math.ceil((seeds - done) / perSecond)} s to go`,
    );
  });
  const tookS = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (failure !== null) {
    console.log(`seed ${failure.seed} FAILED: ${failure.why}\n`);
    console.log("To run it again exactly:");
    console.log(`  npm run simulate -- --from ${failure.seed} --seeds 1`);
    console.log(`  REMAND_SEED=${failure.seed} REMAND_SEEDS=1 npx vitest run test/simulation/engine.test.ts`);
    return 1;
  }
  console.log(`${seeds} seeds, no law broken, in ${tookS} s; how the stories ended:`);
  for (const [how, count] of Object.entries(endings).sort(([, a], [, b]) => b - a)) console.log(`  ${how}  ${count}`);
  return 0;
}

function wishOf(): { readonly from: number; readonly seeds: number; readonly workers: number } | null {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: "string", default: process.env["REMAND_SEEDS"] ?? "10000" },
        from: { type: "string", default: process.env["REMAND_SEED"] ?? "0" },
        workers: { type: "string", default: String(availableParallelism()) },
      },
    });
    const [from, seeds, workers] = [wholeOf(values.from, 0), wholeOf(values.seeds, 1), wholeOf(values.workers, 1)];
    return { from, seeds, workers: Math.min(workers, Math.ceil(seeds / SEEDS_PER_PART)) };
  } catch (error) {
    console.error(
      `simulate: ${(error as Error).message}\n  npm run simulate -- --seeds 10000 [--from n] [--workers n]`,
    );
    return null;
  }
}

function wholeOf(text: string, least: number): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  if (value >= least) return value;
  throw new Error(`${text} is not a whole number of at least ${least}`);
}

/** Gives parts to workers as they become free. Of several failures, the smallest seed is reported. */
async function inParts(
  from: number,
  seeds: number,
  workers: number,
  told: (checked: Checked) => void,
): Promise<Checked["failure"]> {
  const end = from + seeds;
  let next = from;
  let failure: Checked["failure"] = null;
  const take = (): Part | null => {
    if (next >= end || failure !== null) return null;
    const part = { from: next, to: Math.min(end, next + SEEDS_PER_PART) };
    next = part.to;
    return part;
  };
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: "simulate" });
      const give = (): void => worker.postMessage(take(), []);
      worker.on("message", (checked: Checked) => {
        told(checked);
        if (checked.failure !== null && (failure === null || checked.failure.seed < failure.seed))
          failure = checked.failure;
        give();
      });
      worker.on("error", reject);
      worker.on("exit", () => resolve());
      give();
    });
  await Promise.all(Array.from({ length: workers }, one));
  return failure;
}

/** The worker's side: checks parts until none are left. */
async function work(): Promise<void> {
  const port = parentPort;
  if (port === null || workerData !== "simulate") throw new Error("this file runs only as a worker of simulate");
  for await (const part of messages(port)) port.postMessage(await checkPart(part));
}

async function* messages(port: NonNullable<typeof parentPort>): AsyncGenerator<Part> {
  for (;;) {
    const part = await new Promise<Part | null>((resolve) => port.once("message", resolve));
    if (part === null) return;
    yield part;
  }
}

async function checkPart(part: Part): Promise<Checked> {
  const endings: Record<string, number> = {};
  for (let seed = part.from; seed < part.to; seed++) {
    try {
      for (const how of await checkKilled(seed)) endings[how] = (endings[how] ?? 0) + 1;
      await checkBlocked(seed);
    } catch (error) {
      return { part, endings, failure: { seed, why: (error as Error).message } };
    }
  }
  return { part, endings, failure: null };
}
