import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSqliteJournal } from "../src/adapters/journal/sqlite-journal.ts";
import { stateFolder } from "../src/compose/state-folder.ts";
import { storyId } from "../src/core/events/ids.ts";
import { NOTHING_FOLDED, withLine } from "../src/engine/fold-journal.ts";
import { createSnapshotSaver } from "../src/engine/snapshot.ts";
import type { Journal } from "../src/ports/journal.ts";
import type { BenchResult } from "./bench-result.ts";
import { names } from "./engine/steps.ts";
import { modelStory, retold } from "./fleet/model-story.ts";

/** The built program; this file itself runs from `.build/bench`. */
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const FEW = 10_000;
const MANY = 100_000;

/**
 * Peak memory of `remand verify` in the built program, for journals of two lengths. `--stories` sets the longer one.
 */
export async function run(options: ReadonlyMap<string, string>): Promise<readonly BenchResult[]> {
  const folder = mkdtempSync(join(process.cwd(), ".build", "bench-verify-"));
  try {
    const many = Number(options.get("stories") ?? MANY);
    const small = await measured(join(folder, "few"), Math.min(FEW, many));
    const large = await measured(join(folder, "many"), many);
    return [
      row("peak memory", "MB", large.mb, `${text(small)} (${small.mb.toFixed(0)} MB)`, large.mb / small.mb, large),
      row(
        "peak memory for each line",
        "kB",
        (large.mb * 1024) / large.lines,
        `${text(small)} (${((small.mb * 1024) / small.lines).toPrecision(3)} kB)`,
        large.mb / large.lines / (small.mb / small.lines),
        large,
        1,
      ),
      row(
        "time for each line",
        "µs",
        (large.ms * 1000) / large.lines,
        `${text(small)} (${((small.ms * 1000) / small.lines).toPrecision(3)} µs)`,
        large.ms / large.lines / (small.ms / small.lines),
        large,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measured {
  readonly stories: number;
  readonly lines: number;
  readonly mb: number;
  readonly ms: number;
}

const text = ({ stories, lines }: Measured): string =>
  `${stories.toLocaleString("en")} stories, ${lines.toLocaleString("en")} lines`;

function row(
  name: string,
  unit: string,
  value: number,
  against: string,
  ratio: number,
  of: Measured,
  limit: number | null = null,
): BenchResult {
  return { name: `verify-journal: ${name}, ${text(of)}`, value, unit, ratio, against, limit };
}

async function measured(root: string, stories: number): Promise<Measured> {
  const { journal: file, path } = stateFolder(root);
  mkdirSync(path, { recursive: true });
  const journal = await createSqliteJournal(file);
  const lines = await filled(journal, stories);
  await journal.close();
  const begin = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", TELL_PEAK, MAIN, "verify"], {
    cwd: root,
    encoding: "utf8",
  });
  const ms = performance.now() - begin;
  const [, peak] = /^peak (\d+)$/m.exec(stderr) ?? [];
  if (status !== 0 || !stdout.startsWith("intact") || peak === undefined)
    throw new Error(`remand verify ended with ${status}: ${stdout}${stderr}`);
  return { stories, lines, mb: Number(peak) / 1024, ms };
}

const TELL_PEAK = `data:text/javascript,${encodeURIComponent(
  'process.on("exit", () => console.error(`\\npeak ${process.resourceUsage().maxRSS}`));',
)}`;

const BATCH = 1000;

/** Fills a journal: one story is really driven; the others get its events under their own names. */
async function filled(journal: Journal, stories: number): Promise<number> {
  const model = await modelStory();
  const save = createSnapshotSaver(journal, null);
  let folded = NOTHING_FOLDED();
  for (let from = 0; from < stories; from += BATCH) {
    const added = await Promise.all(
      names("story", Math.min(from + BATCH, stories))
        .slice(from)
        .map((name) => journal.append(storyId(name), 0, retold(model, name), Date.now())),
    );
    const lines = added.flatMap((each) => (each.ok ? each.stored : []));
    for (const line of lines.toSorted((a, b) => a.position - b.position)) folded = withLine(folded, line);
    await save(folded);
  }
  return folded.position;
}
