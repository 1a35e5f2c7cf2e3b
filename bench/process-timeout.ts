import { tmpdir } from "node:os";
import { runProcess } from "../src/adapters/process/run-process.ts";
import { median, type BenchResult } from "./bench-result.ts";

const TIMEOUT_MS = 1000;
const ROUNDS = 5;

/**
 * A grandchild in its own session whose parent has exited, that ignores every signal it can, and keeps the output open.
 */
const STUBBORN = `setsid sh -c '(trap "" INT TERM HUP; while :; do sleep 1; done) &'; echo begun; sleep 60`;

/** The duration of a timeout when a program does everything to delay it, and the cost of running any program. */
export async function run(): Promise<readonly BenchResult[]> {
  const stubborn: number[] = [];
  const plain: number[] = [];
  const spared: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    stubborn.push(await timeOf(STUBBORN, "timeout"));
    for (let i = 0; i < 10; i++) {
      plain.push(await timeOf("exit 0", "exited"));
      spared.push(await timeOf("exit 0", "exited", "spare"));
    }
  }
  const floor = median(spared);
  return [
    against("timeout against a stubborn grandchild", median(stubborn), 1.2),
    against("the same, the slowest of five", Math.max(...stubborn), null),
    {
      name: "a program, and a look for whom it left",
      value: median(plain),
      unit: "ms",
      ratio: median(plain) / floor,
      against: `without the look (${floor.toFixed(1)} ms)`,
      limit: null,
    },
  ];
}

const against = (name: string, value: number, limit: number | null): BenchResult => ({
  name,
  value,
  unit: "ms",
  ratio: value / TIMEOUT_MS,
  against: `the timeout (${TIMEOUT_MS} ms)`,
  limit,
});

async function timeOf(command: string, expected: string, survivors: "end" | "spare" = "end"): Promise<number> {
  const env = { PATH: process.env["PATH"] ?? "" };
  const { status, durationMs } = await runProcess({
    command,
    cwd: tmpdir(),
    env,
    timeoutMs: TIMEOUT_MS,
    sandbox: null,
    survivors,
  });
  if (status !== expected) throw new Error(`"${command}" ended as ${status}, not as ${expected}`);
  return durationMs;
}
