import { basename, resolve } from "node:path";
import { asWritten, quickMix, rankOf } from "./blame/baselines.ts";
import { makeCase, type Case } from "./blame/cases.ts";
import { largeDiff } from "./blame/large-diff.ts";
import { makeTestFolder, type TestFolder } from "./blame/place.ts";
import { formula } from "./blame/projects/formula.ts";
import { gatekeeper } from "./blame/projects/gatekeeper.ts";
import { planner } from "./blame/projects/planner.ts";
import { shop } from "./blame/projects/shop.ts";
import type { Project } from "./blame/projects.ts";
import { runTrial, type Trial } from "./blame/trial.ts";
import { median, Unusable, type BenchResult } from "./bench-result.ts";

import { layOut, type MadeRepository } from "./blame/made/made.ts";
import { ledger } from "./blame/made/ledger.ts";
import { tracker } from "./blame/made/tracker.ts";
import { tryRepository, type RepositorySpec } from "./blame/repository/run.ts";
import { readSavedTrials } from "./blame/repository/saved.ts";
import { classTable, scoresOf } from "./blame/repository/score.ts";

/** Weights were fitted on the first two projects only. */
const TRAINING: readonly Project[] = [shop, formula];
const HELD_OUT: readonly Project[] = [planner, gatekeeper];
/** How many cases of each kind per project. More cases are more significant; each has its own seed. */
const SINGLES = Number(process.env["REMAND_BLAME_CASES"] ?? "8");
const OTHERS = Math.ceil(SINGLES / 4);

/**
 * Iterations of ten to fifty hunks in small projects, with one slip among them, several, or none. Measures how often
 * ranking names the slip, with what confidence, and the cost of a proof. Every failure and every run is real.
 */
export async function run(options: ReadonlyMap<string, string>): Promise<readonly BenchResult[]> {
  if (options.has("repo")) return ofRepository(options);
  if (options.has("saved")) return ofSaved(options.get("saved")!.split(","));
  const only = options.get("made");
  if (only === "none") return ofProjects();
  if (only !== undefined)
    return ofMade(
      MADE.filter(({ name }) => only === "" || name === only),
      options,
    );
  return [...ofProjects(), ...(await ofMade(MADE, options))];
}

/** Small repositories with a history, in other languages than the projects. */
const MADE: readonly MadeRepository[] = [ledger, tracker];

/** One table by class, of answers that earlier runs saved for several repositories. */
function ofSaved(folders: readonly string[]): readonly BenchResult[] {
  const trials = folders.flatMap(readSavedTrials);
  if (trials.length === 0) throw new Unusable(`no answers are kept in ${folders.join(", ")}; --save makes some`);
  console.error(classTable(trials).join("\n"));
  return scoresOf(`${folders.length} repositories`, trials);
}

/**
 * Any repository: `--repo <path> --test "<command>"`, with `--cases`, `--seed`, `--minutes`, `--no-ddmin`, `--save
 * <folder>` and, for saved cases, `--repeat all|misses|<numbers>`.
 */
async function ofRepository(options: ReadonlyMap<string, string>): Promise<readonly BenchResult[]> {
  const path = options.get("repo")!;
  const command = options.get("test") ?? "";
  if (command === "") throw new Unusable('which command tests it? Say so: --repo <path> --test "npm test"');
  return scoresOf(basename(resolve(path)), await tryRepository({ path, command, ...wishOf(options, 30) }));
}

async function ofMade(made: readonly MadeRepository[], options: ReadonlyMap<string, string>): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const each of made) {
    const { path, leave } = layOut(each);
    try {
      const wish = { path, command: each.command, ...wishOf(options, 5) };
      results.push(...scoresOf(each.name, await tryRepository(wish)));
    } finally {
      leave();
    }
  }
  return results;
}

function wishOf(options: ReadonlyMap<string, string>, minutes: number): Omit<RepositorySpec, "path" | "command"> {
  const number = (name: string, usual: number): number => {
    const value = Number(options.get(name) ?? usual);
    if (!Number.isFinite(value) || value < 0) throw new Unusable(`--${name} is no number: ${options.get(name)}`);
    return value;
  };
  return {
    cases: number("cases", SINGLES),
    seed: number("seed", 1),
    minutes: number("minutes", minutes),
    withPlain: !options.has("no-ddmin"),
    save: options.get("save") ?? null,
    repeat: options.get("repeat") ?? null,
  };
}

function ofProjects(): readonly BenchResult[] {
  const place = makeTestFolder();
  try {
    const training = casesOf(TRAINING, "single", SINGLES, 1, place).map((each) => runTrial(each, place, false));
    const single = casesOf(HELD_OUT, "single", SINGLES, 1001, place).map((each) => runTrial(each, place, true));
    const multi = casesOf(HELD_OUT, "multi", OTHERS, 2001, place).map((each) => runTrial(each, place, true));
    const joint = casesOf(HELD_OUT, "joint", OTHERS, 3001, place).map((each) => runTrial(each, place, true));
    const kinds = ["unmet", "pre-existing", "environment", "flaky"] as const;
    const nobodys = kinds.flatMap((kind) =>
      casesOf(HELD_OUT, kind, OTHERS, 4001, place).map((each) => runTrial(each, place, true)),
    );
    return [
      ...rankingOf("fitted on", training),
      ...rankingOf("held out", single),
      ...reliability(single),
      ...proofs(single, multi, joint, nobodys),
      largeDiff(),
    ];
  } finally {
    place.leave();
  }
}

function casesOf(
  projects: readonly Project[],
  category: Case["category"],
  count: number,
  seed: number,
  place: TestFolder,
): Case[] {
  return projects
    .flatMap((project) => Array.from({ length: count }, (_, at) => makeCase(project, seed + at, category, place)))
    .filter((each) => each !== null);
}

const percent = (list: readonly unknown[], part: readonly unknown[]): number =>
  list.length === 0 ? Number.NaN : (100 * part.length) / list.length;

/** A share with a lower limit: the ratio is the target divided by the result. */
function share(name: string, value: number, target: number | null, against: string): BenchResult {
  return {
    name: `blame: ${name}`,
    value,
    unit: "%",
    ratio: target === null ? 1 : target / value,
    against,
    limit: target === null ? null : 1,
  };
}

function rankingOf(name: string, trials: readonly Trial[]): BenchResult[] {
  const scoresOf = ({ ranked, material }: Trial): number[] => {
    const byId = new Map(ranked.hunks.map(({ hunk, score }) => [hunk.id, score]));
    return material.hunks.map((hunk) => byId.get(hunk.id)!);
  };
  const ranks = trials.map((trial) => rankOf(scoresOf(trial), trial.case.truth));
  const others = [asWritten, quickMix].map((baseline) =>
    trials.map((trial) => rankOf(baseline(trial.material), trial.case.truth)),
  );
  const within = (list: readonly number[], most: number): number =>
    percent(
      list,
      list.filter((rank) => rank <= most),
    );
  const against = (most: number): string =>
    `S3 as written ${within(others[0]!, most).toFixed(0)} %, a quick mix ${within(others[1]!, most).toFixed(0)} %`;
  const isHeldOut = name === "held out";
  const mrr = ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length;
  const hunks = median(trials.map(({ material }) => material.hunks.length));
  return [
    share(
      `top-1 of ${trials.length} cases ${name} (median ${hunks} hunks)`,
      within(ranks, 1),
      isHeldOut ? 60 : null,
      against(1),
    ),
    share(`top-3 ${name}`, within(ranks, 3), isHeldOut ? 80 : null, against(3)),
    share(`top-5 ${name}`, within(ranks, 5), null, against(5)),
    { name: `blame: mean reciprocal rank ${name}`, value: mrr, unit: "", ratio: 1, against: "1", limit: null },
  ];
}

const BINS = [0, 0.4, 0.6, 0.8, 0.9, 1.01];

/** Of the answers with a given confidence, the share that is right. */
function reliability(trials: readonly Trial[]): BenchResult[] {
  return BINS.slice(1).flatMap((high, at) => {
    const low = BINS[at]!;
    const inside = trials.filter(
      ({ ranked }) => ranked.hunks[0]!.confidence >= low && ranked.hunks[0]!.confidence < high,
    );
    if (inside.length === 0) return [];
    const right = inside.filter(({ ranked, case: { truth } }) => truth.includes(ranked.hunks[0]!.hunk.id));
    const said = (100 * inside.reduce((sum, { ranked }) => sum + ranked.hunks[0]!.confidence, 0)) / inside.length;
    return [
      share(
        `right, where confidence is ${low} to ${Math.min(1, high)} (${inside.length} cases)`,
        percent(inside, right),
        null,
        `said ${said.toFixed(0)} %`,
      ),
    ];
  });
}

function proofs(
  single: readonly Trial[],
  multi: readonly Trial[],
  joint: readonly Trial[],
  nobodys: readonly Trial[],
): BenchResult[] {
  const isExact = ({ proof, case: { truth } }: Trial): boolean => sameSet(proof!.hunks, truth);
  const plainExact = ({ plain, case: { truth } }: Trial): boolean => sameSet(plain!.found, truth);
  const all = [...single, ...multi, ...joint, ...nobodys];
  const kindOf = (trial: Trial): string => (trial.case.category === "single" ? "culprit" : trial.case.category);
  const falsely = all.filter(
    (trial) => trial.proof!.proven && (trial.proof!.kind !== kindOf(trial) || !isExact(trial)),
  );
  const exact = (name: string, list: readonly Trial[], target: number): BenchResult =>
    share(
      `exact set, ${name} (${list.length} cases)`,
      percent(list, list.filter(isExact)),
      target,
      `plain ddmin ${percent(list, list.filter(plainExact)).toFixed(0)} %`,
    );
  return [
    exact("one culprit", single, 92),
    exact("several culprits", multi, 75),
    exact("joint culprits", joint, 75),
    share(
      "proven, one culprit",
      percent(
        single,
        single.filter(({ proof }) => proof!.proven),
      ),
      null,
      "all",
    ),
    share(
      `right kind over all (${all.length} cases)`,
      percent(
        all,
        all.filter((trial) => trial.proof!.kind === kindOf(trial)),
      ),
      90,
      "all",
    ),
    {
      name: "blame: false proofs",
      value: falsely.length,
      unit: "cases",
      ratio: falsely.length,
      against: "0",
      limit: 0,
    },
    ...runsOf(single),
  ];
}

function runsOf(trials: readonly Trial[]): BenchResult[] {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const search = mean(trials.map(({ proof }) => proof!.searchRuns));
  const all = mean(trials.map(({ proof }) => proof!.runs));
  const plain = mean(trials.map((trial) => trial.plain!.runs));
  const named = (name: string, value: number, ratio: number, against: string): BenchResult => ({
    name: `blame: ${name}`,
    value,
    unit: "runs",
    ratio,
    against,
    limit: 1,
  });
  return [
    named("runs of the search, one culprit, mean", search, search / plain, `plain ddmin (${plain.toFixed(1)} runs)`),
    named("runs in all with triage and proof, one culprit, mean", all, all / 9, "9 runs"),
  ];
}

function sameSet(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
