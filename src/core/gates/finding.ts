import type { Fingerprint } from "../events/ids.ts";
import type { findingSchema } from "../schemas/gate-result.ts";
import type { Stored } from "../schemas/stored.ts";
import { type FailOn, SEVERITIES, type Severity, atLeast } from "./severity.ts";

/** One thing wrong with the work. */
export type Finding = Stored<typeof findingSchema>;
export type FindingDraft = Omit<Finding, "id">;

/** How a finding stands in this round, seen against the rounds before. */
export const FINDING_STANDINGS = ["new", "persisting", "resolved", "regressed", "waived", "disputed"] as const;
export type FindingStanding = (typeof FINDING_STANDINGS)[number];

/** The message with what changes from run to run taken out: case, white space, positions, times, addresses, ids. */
export function normalisedMessage(message: string): string {
  return message
    .slice(0, LONGEST_READ)
    .toLowerCase()
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<id>")
    .replace(/\b\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)?/g, "<time>")
    .replace(/\b0x[0-9a-f]+\b/g, "<address>")
    .replace(/(?:[a-z]:)?(?:[\\/][\w.@+-]+)+[\\/]/g, "")
    .replace(/:\d+(?::\d+)?\b/g, "")
    .replace(/\b(?:line|lines|pid|port|column|col) \d+(?:-\d+)?/g, "<place>")
    .replace(/\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds|minutes|min)\b/g, "<time>")
    .replace(/\s+/g, " ")
    .trim();
}

/** A message longer than this is told apart by its beginning alone. */
const LONGEST_READ = 4000;

/**
 * Tells each finding's standing. `earlier` holds every identity seen in earlier rounds of the same gate and
 * whether it was there in the last one; what was there last time and is gone now comes back as `resolved`.
 */
export function standings(
  now: readonly Fingerprint[],
  earlier: ReadonlyMap<Fingerprint, { readonly inLastRound: boolean }>,
  set: { readonly waived: ReadonlySet<Fingerprint>; readonly disputed: ReadonlySet<Fingerprint> },
): Map<Fingerprint, FindingStanding> {
  const standing = new Map<Fingerprint, FindingStanding>();
  for (const id of now) {
    const before = earlier.get(id);
    if (set.waived.has(id)) standing.set(id, "waived");
    else if (set.disputed.has(id)) standing.set(id, "disputed");
    else if (before === undefined) standing.set(id, "new");
    else standing.set(id, before.inLastRound ? "persisting" : "regressed");
  }
  for (const [id, before] of earlier) if (before.inLastRound && !standing.has(id)) standing.set(id, "resolved");
  return standing;
}

/** What a gate's rules say about findings. */
export interface FindingRules {
  readonly failOn: FailOn;
  readonly everyFinding: boolean;
}

/** Do these findings alone fail the gate? */
export function failsGate(findings: readonly Pick<Finding, "severity">[], rules: FindingRules): boolean {
  return rules.everyFinding ? findings.length > 0 : isOverThreshold(findings, rules.failOn);
}

/** Each threshold counts the findings of its severity and of every graver one. */
export function isOverThreshold(findings: readonly Pick<Finding, "severity">[], failOn: FailOn): boolean {
  return SEVERITIES.some((severity) => {
    const allowed = failOn[severity];
    return allowed !== undefined && findings.filter((finding) => atLeast(finding.severity, severity)).length >= allowed;
  });
}

/**
 * Of findings that fail a gate, those that must be fixed: all at or above the lightest severity that has a threshold.
 * Where there are none of these, all of them, because nothing else explains the failure.
 */
export function mustBeFixed<F extends { readonly severity: Severity }>(
  findings: readonly F[],
  { everyFinding, failOn }: FindingRules,
): readonly F[] {
  if (everyFinding) return findings;
  const floor = SEVERITIES.findLast((severity) => failOn[severity] !== undefined);
  const grave = floor === undefined ? [] : findings.filter((finding) => atLeast(finding.severity, floor));
  return grave.length > 0 ? grave : findings;
}
