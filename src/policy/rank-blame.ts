import type { BlameMaterial, ChangedHunk } from "../domain/change.ts";
import { FEATURES, featuresOf, type HunkFeatures } from "./blame/features.ts";
import { reasonsOf } from "./blame/reasons.ts";
import { SPREAD, WEIGHTS } from "./blame/weights.ts";

/** A hunk with its place in the ranking. */
export interface RankedHunk {
  readonly hunk: ChangedHunk;
  readonly symbol: string | null;
  readonly score: number;
  /** How likely it is the cause, given that one of the hunks is. */
  readonly confidence: number;
  readonly reasons: readonly string[];
}

export interface RankedBlame {
  /** Best first; equals keep the order of the diff. */
  readonly hunks: readonly RankedHunk[];
  /** Does a way lead from any failing test to any of what changed? If none does, the failure may be nobody's. */
  readonly isReached: boolean;
}

/** Ranks what changed by how likely it caused the failure. Nothing is run. */
export function rankBlame(material: BlameMaterial): RankedBlame {
  const all = featuresOf(material);
  const scores = all.map((each) => scoreOf(each));
  const shares = sharesOf(scores);
  const ranked = all.map((each, at): RankedHunk => ({
    hunk: each.hunk,
    symbol: each.symbol,
    score: scores[at]!,
    confidence: shares[at]!,
    reasons: reasonsOf(each),
  }));
  return {
    hunks: ranked.sort((a, b) => b.score - a.score || a.hunk.id - b.hunk.id),
    isReached: all.some(({ values }) => values.reach > 0 || values.imports > 0 || values.frameInFile > 0),
  };
}

function scoreOf({ values }: HunkFeatures): number {
  return FEATURES.reduce((sum, name) => sum + WEIGHTS[name] * values[name], 0);
}

/** Scores as shares of one: what is right in as many cases as it says. */
function sharesOf(scores: readonly number[]): number[] {
  const most = Math.max(...scores, 0);
  const powers = scores.map((score) => Math.exp((score - most) * SPREAD));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
