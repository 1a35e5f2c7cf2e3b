import type { Blame } from "../domain/blame.ts";
import type { BlameMaterial } from "../domain/change.ts";
import type { FailureReading } from "../domain/failure.ts";
import { companionsOf } from "../policy/blame/companions.ts";
import type { Told } from "../policy/blame/experiments.ts";
import { groupsOf, outcomeOf } from "../policy/blame/outcome.ts";
import { filesWithout } from "../policy/blame/tree.ts";
import { environmentReason, flakyHint, testHunks } from "../policy/blame/triage.ts";
import { verdictOf } from "../policy/blame/verdict.ts";
import { newProof, nextExperiment, told, type ProofAnswer } from "../policy/prove-blame.ts";
import { rankBlame, type RankedBlame } from "../policy/rank-blame.ts";
import type { Bench } from "../ports/laboratory.ts";
import type { Trial } from "../ports/trial.ts";
import { readBlameMaterial } from "../readers/failure-material.ts";
import { readFailure } from "../readers/failure.ts";
import { readGitDiff } from "../readers/git-diff.ts";
import { pathIndex } from "../readers/imports.ts";
import { narrowedCommand } from "../writers/narrowed-command.ts";

/** A failure, and the change that it came with. */
export interface BlameCase {
  /** What the failed check printed. */
  readonly output: string;
  /** Where it ran: its paths are said from there. */
  readonly root: string;
  /** The last good state, and the one that failed. */
  readonly base: string;
  readonly tree: string;
  readonly diff: string;
  isTest(path: string): boolean;
}

export interface BlameTools {
  readonly bench: Bench;
  textBefore(path: string): Promise<string | null>;
  /** How it is proven; `null` where it is only read. */
  readonly proof: Proving | null;
  readonly signal: AbortSignal;
  now(): number;
  onRun?(what: string): void;
}

export interface Proving {
  readonly trial: Trial;
  readonly command: string;
  readonly limits: { readonly runs: number; readonly timeMs: number };
}

export interface BlameFound {
  readonly blame: Blame;
  readonly ranked: RankedBlame;
  readonly proof: ProofAnswer | null;
}

/** Finds the change that caused a failure: reads, ranks, and, where a check can be run, proves it by running. */
export async function findBlame(given: BlameCase, tools: BlameTools): Promise<BlameFound> {
  const { bench } = tools;
  await bench.set(given.tree, new Map());
  const paths = await bench.paths();
  const diff = readGitDiff(given.diff);
  const before = new Map<string, string | null>();
  for (const { oldPath, change } of diff) if (change !== "added") before.set(oldPath, await tools.textBefore(oldPath));
  const now = new Map<string, string | null>();
  const textOf = (path: string): string | null => {
    if (!now.has(path)) now.set(path, bench.text(path));
    return now.get(path)!;
  };
  const textBefore = (path: string): string | null => before.get(path) ?? null;
  const material = readBlameMaterial({ ...given, diff, paths, textOf, textBefore });
  // The bench shows other states from now on; what was read of this one is kept.
  for (const { file } of material.hunks) textOf(file);
  const ranked = rankBlame(material);
  const texts = { textOf, textBefore };
  const proof =
    tools.proof === null || material.hunks.length === 0
      ? null
      : await proven(given, tools, tools.proof, { material, ranked, paths, texts });
  const environment = environmentReason(material);
  const { isNewTest } = testHunks(material);
  return { blame: verdictOf({ ranked, proof, base: null, isNewTest, environment }), ranked, proof };
}

interface Read {
  readonly material: BlameMaterial;
  readonly ranked: RankedBlame;
  readonly paths: readonly string[];
  readonly texts: {
    textOf(path: string): string | null;
    textBefore(path: string): string | null;
  };
}

function byExitCode({ passed, timedOut }: { passed: boolean; timedOut: boolean }, tookMs: number): Told {
  return { outcomes: [timedOut ? "cannot-apply" : passed ? "pass" : "fail-same"], tookMs };
}

async function proven(
  given: BlameCase,
  { bench, signal, now, onRun }: BlameTools,
  { trial, command, limits }: Proving,
  { material, ranked, paths, texts }: Read,
): Promise<ProofAnswer | null> {
  const groups = groupsOf(material.failure);
  const isOpaque = groups.length === 0;
  const index = pathIndex(paths);
  const line = narrowedCommand(command, {
    failures: material.failure.failures,
    packageFile: texts.textOf("package.json"),
  });
  const runs = new Map<
    string,
    { readonly reading: FailureReading; readonly passed: boolean; readonly timedOut: boolean }
  >();
  const until = now() + limits.timeMs;
  let state = newProof({
    hunks: ranked.hunks.map(({ hunk, confidence }) => ({ id: hunk.id, confidence })),
    companions: companionsOf(material),
    ...testHunks(material),
    looksEnvironmental: environmentReason(material) !== null,
    looksFlaky: flakyHint(material, ranked.isReached),
    limits,
  });
  while (!signal.aborted) {
    const step = nextExperiment(state);
    // Where the output says nothing, one way of failing cannot be told from another: that is no proof.
    if ("answer" in step) return isOpaque ? { ...step.answer, proven: false } : step.answer;
    const { without, repeat, purpose } = step.experiment;
    const files = filesWithout(material.hunks, new Set(without), texts.textOf, texts.textBefore);
    const tree = await bench.set(given.tree, files);
    const known = repeat === 0 ? runs.get(tree) : undefined;
    const beganAt = now();
    if (known === undefined)
      onRun?.(
        `${purpose}: ${without.length === 0 ? "as it is" : `without ${without.length} of ${material.hunks.length} changes`}`,
      );
    const run = known ?? (await tryOnce());
    runs.set(tree, run);
    const tookMs = now() - beganAt;
    state = told(state, isOpaque ? byExitCode(run, tookMs) : outcomeOf(groups, { ...run, tookMs }));
  }
  return null;

  async function tryOnce() {
    const timeoutMs = Math.max(1000, until - now());
    const { passed, timedOut, output } = await trial.run({ command: line, path: bench.path, timeoutMs }, { signal });
    return { passed, timedOut, reading: readFailure(output, { root: bench.path, paths: index }) };
  }
}
