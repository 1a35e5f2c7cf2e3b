import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, type BenchResult } from "../bench-result.ts";
import { longJournal, type LongJournal } from "./long-journal.ts";

/** The built program; this file itself runs from `.build/bench/engine`. */
const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const TELLER = new URL("./long-journal.js", import.meta.url).href;
const STORIES = 10_000;
const ROUNDS = 7;

/** The cost of opening a long journal. A new process opens it each time, as after a crash. */
export async function measureLongRun(folder: string): Promise<readonly BenchResult[]> {
  const journal = await longJournal(folder, STORIES);
  const opened: OpenFigures[] = [];
  const withoutSnapshot: OpenFigures[] = [];
  const status: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = [
      openedBy(journal.file),
      openedBy(journal.withoutSnapshot),
      statusMs(journal),
      programMs(["-e", "0"], journal.root).ms,
    ] as const;
    // The first round warms the file cache.
    if (round === 0) continue;
    opened.push(measured[0]);
    withoutSnapshot.push(measured[1]);
    status.push(measured[2]);
    floor.push(measured[3]);
  }
  const events = journal.events.toLocaleString("en");
  return [
    againstASecond(`engine: recovery from ${events} events`, opened, 1),
    againstASecond("engine: the same, without its snapshot", withoutSnapshot, null),
    memory("engine: memory with 10,000 open stories", opened, 300),
    memory("engine: the same, without its snapshot", withoutSnapshot, 300),
    statusResult(median(status), median(floor)),
  ];
}

interface OpenFigures {
  readonly ms: number;
  readonly rss: number;
}

function openedBy(file: string): OpenFigures {
  const script = `import(${JSON.stringify(TELLER)}).then(async (m) => console.log(JSON.stringify(await m.openAndTell(${JSON.stringify(file)}))))`;
  const { stdout } = programMs(["-e", script], process.cwd());
  const told = JSON.parse(stdout) as OpenFigures & { readonly stories: number };
  if (told.stories !== STORIES + 1) throw new Error(`${told.stories} stories were found`);
  return told;
}

function statusMs({ root }: LongJournal): number {
  const { ms, stdout } = programMs([MAIN, "status"], root);
  const lines = stdout.split("\n").filter((line) => line.startsWith("story-")).length;
  if (lines !== STORIES) throw new Error(`status told of ${lines} stories`);
  return ms;
}

/** Runs `status`. Its exit code describes the stories and may have any value, but the error output must be empty. */
function programMs(args: readonly string[], cwd: string): { ms: number; stdout: string } {
  const begin = performance.now();
  const { stdout, stderr, error } = spawnSync(process.execPath, args, { cwd, encoding: "utf8", maxBuffer: 1e9 });
  const ms = performance.now() - begin;
  if (error !== undefined || stderr !== "") throw new Error(`node ${args[0]} failed: ${error?.message ?? stderr}`);
  return { ms, stdout };
}

function againstASecond(name: string, told: readonly OpenFigures[], limit: number | null): BenchResult {
  const value = median(told.map(({ ms }) => ms));
  return { name, value, unit: "ms", ratio: value / 1000, against: "1 s", limit };
}

function memory(name: string, told: readonly OpenFigures[], mostMb: number): BenchResult {
  const value = median(told.map(({ rss }) => rss / 1024 / 1024));
  return { name, value, unit: "MB", ratio: value / mostMb, against: `${mostMb} MB`, limit: 1 };
}

function statusResult(value: number, floorMs: number): BenchResult {
  const allowedMs = 3 * floorMs + 200;
  return {
    name: "remand status with 10,000 stories",
    value,
    unit: "ms",
    ratio: value / allowedMs,
    against: `3 × node -e 0 + 200 ms (${allowedMs.toFixed(0)} ms)`,
    limit: 1,
  };
}
