import type { Blame } from "../core/blame/blame.ts";
import type { BlameMaterial } from "../core/blame/change.ts";
import { countText } from "../stdx/plain-text.ts";
import type { RunOutcome } from "../decide/blame/experiments.ts";
import { filesWithout, groupsOf, outcomeOf } from "../decide/blame/outcome.ts";
import { companionsOf, environmentReason, flakyHint, testHunks } from "../decide/blame/triage.ts";
import { verdictOf } from "../decide/blame/verdict.ts";
import {
  type ProofAnswer,
  type ProofInput,
  speculate,
  newProof,
  nextExperiment,
  applyOutcome,
} from "../decide/blame/prove-blame.ts";
import { type RankedBlame, rankBlame } from "../decide/blame/rank-blame.ts";
import type { ExperimentCheckout, Trial } from "../ports/experiment-runner.ts";
import { readBlameMaterial } from "../parse/code/failure-material.ts";
import { readFailure } from "../parse/code/failure.ts";
import { readGitDiff } from "../parse/code/git-output.ts";
import { pathIndex } from "../parse/code/imports.ts";
import { narrowedCommand } from "../write/edits/narrow-command.ts";
import { type ExtraCheckouts, proofRunner } from "./proof-runner.ts";

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
  readonly checkout: ExperimentCheckout;
  textBefore(path: string): Promise<string | null>;
  /** How it is proven; `null` where it is only read. */
  readonly proof: ProofOptions | null;
  readonly signal: AbortSignal;
  now(): number;
  onRun?(what: string): void;
  /** Further checkouts, where several runs may be made at once. */
  readonly more?: ExtraCheckouts;
}

export interface ProofOptions {
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
  const { checkout } = tools;
  await checkout.set(given.tree, new Map());
  const paths = await checkout.paths();
  const diff = readGitDiff(given.diff);
  const before = new Map<string, string | null>();
  for (const { oldPath, change } of diff) if (change !== "added") before.set(oldPath, await tools.textBefore(oldPath));
  const now = new Map<string, string | null>();
  const textOf = (path: string): string | null => {
    if (!now.has(path)) now.set(path, checkout.text(path));
    return now.get(path)!;
  };
  const textBefore = (path: string): string | null => before.get(path) ?? null;
  const material = readBlameMaterial({ ...given, diff, paths, textOf, textBefore });
  // The checkout shows other states from now on; what was read of this one is kept.
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

interface ReadChange {
  readonly material: BlameMaterial;
  readonly ranked: RankedBlame;
  readonly paths: readonly string[];
  readonly texts: {
    textOf(path: string): string | null;
    textBefore(path: string): string | null;
  };
}

function byExitCode({ passed, timedOut }: { passed: boolean; timedOut: boolean }, tookMs: number): RunOutcome {
  return { outcomes: [timedOut ? "cannot-apply" : passed ? "pass" : "fail-same"], tookMs };
}

async function proven(
  given: BlameCase,
  tools: BlameTools,
  { trial, command, limits }: ProofOptions,
  { material, ranked, paths, texts }: ReadChange,
): Promise<ProofAnswer | null> {
  const { checkout, signal, now, onRun } = tools;
  const groups = groupsOf(material.failure);
  const isOpaque = groups.length === 0;
  const index = pathIndex(paths);
  const line = narrowedCommand(command, {
    failures: material.failure.failures,
    packageFile: texts.textOf("package.json"),
    textOf: (file) => texts.textOf(file),
  });
  const until = now() + limits.timeMs;
  let isBare = false;
  const runner = proofRunner({
    checkout,
    ...(tools.more === undefined ? {} : { more: tools.more }),
    tree: given.tree,
    filesWithout: (without) => filesWithout(material.hunks, new Set(without), texts.textOf, texts.textBefore),
    async run(path, control) {
      const beganAt = now();
      const timeoutMs = Math.max(1000, until - beganAt);
      const { passed, timedOut, output, tests } = await trial.run({ command: line, path, timeoutMs, isBare }, control);
      const reading = readFailure(output, { root: path, paths: index });
      const run = { passed, timedOut, reading: tests === undefined ? reading : { ...reading, tests } };
      const tookMs = now() - beganAt;
      return isOpaque ? byExitCode(run, tookMs) : outcomeOf(groups, { ...run, tookMs });
    },
    onRun({ without, purpose }) {
      const what =
        without.length === 0
          ? "as it is"
          : `without ${without.length} of ${countText(material.hunks.length, "change")}`;
      onRun?.(`${purpose}: ${what}`);
    },
    signal,
  });
  let state = newProof(proofInput(material, ranked, limits));
  try {
    while (!signal.aborted) {
      const step = nextExperiment(state);
      // Where the output says nothing, one way of failing cannot be told from another: that is no proof.
      if ("answer" in step) return isOpaque ? { ...step.answer, proven: false } : step.answer;
      let outcome = await runner.ended(step.experiment, speculate(state, runner.hands));
      if (state.outcomes.length === 0 && !outcome.outcomes.includes("fail-same")) {
        // Reports of tests by name may change how a check goes: before that is called flaky, it runs without them.
        isBare = true;
        outcome = await runner.ended({ ...step.experiment, repeat: 1 }, []);
      }
      state = applyOutcome(state, outcome);
    }
    return null;
  } finally {
    await runner.close();
  }
}

/** What a proof begins with: the suspects as they were ranked, and what reading alone says of the failure. */
export function proofInput(material: BlameMaterial, ranked: RankedBlame, limits: ProofInput["limits"]): ProofInput {
  return {
    hunks: ranked.hunks.map(({ hunk, confidence }) => ({ id: hunk.id, confidence })),
    companions: companionsOf(material),
    ...testHunks(material),
    looksEnvironmental: environmentReason(material) !== null,
    looksFlaky: flakyHint(material, ranked.isReached),
    limits,
  };
}
