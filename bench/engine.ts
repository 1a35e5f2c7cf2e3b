import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BenchResult } from "./bench-result.ts";
import { measureCrowds } from "./engine/crowds.ts";
import { measureLongRun } from "./engine/long-run.ts";
import { measureSteps } from "./engine/steps.ts";

/** The engine's own cost: agents and gates take no time, and the journal is on a real disk. */
export async function run(): Promise<readonly BenchResult[]> {
  // Next to the project instead of in the temporary folder, which may be in memory, where writes cost nothing.
  mkdirSync(".build", { recursive: true });
  const folder = mkdtempSync(join(process.cwd(), ".build", "bench-engine-"));
  try {
    const steps = await measureSteps(folder);
    const crowds = await measureCrowds(folder, steps.commitMs);
    const longRun = await measureLongRun(folder);
    return [...steps.results, ...crowds, ...longRun];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
