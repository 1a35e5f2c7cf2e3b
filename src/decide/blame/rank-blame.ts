import type { BlameMaterial, ChangedHunk } from "../../core/blame/change.ts";
import { FEATURES, type FeatureName, type HunkFeatures, featuresOf } from "./features.ts";

/** A hunk with its rank. */
export interface RankedHunk {
  readonly hunk: ChangedHunk;
  readonly symbol: string | null;
  readonly score: number;
  /** The probability that it is the cause, given that one of the hunks is. */
  readonly confidence: number;
  readonly reasons: readonly string[];
  readonly isTest: boolean;
  /** Whether a failing test reaches it: by calls, by imports or by its stack. */
  readonly isReached: boolean;
  /** Nothing that runs has changed: only layout, comments, documents, names. */
  readonly isIdle: boolean;
}

export interface RankedBlame {
  /** Best first; equal scores keep the order of the diff. */
  readonly hunks: readonly RankedHunk[];
  /** Whether any failing test reaches any change. If none does, the failure may be unowned. */
  readonly isReached: boolean;
}

/** Ranks changes by how likely they caused the failure. Nothing is run. */
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
    isTest: each.values.testFile > 0,
    isReached: isReached(each),
    isIdle: each.values.neutral + each.values.document + each.values.rename > 0,
  }));
  return {
    hunks: ranked.sort((a, b) => b.score - a.score || a.hunk.id - b.hunk.id),
    isReached: all.some(isReached),
  };
}

const isReached = ({ values }: HunkFeatures): boolean =>
  values.unrun === 0 && (values.reach > 0 || values.imports > 0 || values.frameInFile > 0 || values.coverage > 0);

function scoreOf({ values }: HunkFeatures): number {
  return FEATURES.reduce((sum, name) => sum + WEIGHTS[name] * values[name], 0);
}

/** Converts scores to shares of one, meant as probabilities. */
function sharesOf(scores: readonly number[]): number[] {
  const most = Math.max(...scores, 0);
  const powers = scores.map((score) => Math.exp((score - most) * SPREAD));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/**
 * What each feature adds to the score of a hunk. Set by hand from its meaning, then adjusted by likelihood on the
 * training half of the corpus in `bench/blame`, and kept near the first values, so that one corpus does not decide.
 */
const WEIGHTS: Readonly<Record<FeatureName, number>> = {
  frameInHunk: 2.5,
  frameInSymbol: 1.5,
  frameInFile: 0.8,
  frameInTest: 0.3,
  reach: 1.5,
  nearest: 1,
  imports: 1.35,
  unreachable: -2.5,
  spectrum: 1.45,
  words: 1.35,
  testWords: 0.8,
  literals: 2,
  missingName: 2.5,
  coverage: 2,
  unrun: -4,
  small: 1.45,
  slipLike: 0.55,
  removal: 1.15,
  insertion: 0.55,
  isNew: -1.45,
  neutral: -5,
  restated: -2.5,
  fresh: -1.7,
  rename: -2.6,
  importOnly: -1.5,
  document: -4,
  data: 0.15,
  testFile: -1.5,
  ownTest: 1,
};

/**
 * Scores are multiplied by this before they become shares: below 1 if the scores are more certain than they are right.
 */
const SPREAD = 1;

/** Says why a hunk is suspected, the strongest reason first; a reason against it begins with "although". */
export function reasonsOf({ values, symbol, sharedWord, sharedLiteral }: HunkFeatures): string[] {
  const where = symbol === null ? " this code" : ` \`${symbol}\``;
  const reasons: string[] = [];
  if (values.frameInHunk > 0) reasons.push("the failure's stack goes through these lines");
  else if (values.frameInSymbol > 0) reasons.push(`the failure's stack goes through${where}, which changed here`);
  else if (values.frameInFile > 0) reasons.push("the failure's stack goes through this file");
  if (values.missingName > 0) reasons.push("the failure misses a name that changed here");
  if (values.coverage > 0) reasons.push("the failing tests run these lines");
  if (sharedLiteral !== null && values.literals > 0.5)
    reasons.push(`the value \`${sharedLiteral}\` of the failed comparison changed here`);
  if (values.reach >= 0.5) reasons.push(`the failing test calls${where} nearly at once`);
  else if (values.reach > 0.1) reasons.push(`the failing test leads to${where} by calls`);
  else if (values.imports > 0.5 && values.testFile === 0) reasons.push("the failing test imports this file");
  if (values.spectrum > 0.8 && values.reach > 0.1) reasons.push("tests that passed do not come here");
  if (sharedWord !== null && values.words > 0.1)
    reasons.push(`the error mentions \`${sharedWord}\`, so does this change`);
  if (values.removal > 0) reasons.push("lines were removed");
  else if (values.small > 0.5 && values.slipLike > 0)
    reasons.push("a small change inside a line that was there before");
  if (values.data > 0) reasons.push("data or settings changed");
  if (values.ownTest > 0) reasons.push("the failing test itself changed here");
  if (values.neutral > 0) reasons.push("although only comments or layout changed");
  if (values.rename > 0) reasons.push("although only a name changed, everywhere");
  if (values.unrun > 0) reasons.push("although no failing test runs these lines");
  if (values.unreachable > 0) reasons.push("although no import leads from the failing test to this file");
  return reasons;
}
