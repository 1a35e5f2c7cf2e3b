import type { FeatureName } from "./features.ts";

/**
 * What each feature adds to the score of a hunk. Fitted on the training half of the corpus in `bench/blame`, from
 * these hands-on beginnings, and held near them: what is true of one corpus only must not decide.
 */
export const WEIGHTS: Readonly<Record<FeatureName, number>> = {
  frameInHunk: 2.5,
  frameInSymbol: 1.5,
  frameInFile: 0.8,
  reach: 1.5,
  nearest: 1,
  imports: 1,
  unreachable: -2.5,
  spectrum: 1.2,
  words: 1.2,
  testWords: 1,
  literals: 2,
  missingName: 2.5,
  coverage: 2,
  small: 1.2,
  slipLike: 0.7,
  removal: 1,
  insertion: 0.2,
  isNew: -1.5,
  neutral: -5,
  rename: -2.5,
  importOnly: -1.5,
  document: -4,
  data: 0.3,
  testFile: -1.5,
  ownTest: 1,
};

/** Scores are spread by this before they become shares: below 1 they are surer of themselves than they score. */
export const SPREAD = 1;
