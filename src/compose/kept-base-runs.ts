import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EvidenceId } from "../domain/ids.ts";
import type { Baseline } from "../ports/gate.ts";
import { sha256 } from "../stdx/sha256.ts";
import { ownName } from "../adapters/git/own-name.ts";

/** What a run of the checks on the base depends on. */
export interface BaseRunKey {
  readonly tree: string;
  /** Commands, environments and variables. */
  readonly checks: string;
  /** The folder of the installed packages; it is named after what they are. */
  readonly packages: string;
}

/** Runs of the base from earlier processes, in the user's state folder. */
export interface KeptBaseRuns {
  find(key: BaseRunKey): Promise<Baseline | null>;
  keep(key: BaseRunKey, baseline: Baseline): Promise<void>;
}

/**
 * Only a base that is green is kept, and for a day: one that is red may be red for a reason outside of the files, such
 * as a database that was not started.
 */
export function createKeptBaseRuns(
  userState: string,
  readEvidence: (id: EvidenceId) => Promise<string | null>,
): KeptBaseRuns {
  const folder = join(userState, "base-runs");
  const fileOf = ({ tree, checks, packages }: BaseRunKey): string =>
    join(folder, `${sha256([tree, checks, packages, process.version].join("\n"))}.json`);
  return {
    async find(key) {
      const file = fileOf(key);
      const at = (await stat(file).catch(() => null))?.mtimeMs;
      if (at === undefined || Date.now() - at > A_DAY) return null;
      const kept = baselineIn(await readFile(file, "utf8"));
      if (kept === null) return null;
      const tests = kept.run?.tests;
      // The names of its tests are evidence of the project: where that was removed, the run is of no use.
      return tests !== undefined && (await readEvidence(tests)) === null ? null : kept;
    },
    async keep(key, baseline) {
      if (baseline.isGreen !== true || baseline.flaky.length > 0 || baseline.needsVariables !== undefined) return;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const aside = join(folder, `${ownName()}.tmp`);
      await writeFile(aside, JSON.stringify(baseline));
      await rename(aside, fileOf(key));
      await removeOld(folder);
    },
  };
}

/** `null` for a file that a power cut left half written: the checks are run again. */
function baselineIn(text: string): Baseline | null {
  try {
    return JSON.parse(text) as Baseline;
  } catch {
    return null;
  }
}

const A_DAY = 24 * 60 * 60 * 1000;

async function removeOld(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const at = (await stat(join(folder, name)).catch(() => null))?.mtimeMs;
    if (at !== undefined && Date.now() - at > A_DAY) await rm(join(folder, name), { force: true });
  }
}
