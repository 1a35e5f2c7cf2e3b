import type { FeatureName } from "./features.ts";

/**
 * What each feature adds to the score of a hunk. Set by hand from what each of them means, then moved by likelihood on
 * the training half of the corpus in `bench/blame`, and held near where they were: what is true of one corpus only
 * must not decide.
 */
export const WEIGHTS: Readonly<Record<FeatureName, number>> = {
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

/** Scores are spread by this before they become shares: below 1 where they are surer of themselves than they are right. */
export const SPREAD = 1;
