import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPostgresJournal } from "../../src/adapters/postgres/journal.ts";
import { fleetProject } from "../../test/e2e/fleet/fleet-project.ts";
import type { BenchResult } from "../bench-result.ts";

/** The built program; this file itself runs from `.build/bench/fleet`. */
const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const STORIES = 12;
const WORKERS = [1, 2, 4] as const;

/**
 * The real program with clones, worktrees, pushes, checks and scripted agents: how fast a dozen stories end. Git and
 * processes dominate the time, and all workers share one machine.
 */
export async function measureReal(newDatabase: () => Promise<string>): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  let alone = Number.NaN;
  for (const processes of WORKERS) {
    const perSecond = await realStepsPerSecond(await newDatabase(), processes);
    if (processes === 1) alone = perSecond;
    results.push({
      name: `fleet: steps per second with git and checks, ${processes} × remand worker`,
      value: perSecond,
      unit: "/s",
      ratio: perSecond / alone,
      against: `one (${alone.toFixed(1)}/s)`,
      limit: null,
    });
  }
  return results;
}

async function realStepsPerSecond(db: string, processes: number): Promise<number> {
  const project = fleetProject(STORIES);
  try {
    await Promise.all(Array.from({ length: processes }, (_, i) => workUntilSettled(db, project, `w${i}`)));
    return await stepsPerSecond(db);
  } finally {
    rmSync(project.folder, { recursive: true, force: true });
  }
}

async function workUntilSettled(
  db: string,
  { remote, folder }: { readonly remote: string; readonly folder: string },
  name: string,
): Promise<void> {
  const own = join(folder, name);
  const args = ["worker", "--remote", remote, "--name", name, "--folder", own, "--poll", "50ms", "--once"];
  const env = { ...process.env, REMAND_DB: db };
  const worker = spawn(process.execPath, [MAIN, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  worker.stderr.on("data", (data: Buffer) => (said += String(data)));
  const [code] = (await once(worker, "exit")) as [number | null];
  // Every third story waits for a person.
  if (code !== 4) throw new Error(`${name} ended with ${code}:\n${said}`);
}

/** By the journal's times: from the first story's start to the last line. */
async function stepsPerSecond(db: string): Promise<number> {
  const journal = await createPostgresJournal(db);
  try {
    let steps = 0;
    let [from, to] = [Infinity, 0];
    for await (const { at, event } of journal.read(0)) {
      if (event.type === "story.started") from = Math.min(from, at);
      if (at >= from) steps++;
      to = Math.max(to, at);
    }
    return steps / ((to - from) / 1000);
  } finally {
    await journal.close();
  }
}
