import type { Finding } from "./finding.ts";
import type { FailOn, Severity } from "./severity.ts";
import { atLeast, SEVERITIES } from "./severity.ts";

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
