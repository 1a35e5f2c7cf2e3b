import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, type BenchResult } from "./bench-result.ts";

/** The built program; this file itself runs from `.build/bench`. */
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const ROUNDS = 25;

/** The cost of `--version`, compared with a Node that does nothing. */
export function run(): readonly BenchResult[] {
  const floor: number[] = [];
  const version: number[] = [];
  const help: number[] = [];
  // The three alternate, so that changes in the machine's speed affect all. The first round is a warm-up.
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
  return [result("remand --version", version, 1.5), result("remand --help", help, null), doctor(base)];
}

const DOCTOR_ROUNDS = 5;
/** The longest that a person should wait. */
const LONGEST_DOCTOR_MS = 2000;

/** `remand doctor` in a small project with a check and an agent; its limit is 2 s on a machine with this floor. */
function doctor(floorMs: number): BenchResult {
  const root = mkdtempSync(join(tmpdir(), "remand-bench-"));
  try {
    writeFileSync(join(root, "package.json"), '{ "scripts": { "test": "node --test" } }');
    writeFileSync(
      join(root, "remand.yaml"),
      "version: 1\npreset: goal\nagents: { developer: { command: node } }\ngates: { checks: { commands: [npm test] } }\n",
    );
    const commit = "-c user.name=b -c user.email=b@localhost commit --quiet --message start";
    for (const args of ["init --quiet", "add --all", commit]) spawnSync("git", args.split(" "), { cwd: root });
    const times = Array.from({ length: DOCTOR_ROUNDS }, () => timeOf([MAIN, "doctor"], root));
    const value = median(times);
    const against = `node -e 0 (${floorMs.toFixed(1)} ms)`;
    return {
      name: "remand doctor",
      value,
      unit: "ms",
      ratio: value / floorMs,
      against,
      limit: Math.round(LONGEST_DOCTOR_MS / floorMs),
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function timeOf(args: readonly string[], cwd = process.cwd()): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  const took = performance.now() - start;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return took;
}
