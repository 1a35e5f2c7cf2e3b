import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, type BenchResult } from "./bench-result.ts";

/** The built program; this file itself runs from `.build/bench`. */
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const ROUNDS = 25;

/** What asking for the version costs, against a Node that does nothing. */
export function run(): readonly BenchResult[] {
  const floor: number[] = [];
  const version: number[] = [];
  const help: number[] = [];
  // The three take turns, so that a machine that slows down or speeds up does so for all of them. The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = [timeOf(["-e", "0"]), timeOf([MAIN, "--version"]), timeOf([MAIN, "--help"])] as const;
    if (round === 0) continue;
    floor.push(measured[0]);
    version.push(measured[1]);
    help.push(measured[2]);
  }
  const base = median(floor);
  const result = (name: string, times: readonly number[], limit: number | null): BenchResult => ({
    name,
    value: median(times),
    unit: "ms",
    ratio: median(times) / base,
    against: `node -e 0 (${base.toFixed(1)} ms)`,
    limit,
  });
  return [result("remand --version", version, 1.5), result("remand --help", help, null)];
}

function timeOf(args: readonly string[]): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const took = performance.now() - start;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return took;
}
