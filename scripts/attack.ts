/**
 * Plays the attacks and the honest changes of `test/attacks` through the built program, with the real test runners:
 * `npm run attack -- --help` explains the options.
 *
 * Prints at the end, by class, how many were accepted, and names each attack that was accepted, each honest change that
 * was refused, and each row that was skipped. `--tables` plays nothing and prints the tables of the guide. The exit
 * code is 1 if a row ended differently than it says.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { guideTables } from "../test/attacks/guide.ts";
import type { Row } from "../test/attacks/kit.ts";
import { ATTACKS, HONEST } from "../test/attacks/rows.ts";
import { sampleOf } from "../test/attacks/sample.ts";
import { asExpected, inTurnTable, type Played, summaryOf } from "../test/attacks/summary.ts";
import { playAttack, playHonest, titleOf } from "../test/attacks/verdict.ts";
import { EXPERIMENTS, type Experiment, isExperiment } from "../test/attacks/without.ts";

const ROWS = [...ATTACKS.map((row) => ({ row, isHonest: false })), ...HONEST.map((row) => ({ row, isHonest: true }))];

const HELP = `Play the attacks and the honest changes of test/attacks through the built program, with the real test runners.

Usage: npm run attack -- [options]

  --shard <k/n>      play a part of the rows (default 1/1)
  --sample <count>   play so many attacks and so many honest changes, of every class in turn
  --only <words>     rows whose title holds these words
  --class <words>    rows whose class holds these words
  --attacks          attacks alone
  --honest           honest changes alone
  --without <part>   leave a part of the verification out: ${EXPERIMENTS.join(", ")}, or a rule of the integrity
                     gate by its name; may be given several times
  --in-turn          play the attacks once with everything and once without each of ${EXPERIMENTS.join(", ")}, and print
                     what was accepted, by class
  --jobs <count>     rows at a time (default 2)
  --json <file>      write the results as JSON
  --tables           play nothing, print the tables of the guide

Examples:
  npm run attack -- --shard 1/16 --jobs 4
  npm run attack -- --attacks --sample 30 --without faults
  npm run attack -- --attacks --sample 60 --in-turn
  npm run attack -- --class configuration --without runner-changed
  npm run attack -- --only "shell: fixes the code"

Exit codes: 0 every row ended as it says, 1 a row did not, 2 an option is wrong.`;

if (isMainThread) process.exitCode = await main();
else work();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      shard: { type: "string", default: "1/1" },
      only: { type: "string", default: "" },
      class: { type: "string", default: "" },
      sample: { type: "string" },
      without: { type: "string", multiple: true, default: [] },
      attacks: { type: "boolean", default: false },
      honest: { type: "boolean", default: false },
      "in-turn": { type: "boolean", default: false },
      jobs: { type: "string", default: "2" },
      json: { type: "string" },
      tables: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (values.tables) {
    console.log(guideTables().join("\n\n"));
    return 0;
  }
  const unknown = values.without.find((name) => !isExperiment(name));
  const [part = Number.NaN, parts = Number.NaN] = values.shard.split("/").map(Number);
  if (unknown !== undefined || !(part >= 1 && part <= parts)) {
    console.error(`--shard is 1/4; --without is one of ${EXPERIMENTS.join(", ")}, or a rule of the integrity gate`);
    return 2;
  }
  const size = Number(values.sample);
  const sample = values.sample === undefined ? null : new Set([...sampleOf(ATTACKS, size), ...sampleOf(HONEST, size)]);
  const chosen = ROWS.map(({ row, isHonest }, index) => ({ row, isHonest, index }))
    .filter(({ isHonest }) => values.attacks === values.honest || values.honest === isHonest)
    .filter(({ row }) => titleOf(row).includes(values.only) && row.kind.includes(values.class))
    .filter(({ row }) => sample?.has(row) !== false)
    .filter((_, place) => place % parts === part - 1)
    .map(({ index }) => index);
  const jobs = Number(values.jobs);
  if (values["in-turn"]) return playInTurn(chosen, jobs, values.json);
  const played = await playAll(chosen, jobs, values.without as Experiment[]);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(played, null, 2));
  console.log(summaryOf(played));
  return played.every(asExpected) ? 0 : 1;
}

/**
 * Plays the rows, then again without each experimental part. A row that is accepted without a part shows what the part
 * is for, and is not a failure.
 */
async function playInTurn(chosen: readonly number[], jobs: number, file: string | undefined): Promise<number> {
  const runs: { without: string; played: readonly Played[] }[] = [];
  for (const without of ["", ...EXPERIMENTS] as const) {
    console.log(without === "" ? "With everything" : `Without ${without}`);
    runs.push({ without, played: await playAll(chosen, jobs, without === "" ? [] : [without]) });
    if (file !== undefined) writeFileSync(file, JSON.stringify(runs, null, 2));
  }
  console.log(inTurnTable(runs));
  return runs[0]!.played.every(asExpected) ? 0 : 1;
}

/** Plays several rows at a time: each worker takes the next one. */
async function playAll(
  indexes: readonly number[],
  jobs: number,
  without: readonly Experiment[],
): Promise<readonly Played[]> {
  const left = [...indexes];
  const played: Played[] = [];
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { without } });
      const next = (): void => {
        const index = left.shift();
        if (index === undefined) void worker.terminate().then(() => resolve());
        else worker.postMessage(index, []);
      };
      worker.on("error", reject);
      worker.on("message", (one: Played) => {
        played.push(one);
        const mark = asExpected(one) ? " " : "✖";
        console.log(`${mark} ${one.ending} (${one.seconds.toFixed(0)} s)  ${one.kind}  ${one.title}`);
        if (!asExpected(one)) console.log(`${one.flaw ?? ""}\n${one.out}`.replaceAll(/^/gm, "      "));
        next();
      });
      next();
    });
  await Promise.all(Array.from({ length: Math.min(jobs, indexes.length) }, one));
  return played;
}

function work(): void {
  const { without } = workerData as { readonly without: readonly Experiment[] };
  parentPort!.on("message", (index: number) => {
    const { row, isHonest } = ROWS[index]!;
    parentPort!.postMessage(played(row, isHonest, without), []);
  });
}

const played = (row: Row, isHonest: boolean, without: readonly Experiment[]): Played => ({
  ...(isHonest ? playHonest(row, without) : playAttack(row, without)),
  kind: row.kind,
  stack: row.stack.name,
  isHonest,
  isPending: row.pending !== undefined,
  isNoted: row.noted !== undefined,
});
