import type { HunkFeatures } from "./features.ts";

/** Why a hunk is suspected, in plain words, the strongest reason first; what speaks against it begins with "although". */
export function reasonsOf({ values, symbol, sharedWord, sharedLiteral }: HunkFeatures): string[] {
  const where = symbol === null ? " this code" : ` \`${symbol}\``;
  const reasons: string[] = [];
  if (values.frameInHunk > 0) reasons.push("the failure's stack goes through these lines");
  else if (values.frameInSymbol > 0) reasons.push(`the failure's stack goes through${where}, which changed here`);
  else if (values.frameInFile > 0) reasons.push("the failure's stack goes through this file");
  if (values.missingName > 0) reasons.push("the failure misses a name that changed here");
  if (values.coverage > 0) reasons.push("the failing tests run these lines, by the coverage report");
  if (sharedLiteral !== null && values.literals > 0.5)
    reasons.push(`the value \`${sharedLiteral}\` of the failed comparison changed here`);
  if (values.reach >= 0.5) reasons.push(`the failing test calls${where} nearly at once`);
  else if (values.reach > 0.1) reasons.push(`the failing test leads to${where} by calls`);
  else if (values.imports > 0.5 && values.testFile === 0) reasons.push("the failing test imports this file");
  if (values.spectrum > 0.8 && values.reach > 0.1) reasons.push("tests that passed do not come here");
  if (sharedWord !== null && values.words > 0.1)
    reasons.push(`the failure speaks of \`${sharedWord}\`, as this change does`);
  if (values.removal > 0) reasons.push("lines were taken away");
  else if (values.small > 0.5 && values.slipLike > 0)
    reasons.push("a small change inside a line that was there before");
  if (values.data > 0) reasons.push("data or settings changed");
  if (values.ownTest > 0) reasons.push("the failing test itself changed here");
  if (values.neutral > 0) reasons.push("although only comments or layout changed");
  if (values.rename > 0) reasons.push("although only a name changed, everywhere");
  if (values.unreachable > 0) reasons.push("although no import leads from the failing test to this file");
  return reasons;
}
