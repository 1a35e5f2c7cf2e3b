import { createExperimentRunner } from "../../src/adapters/git/experiment-runner.ts";
import { createWorkStarter } from "../../src/adapters/git/dependencies/work-start.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { makeProject, type Files } from "./project.ts";

const FEW = 300;
const MANY = 30_000;
const TIMES = 41;
const TIMES_WRITTEN = 3;

type How = "mounted" | "written";

/** A clean checkout of a tree that differs from the base in ten files, in a small and in a large repository. */
export async function checkoutFigures(): Promise<readonly BenchResult[]> {
  const few = makeRepository(FEW);
  const many = makeRepository(MANY);
  const row = async (how: How, times: number, limit: number | null): Promise<BenchResult> => {
    const [inFew, inMany] = await medians([await few.opener(how), await many.opener(how)], times);
    return {
      name: `verify: clean checkout, ${how}, ${MANY.toLocaleString("en")} files, 10 differ`,
      value: inMany!,
      unit: "ms",
      ratio: inMany! / inFew!,
      against: `${FEW} files (${inFew!.toFixed(0)} ms)`,
      limit,
    };
  };
  try {
    return [await row("mounted", TIMES, 1.3), await row("written", TIMES_WRITTEN, null)];
  } finally {
    few.clear();
    many.clear();
  }
}

/** Alternates between them, so that other load on the machine affects all. */
async function medians(openers: readonly (() => Promise<number>)[], times: number): Promise<readonly number[]> {
  const taken = openers.map((): number[] => []);
  // The first one of each creates the pristine checkout of the base.
  for (const open of openers) await open();
  for (let time = 0; time < times; time++) for (const [at, open] of openers.entries()) taken[at]!.push(await open());
  return taken.map(median);
}

interface BenchRepository {
  /** Opens and closes a checkout; returns how many milliseconds opening took. */
  opener(how: How): Promise<() => Promise<number>>;
  clear(): void;
}

function makeRepository(count: number): BenchRepository {
  const project = makeProject(sources(count, "base"));
  project.commit(Object.fromEntries(Object.entries(sources(count, "work")).slice(0, 10)));
  return {
    clear: project.clear,
    async opener(how) {
      const options = { ...project, setup: null, share: null };
      // As in the engine: packages of the user's checkout are stored once, at the start of the work.
      const start = createWorkStarter(project.root, options);
      await start.open(false);
      const experimentRunner = createExperimentRunner({
        ...options,
        mount: how === "mounted",
        start: () => start.now(),
      });
      return async () => {
        const begin = performance.now();
        const bench = await experimentRunner.open({
          signal: new AbortController().signal,
          commit: "HEAD",
          base: "HEAD~1",
        });
        const taken = performance.now() - begin;
        await bench.close();
        return taken;
      };
    },
  };
}

function sources(count: number, says: string): Files {
  const files: Record<string, string> = {};
  for (let at = 0; at < count; at++)
    files[`src/part-${Math.floor(at / 100)}/file-${at}.js`] = `export const value = "${says} ${at}";\n`.repeat(20);
  return files;
}
