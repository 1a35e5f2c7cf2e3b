import type { Blame } from "../core/blame/blame.ts";
import type { BlameMaterial } from "../core/blame/change.ts";
import { environmentReason, testHunks } from "../decide/blame/triage.ts";
import { verdictOf } from "../decide/blame/verdict.ts";
import type { ProofAnswer } from "../decide/blame/prove-blame.ts";
import { type RankedBlame, type RankedHunk, rankBlame } from "../decide/blame/rank-blame.ts";
import { readBlameMaterial } from "../parse/code/failure-material.ts";
import { readGitDiff } from "../parse/code/git-output.ts";
import type { BlameCase, BlameTools } from "./proof-runner.ts";
import { runProof } from "./run-proof.ts";

export interface BlameFound {
  readonly blame: Blame;
  readonly ranked: RankedBlame;
  readonly proof: ProofAnswer | null;
  /** The statements and lines inside the named hunks, if the runs got that far. */
  readonly parts: readonly RankedHunk[];
}

/** Finds the change that caused a failure: reads, ranks, and, if a check can be run, proves the cause by running it. */
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
  // The checkout will have other states later, so all texts of this state are read now.
  for (const { file } of material.hunks) textOf(file);
  const ranked = rankBlame(material);
  const texts = { textOf, textBefore };
  const read = (output: string, root: string): BlameMaterial =>
    readBlameMaterial({ ...given, output, root, diff, paths, textOf, textBefore });
  const found =
    tools.proof === null || material.hunks.length === 0
      ? null
      : await runProof(given, tools, tools.proof, { material, ranked, hunks: material.hunks, paths, texts, read });
  const proof = found?.answer ?? null;
  const environment = environmentReason(material);
  const { isNewTest } = testHunks(material);
  const parts = found?.parts ?? [];
  const known = { ranked: found?.ranked ?? ranked, proof, parts };
  return { blame: verdictOf({ ...known, base: null, isNewTest, environment }), ...known };
}
