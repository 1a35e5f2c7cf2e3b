import type { Fingerprint } from "../events/ids.ts";
import type { findingSchema } from "../schemas/gate-result.ts";
import type { Stored } from "../schemas/scalars.ts";
import type { triedFindingSchema } from "../schemas/escalation.ts";
import type { StoryState } from "../stories/story-state.ts";
import { type GateName, isReviewed } from "./gate.ts";
import { GATE_REGISTRY } from "./registry.ts";

/** One thing wrong with the work. */
export type Finding = Stored<typeof findingSchema>;
export type FindingDraft = Omit<Finding, "id">;

/** The status of a finding in this round, compared with the rounds before. */
export const FINDING_STANDINGS = ["new", "persisting", "resolved", "regressed", "waived", "disputed"] as const;
export type FindingStanding = (typeof FINDING_STANDINGS)[number];

/** Removes from a message what changes from run to run: case, white space, positions, times, addresses, ids. */
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

/** Of a longer message only the beginning is compared. */
const LONGEST_READ = 4000;

/**
 * Computes the standing of each finding. `earlier` holds every identity seen in earlier rounds of the same gate, and
 * whether it was in the last round. A finding that was in the last round and is gone is returned as `resolved`.
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

/** A gate's rules about findings. */
export interface FindingRules {
  readonly failOn: FailOn;
  readonly everyFinding: boolean;
}

/** Whether these findings alone fail the gate. */
export function failsGate(findings: readonly Pick<Finding, "severity">[], rules: FindingRules): boolean {
  return rules.everyFinding ? findings.length > 0 : isOverThreshold(findings, rules.failOn);
}

/** Whether a threshold is exceeded. Each threshold counts the findings of its severity and of every worse one. */
export function isOverThreshold(findings: readonly Pick<Finding, "severity">[], failOn: FailOn): boolean {
  return SEVERITIES.some((severity) => {
    const allowed = failOn[severity];
    return allowed !== undefined && findings.filter((finding) => atLeast(finding.severity, severity)).length >= allowed;
  });
}

/**
 * Of findings that fail a gate, returns those that must be fixed: all at or above the lowest severity with a threshold.
 * If there are none of these, returns all, because nothing else explains the failure.
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

/**
 * The one scale. Other scales are translated when they are read and, where a format asks for it, when they are written.
 */
export const SEVERITIES = ["blocker", "critical", "major", "minor", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How many findings of a severity, or of a worse one, fail a gate. A severity without a number never fails it. */
export type FailOn = { readonly [S in Severity]?: number };

export const rank = (severity: Severity): number => SEVERITIES.indexOf(severity);
export const atLeast = (severity: Severity, floor: Severity): boolean => rank(severity) <= rank(floor);

/** Compares two severities, the worst first. */
export const worse = (a: Severity, b: Severity): number => rank(a) - rank(b);

const FROM_WORD: Readonly<Record<string, Severity>> = {
  blocker: "blocker",
  blocking: "blocker",
  fatal: "blocker",
  critical: "critical",
  severe: "critical",
  high: "critical",
  error: "critical",
  major: "major",
  important: "major",
  medium: "major",
  moderate: "major",
  warning: "major",
  warn: "major",
  minor: "minor",
  low: "minor",
  suggestion: "minor",
  nit: "minor",
  note: "info",
  info: "info",
  information: "info",
  informational: "info",
  none: "info",
};

/** Translates a word of any known scale; `undefined` for other words. */
export function severityFromWord(word: string): Severity | undefined {
  const key = word.trim().toLowerCase();
  return Object.hasOwn(FROM_WORD, key) ? FROM_WORD[key] : undefined;
}

/** Translates to the scale of S1.11 and S1.12: SUGGESTION findings are informational, the other two require action. */
export function toReviewScale(severity: Severity): "CRITICAL" | "IMPORTANT" | "SUGGESTION" {
  if (severity === "blocker" || severity === "critical") return "CRITICAL";
  return severity === "major" ? "IMPORTANT" : "SUGGESTION";
}

/** Translates to the scale of S2.16, which grades the priority of a whole verdict. */
export function toPriorityScale(severity: Severity): "HIGH" | "MEDIUM" | "LOW" {
  if (severity === "blocker" || severity === "critical") return "HIGH";
  return severity === "major" ? "MEDIUM" : "LOW";
}

export function toSarifLevel(severity: Severity): "error" | "warning" | "note" {
  if (severity === "blocker" || severity === "critical") return "error";
  return severity === "major" ? "warning" : "note";
}

/** Returns the blocking findings of this gate that an independent reviewer can still rule on. */
export function disputable(state: StoryState, gate: GateName | null): readonly Finding[] {
  const last = gate === null ? null : (state.gates[gate]?.last ?? null);
  if (gate === null || last === null) return [];
  return last.findings.filter(
    (finding) => last.blocking.includes(finding.id) && disputeRefusal(state, gate, finding) === null,
  );
}

/** Says why a finding cannot be disputed, in a phrase that follows its name; `null` if it can be. */
export function disputeRefusal(state: StoryState, gate: GateName, { id, stage }: Finding): string | null {
  // Output of a command is not an opinion. A reviewer's finding is one, and so is a rule about a diff.
  const { refusesByRule, stageOfRuns } = GATE_REGISTRY[gate];
  const isOpinion = isReviewed(gate) || refusesByRule;
  if (!isOpinion || (stage !== undefined && stage === stageOfRuns))
    return "is what a command printed, not a reviewer's opinion";
  if (state.disputes.some((dispute) => dispute.finding === id)) return "is disputed already";
  const ruling = state.gates[gate]?.upheld.find((upheld) => upheld.finding === id);
  if (ruling !== undefined) return `was upheld by ${ruling.says}`;
  return state.gates[gate]?.overturned.includes(id) === true ? "was overturned" : null;
}

/** A blocking finding of an earlier attempt, with its status now. */
export type TriedFinding = Stored<typeof triedFindingSchema>;

/**
 * `open`: reported in the newest attempt. `unchecked`: open when the gate last ran, and later attempts did not get that
 * far. `lighter`: still reported, no longer blocking.
 */
export const TRIED_FINDING_STATUSES = ["open", "unchecked", "lighter", "waived", "overturned", "fixed"] as const;
export type TriedFindingStatus = (typeof TRIED_FINDING_STATUSES)[number];

export const isOpenStatus = (status: TriedFindingStatus): boolean => status === "open" || status === "unchecked";

interface FindingPlace {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/** Returns the open findings, each once, in the order of their first occurrence. */
export function openOf(findings: readonly TriedFinding[]): TriedFinding[] {
  const open = new Map<string, TriedFinding>();
  for (const finding of findings) {
    const key = `${finding.gate} ${finding.id}`;
    if (isOpenStatus(finding.status) && !open.has(key)) open.set(key, finding);
  }
  return [...open.values()];
}

/** Describes the status of a finding. */
export function statusText({ status, seenIn, fixedIn }: Pick<TriedFinding, "status" | "seenIn" | "fixedIn">): string {
  switch (status) {
    case "open":
      return fixedIn === undefined ? "open" : `came back after attempt ${fixedIn} had fixed it`;
    case "unchecked":
      return `open, not checked since attempt ${seenIn}`;
    case "lighter":
      return "still reported, no longer blocking";
    case "waived":
      return "waived";
    case "overturned":
      return "overturned";
    case "fixed":
      return `fixed in attempt ${seenIn}`;
  }
}

/** Formats the location of a finding as `file:line`; empty if no file is known. */
export function locationText({ file, line }: FindingPlace): string {
  return file === undefined ? "" : line === undefined ? file : `${file}:${line}`;
}
