import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../test/kit/fleet/postgres-server.ts";
import type { BenchResult } from "./bench-result.ts";
import { measureFollowing } from "./fleet/following.ts";
import { measureJournal } from "./fleet/journal-cost.ts";
import { measureLongJournal } from "./fleet/long-journal.ts";
import { measureReal } from "./fleet/real-workers.ts";
import { measureGrowth, measureSteps } from "./fleet/steps.ts";
import { measureWaiting } from "./fleet/waiting.ts";

/** The cost of a fleet, on a real PostgreSQL whose commits wait for the disk. `--only` selects parts. */
export async function run(options: ReadonlyMap<string, string>): Promise<readonly BenchResult[]> {
  const only = options.get("only")?.split(",");
  const results: BenchResult[] = [];
  const below = newFolder();
  const server = await startPostgres({ fsync: true, below, settings: ["shared_buffers = 256MB"] });
  try {
    for (const [name, part] of Object.entries(PARTS)) {
      if (only !== undefined && !only.includes(name)) continue;
      results.push(...(await part(() => server.newDatabase())));
    }
  } finally {
    await server.stop();
    rmSync(below, { recursive: true, force: true });
  }
  return results;
}

type Part = (newDatabase: () => Promise<string>) => Promise<readonly BenchResult[]>;

const PARTS: Readonly<Record<string, Part>> = {
  journal: async (newDatabase) => measureJournal(await newDatabase()),
  following: measureFollowing,
  steps: measureSteps,
  growth: measureGrowth,
  real: measureReal,
  waiting: measureWaiting,
  long: measureLongJournal,
};

/** A folder on a real disk: the temporary folder may be in memory. The server's own user must have access. */
function newFolder(): string {
  const place = join(process.cwd(), ".build");
  mkdirSync(place, { recursive: true });
  const folder = mkdtempSync(join(place, "bench-fleet-"));
  chmodSync(folder, 0o755);
  return folder;
}
