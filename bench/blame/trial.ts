import type { BlameMaterial } from "../../src/core/blame/change.ts";
import { filesWithout } from "../../src/decide/blame/files-without.ts";
import { groupsOf } from "../../src/decide/blame/failure-groups.ts";
import { outcomeOf } from "../../src/decide/blame/outcome.ts";
import { withParts } from "../../src/decide/blame/parts.ts";
import { prepareProof, type PreparedProof } from "../../src/decide/blame/prepare-proof.ts";
import { type ProofAnswer, newProof, nextExperiment, applyOutcome } from "../../src/decide/blame/prove-blame.ts";
import { type RankedBlame, rankBlame } from "../../src/decide/blame/rank-blame.ts";
import { readBlameMaterial } from "../../src/parse/code/failure-material.ts";
import { readFailure } from "../../src/parse/code/failure.ts";
import { pathIndex } from "../../src/parse/code/imports.ts";
import type { Case } from "./cases.ts";
import { ddmin } from "./ddmin.ts";
import type { TestFolder, TestRun } from "./place.ts";

export interface Trial {
  readonly case: Case;
  readonly material: BlameMaterial;
  readonly ranked: RankedBlame;
  readonly proof: ProofAnswer | null;
  readonly plain: { readonly found: readonly number[]; readonly runs: number } | null;
}

const LIMITS = { runs: 40, timeMs: 120_000 };

/** Tries one case: ranking, proof by real runs, and plain delta debugging for comparison. */
export function runTrial(each: Case, place: TestFolder, withRuns: boolean): Trial {
  const material = readBlameMaterial({
    output: each.output,
    root: place.root,
    diff: each.diff,
    paths: [...each.iteration.keys()],
    textOf: (path) => each.iteration.get(path) ?? null,
    textBefore: (path) => each.base.get(path) ?? null,
  });
  const ranked = rankBlame(material);
  if (!withRuns) return { case: each, material, ranked, proof: null, plain: null };
  const tests = [...new Set(material.failure.failures.flatMap((failure) => failure.file ?? []))].filter((path) =>
    path.endsWith(".test.js"),
  );
  const prepared = prepareProof(material, ranked, LIMITS);
  const run = (without: ReadonlySet<number>): TestRun => {
    const files = new Map<string, string | null>(each.iteration);
    const changed = filesWithout(
      withParts(material.hunks, prepared.parts, without),
      without,
      (path) => each.iteration.get(path) ?? null,
      (path) => each.base.get(path) ?? null,
      prepared.renames,
    );
    for (const [path, text] of changed) files.set(path, text);
    return place.run(files, tests.length === 0 ? null : tests, each.reporter);
  };
  return {
    case: each,
    material,
    ranked,
    proof: proven(material, prepared, place, [...each.iteration.keys()], run),
    plain: each.truth.length === 0 ? null : plainly(material, run),
  };
}

function proven(
  material: BlameMaterial,
  { input }: PreparedProof,
  place: TestFolder,
  paths: readonly string[],
  run: (without: ReadonlySet<number>) => TestRun,
): ProofAnswer {
  const groups = groupsOf(material.failure);
  const index = pathIndex(paths);
  let state = newProof(input);
  for (;;) {
    const step = nextExperiment(state);
    if ("answer" in step) return step.answer;
    const start = performance.now();
    const { passed, output } = run(new Set(step.experiment.without));
    const reading = readFailure(output, { root: place.root, paths: index });
    state = applyOutcome(
      state,
      outcomeOf(groups, { passed, timedOut: false, reading, tookMs: performance.now() - start }),
    );
  }
}

/** The peer sees only whether the failing tests fail, not how. */
function plainly(
  material: BlameMaterial,
  run: (without: ReadonlySet<number>) => TestRun,
): { found: readonly number[]; runs: number } {
  const all = material.hunks.map((hunk) => hunk.id);
  return ddmin(all, (applied) => !run(new Set(all.filter((id) => !applied.includes(id)))).passed);
}
