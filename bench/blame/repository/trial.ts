import type { Blame } from "../../../src/core/blame/blame.ts";
import { type BlameMaterial, looksLikeTest } from "../../../src/core/blame/change.ts";
import { findBlame } from "../../../src/engine/find-blame.ts";
import type { PastExperiment } from "../../../src/decide/blame/experiments.ts";
import { filesWithout } from "../../../src/decide/blame/files-without.ts";
import { type RankedBlame, rankBlame } from "../../../src/decide/blame/rank-blame.ts";
import { readBlameMaterial } from "../../../src/parse/code/failure-material.ts";
import { readGitDiff } from "../../../src/parse/code/git-output.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { blameKind } from "../../../src/views/board/check-reports.ts";
import { narrowedCommand } from "../../../src/write/edits/narrow-command.ts";
import { asWritten, quickMix, rankOf } from "../baselines.ts";
import { ddminWith } from "../ddmin.ts";
import type { RepositoryCase } from "./cases.ts";
import { sentBack } from "./story.ts";
import type { Workshop } from "./workshop.ts";

/** One case, handled by everything that the product does with a failure, and by the peers. */
export interface RepositoryTrial {
  readonly case: RepositoryCase;
  /** The rank of the best true hunk: by the product, by S3 as written, by the simple mix. */
  readonly ranks: { readonly own: number; readonly asWritten: number; readonly quickMix: number } | null;
  /** The rank of the best true hunk after the first run showed which lines its tests ran. */
  readonly rankAfter: number | null;
  readonly confidence: number;
  readonly kind: ReturnType<typeof blameKind>;
  readonly proven: boolean;
  readonly shown: boolean;
  /** The confidence after the runs. */
  readonly sure: number;
  /** Ids of the hunks that the answer names. */
  readonly named: readonly number[];
  readonly explanation: string;
  readonly runs: number;
  readonly searchRuns: number;
  readonly seconds: number;
  /** Every run, so that a saved miss can be examined without running it again. */
  readonly experiments: readonly Pick<PastExperiment, "without" | "purpose" | "outcome">[];
  readonly asWrittenExact: boolean;
  readonly plain: { readonly found: readonly number[]; readonly runs: number } | null;
  /** `null`: a person is asked, and no brief is written. */
  readonly brief: Briefed | null;
}

export interface Briefed {
  readonly text: string;
  readonly tokens: number;
  /** How many files may be changed; if the scope is open, all files of the iteration. */
  readonly scopeFiles: number;
  readonly isOpen: boolean;
  readonly isTruthInside: boolean;
}

/** The usual estimate: four characters per token. */
const CHARS_PER_TOKEN = 4;
const LIMITS = { runs: 30, timeMs: 10 * 60_000 };
const MOST_PLAIN_RUNS = 60;
const SIGNAL = new AbortController().signal;

export function triedIn(
  workshop: Workshop,
  each: RepositoryCase,
  options: { readonly withPlain: boolean },
): Promise<RepositoryTrial> {
  return workshop.under(each.trouble, () => tried(workshop, each, options));
}

async function tried(
  workshop: Workshop,
  each: RepositoryCase,
  { withPlain }: { readonly withPlain: boolean },
): Promise<RepositoryTrial> {
  const { bench, trial, work } = workshop;
  const material = await materialOf(workshop, each);
  const ranked = rankBlame(material);
  const beganAt = performance.now();
  const {
    blame,
    proof,
    ranked: rankedAfter,
  } = await findBlame(
    {
      output: each.run.output,
      root: each.root,
      base: each.base,
      tree: each.tree,
      diff: each.diff,
      isTest: looksLikeTest,
    },
    {
      checkout: bench,
      textBefore: (path) => work.fileAt(storyId("bench"), each.base, path),
      proof: { trial, command: each.trouble?.command ?? workshop.command, limits: LIMITS },
      signal: SIGNAL,
      now: () => Date.now(),
    },
  );
  const seconds = (performance.now() - beganAt) / 1000;
  const kind = blameKind(blame);
  const written = asWritten(material);
  const best = Math.max(...written);
  return {
    case: each,
    ranks: each.truth.length === 0 ? null : ranksOf(each, material, ranked, written),
    rankAfter: each.truth.length === 0 ? null : rankOf(scoresIn(rankedAfter, material), each.truth),
    confidence: ranked.hunks[0]?.confidence ?? 0,
    kind,
    proven: blame.basis === "proven",
    shown: blame.shown === true,
    sure: blame.confidence,
    named: namedBy(blame, kind, proof?.hunks ?? [], material),
    explanation: blame.explanation,
    runs: proof?.runs ?? 0,
    searchRuns: proof?.searchRuns ?? 0,
    seconds,
    experiments: (proof?.experiments ?? []).map(({ without, purpose, outcome }) => ({ without, purpose, outcome })),
    asWrittenExact:
      best > 0 &&
      sameSet(
        written.flatMap((score, id) => (score === best ? [id] : [])),
        each.truth,
      ),
    plain: !withPlain || each.truth.length === 0 ? null : await plainly(workshop, each, material),
    brief: await briefed(workshop, each, blame),
  };
}

async function materialOf(workshop: Workshop, each: RepositoryCase): Promise<BlameMaterial> {
  const { bench } = workshop;
  await bench.set(each.tree, new Map());
  return readBlameMaterial({
    output: each.run.output,
    root: each.root,
    diff: readGitDiff(each.diff),
    paths: await bench.paths(),
    textOf: (path) => bench.text(path),
    textBefore: (path) => workshop.text(each.base, path),
  });
}

function ranksOf(each: RepositoryCase, material: BlameMaterial, ranked: RankedBlame, written: readonly number[]) {
  const places = [scoresIn(ranked, material), written, quickMix(material)].map((scores) => rankOf(scores, each.truth));
  return { own: places[0]!, asWritten: places[1]!, quickMix: places[2]! };
}

function scoresIn(ranked: RankedBlame, material: BlameMaterial): number[] {
  const byId = new Map(ranked.hunks.map(({ hunk, score }) => [hunk.id, score]));
  return material.hunks.map((hunk) => byId.get(hunk.id)!);
}

/** The hunks that a reader takes as the answer: for one culprit the first, for several all. */
function namedBy(blame: Blame, kind: string, proven: readonly number[], { hunks }: BlameMaterial): readonly number[] {
  if (proven.length > 0) return proven;
  const ids = blame.suspects.flatMap(
    ({ file, line }) => hunks.find((hunk) => hunk.file === file && hunk.start <= line && line <= hunk.end)?.id ?? [],
  );
  return kind === "hunk" || kind === "slip" ? ids.slice(0, 1) : ids;
}

async function briefed(workshop: Workshop, each: RepositoryCase, blame: Blame): Promise<Briefed | null> {
  const changed = [...new Set(each.hunks.map(({ file }) => file))];
  const { evidence, command } = workshop;
  const { brief, scope } = await sentBack({ judgement: each.run.judgement, blame, changed, command, evidence });
  if (brief === null || scope === null) return null;
  const isOpen = scope.allow.length === 0;
  const inside = new Set(isOpen ? changed : scope.allow);
  return {
    text: brief,
    tokens: Math.ceil(brief.length / CHARS_PER_TOKEN),
    scopeFiles: inside.size,
    isOpen,
    isTruthInside: each.truth.every((id) => inside.has(each.hunks.find((hunk) => hunk.id === id)!.file)),
  };
}

/** The peer sees only whether the failing tests fail, not how. */
async function plainly(workshop: Workshop, each: RepositoryCase, material: BlameMaterial) {
  const { bench, trial } = workshop;
  const all = material.hunks.map((hunk) => hunk.id);
  const command = narrowedCommand(workshop.command, {
    failures: material.failure.failures,
    packageFile: workshop.text(each.tree, "package.json"),
  });
  return ddminWith(all, MOST_PLAIN_RUNS, async (applied) => {
    const kept = new Set(applied);
    const texts = filesWithout(
      material.hunks,
      new Set(all.filter((id) => !kept.has(id))),
      (path) => workshop.text(each.tree, path),
      (path) => workshop.text(each.base, path),
    );
    await bench.set(each.tree, texts);
    return !(await trial.run({ command, path: bench.path, timeoutMs: 300_000 }, { signal: SIGNAL })).passed;
  });
}

export function sameSet(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
