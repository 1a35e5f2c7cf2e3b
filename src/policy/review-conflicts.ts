import type { Finding } from "../domain/finding.ts";
import type { ReviewConflict } from "../domain/review-conflict.ts";

/**
 * Finds reviewers who ask for opposite things in one place. Whose word counts: security before the product owner
 * before code quality; between equals nobody's, and a person decides.
 */
export function reviewConflicts(findings: readonly Finding[]): ReviewConflict[] {
  const conflicts: ReviewConflict[] = [];
  for (const near of byFile(findings)) {
    for (const [i, one] of near.entries()) {
      for (const other of near.slice(i + 1)) {
        if (isSamePlace(one, other) && viewOf(one) !== viewOf(other) && areOpposed(one, other))
          conflicts.push(between(one, other));
      }
    }
  }
  return conflicts;
}

/** More findings than this in one file are a flood, not a dialogue: comparing each with each would be slow. */
const MOST_PER_FILE = 200;
const NEAR_LINES = 5;

function byFile(findings: readonly Finding[]): Finding[][] {
  const files = new Map<string, Finding[]>();
  for (const finding of findings) {
    if (finding.file === undefined) continue;
    const known = files.get(finding.file) ?? [];
    if (known.length < MOST_PER_FILE) files.set(finding.file, [...known, finding]);
  }
  return [...files.values()];
}

function isSamePlace(one: Finding, other: Finding): boolean {
  if (one.symbol !== undefined && one.symbol === other.symbol) return true;
  if (one.line === undefined || other.line === undefined) return one.line === other.line;
  return Math.abs(one.line - other.line) <= NEAR_LINES;
}

function viewOf(finding: Finding): string {
  return finding.stage ?? finding.source;
}

/** Pairs of demands that exclude each other, each by the stems of the words people use for it. */
const OPPOSITES: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:add|introduc|insert|extend|includ)\w*/i, /\b(?:remov|delet|drop|eliminat|omit)\w*/i],
  [
    /\b(?:extract|split|separat|abstract|decoupl|generali[sz])\w*/i,
    /\b(?:inlin|merg|combin|simpl|flatten|collaps)\w*/i,
  ],
  [/\b(?:increas|rais|lengthen|more|longer)\w*/i, /\b(?:decreas|reduc|lower|shorten|less|fewer|shorter)\w*/i],
  [/\b(?:public|expos|export)\w*/i, /\b(?:privat|hid|encapsulat|internal)\w*/i],
  [/\b(?:enabl|allow|permit|accept)\w*/i, /\b(?:disabl|forbid|deny|block|reject)\w*/i],
];

function areOpposed(one: Finding, other: Finding): boolean {
  const a = demandOf(one);
  const b = demandOf(other);
  return OPPOSITES.some(
    ([left, right]) =>
      (left.test(a) && right.test(b) && !right.test(a)) || (right.test(a) && left.test(b) && !left.test(a)),
  );
}

/** What a finding asks for: its fix if it names one, for the message often tells the fault and not the demand. */
function demandOf(finding: Finding): string {
  return (finding.suggestedFix ?? finding.message).slice(0, 500);
}

const PRIORITY: readonly RegExp[] = [/secur/i, /product|owner|\bpo\b/i, /code|quality|style|domain|spec/i];

function between(one: Finding, other: Finding): ReviewConflict {
  const ranks = [rankOf(viewOf(one)), rankOf(viewOf(other))] as const;
  const winner = ranks[0] === ranks[1] ? null : ranks[0] < ranks[1] ? viewOf(one) : viewOf(other);
  return {
    file: one.file ?? "",
    line: one.line ?? other.line ?? 1,
    between: [viewOf(one), viewOf(other)],
    says: [demandOf(one), demandOf(other)],
    winner,
  };
}

function rankOf(view: string): number {
  const at = PRIORITY.findIndex((pattern) => pattern.test(view));
  return at === -1 ? PRIORITY.length : at;
}
