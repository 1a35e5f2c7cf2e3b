import { createLaboratory } from "../../src/adapters/git/laboratory.ts";
import { median, type BenchResult } from "../bench-result.ts";
import { makeProject, type Files } from "./project.ts";

const FEW = 300;
const MANY = 30_000;
const TIMES = 7;

/** A clean checkout of a tree that differs from the base in ten files, in a small and in a large repository. */
export async function checkoutFigures(): Promise<readonly BenchResult[]> {
  const few = await timesOf(FEW);
  const many = await timesOf(MANY);
  const row = (how: "mounted" | "written", limit: number | null): BenchResult => ({
    name: `verify: clean checkout, ${how}, ${MANY.toLocaleString("en")} files, 10 differ`,
    value: many[how],
    unit: "ms",
    ratio: many[how] / few[how],
    against: `${FEW} files (${few[how].toFixed(0)} ms)`,
    limit,
  });
  return [row("mounted", 1.3), row("written", null)];
}

async function timesOf(count: number): Promise<{ readonly mounted: number; readonly written: number }> {
  const project = makeProject(sources(count, "base"));
  try {
    project.commit(Object.fromEntries(Object.entries(sources(count, "work")).slice(0, 10)));
    const timed = async (mount: boolean): Promise<number> => {
      const laboratory = createLaboratory({ ...project, setup: null, share: null, mount });
      const open = async (): Promise<number> => {
        const begin = performance.now();
        const bench = await laboratory.open({ signal: new AbortController().signal, commit: "HEAD", base: "HEAD~1" });
        const taken = performance.now() - begin;
        await bench.close();
        return taken;
      };
      // The first one makes the pristine checkout of the base.
      await open();
      const taken: number[] = [];
      for (let time = 0; time < TIMES; time++) taken.push(await open());
      return median(taken);
    };
    return { mounted: await timed(true), written: await timed(false) };
  } finally {
    project.clear();
  }
}

function sources(count: number, says: string): Files {
  const files: Record<string, string> = {};
  for (let at = 0; at < count; at++)
    files[`src/part-${Math.floor(at / 100)}/file-${at}.js`] = `export const value = "${says} ${at}";\n`.repeat(20);
  return files;
}
