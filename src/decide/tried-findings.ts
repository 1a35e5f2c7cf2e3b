import type { AttemptFinding, AttemptSummary } from "../core/stories/attempt.ts";
import {
  type Finding,
  worse,
  openOf,
  TRIED_FINDING_STATUSES,
  type TriedFinding,
  type TriedFindingStatus,
} from "../core/gates/finding.ts";
import type { Judgement } from "../core/gates/gate.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { gateState } from "./charge.ts";

/*
 * What each attempt was rejected for, and its status now. A gate's summary ("review: fail, 1 to fix") does not help the
 * next attempt or a person, so the findings are stored with the attempt, and every later pass or fail of the same gate
 * updates their status.
 */

/**
 * Limits of what is stored: findings per attempt, and the length of a title and a path. The state of every story is
 * kept.
 */
export const MOST_KEPT_FINDINGS = 20;
export const LONGEST_TITLE = 160;
const LONGEST_PATH = 300;

/** Updates the status of every known finding after a pass or fail, and stores new findings with the newest attempt. */
export function withVerdict(state: StoryState, judgement: Judgement): StoryState {
  const last = state.attempts.length - 1;
  if (last < 0) return state;
  const attempts = state.attempts.map((attempt, at) => {
    // A review of the plan says nothing about findings in the code.
    const known = attempt.phase === state.phase ? updatedFindings(attempt, judgement, last + 1) : attempt;
    return at === last && judgement.result === "fail" ? withRejection(known, judgement, last + 1) : known;
  });
  return attempts.every((attempt, at) => attempt === state.attempts[at]) ? state : { ...state, attempts };
}

function updatedFindings(attempt: AttemptSummary, judgement: Judgement, now: number): AttemptSummary {
  if (attempt.findings === undefined) return attempt;
  const { identities } = judgement;
  const blocking = new Set(judgement.blocking);
  const reported = new Set(judgement.findings.map(({ id }) => id));
  // If something did not load, or failed without a name, a finding that is not reported may still be there.
  const isWhole = (identities?.notLoaded.length ?? 0) === 0 && (identities?.unlisted ?? 0) === 0;
  let isChanged = false;
  const findings = attempt.findings.map((finding) => {
    if (finding.gate !== judgement.gate || (!isWhole && !reported.has(finding.id))) return finding;
    const standing = blocking.has(finding.id) ? "open" : reported.has(finding.id) ? "lighter" : "fixed";
    // The attempt that fixed a finding is kept; later rounds in which it is still fixed change nothing.
    if (finding.standing === standing && (standing === "fixed" || finding.judgedIn === now)) return finding;
    isChanged = true;
    const cameBack = finding.standing === "fixed" && standing === "open" ? { fixedIn: finding.judgedIn } : {};
    return { ...finding, ...cameBack, standing, judgedIn: now } as const;
  });
  return isChanged ? { ...attempt, findings } : attempt;
}

function withRejection(attempt: AttemptSummary, judgement: Judgement, now: number): AttemptSummary {
  const known = new Set((attempt.findings ?? []).map(({ gate, id }) => `${gate} ${id}`));
  const isNew = new Set(judgement.blocking.filter((id) => !known.has(`${judgement.gate} ${id}`)));
  const added = judgement.findings
    .filter(({ id }) => isNew.delete(id))
    .sort((a, b) => worse(a.severity, b.severity))
    .map((finding) => keptFinding(finding, judgement, now));
  if (added.length === 0) return attempt;
  // The new findings come first, because the limit drops the last ones.
  const all = [...added, ...(attempt.findings ?? [])];
  const leftOut = (attempt.findingsLeftOut ?? 0) + Math.max(0, all.length - MOST_KEPT_FINDINGS);
  return {
    ...attempt,
    findings: all.slice(0, MOST_KEPT_FINDINGS),
    ...(leftOut === 0 ? {} : { findingsLeftOut: leftOut }),
  };
}

function keptFinding({ id, message, file, line }: Finding, { gate }: Judgement, now: number): AttemptFinding {
  return {
    id,
    gate,
    title: titleOf(message),
    ...(file === undefined ? {} : { file: file.slice(0, LONGEST_PATH) }),
    ...(file === undefined || line === undefined ? {} : { line }),
    standing: "open",
    judgedIn: now,
  };
}

/** Returns a message on one line, shortened. */
export function titleOf(message: string): string {
  const line = message
    .slice(0, LONGEST_TITLE * 8)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= LONGEST_TITLE ? line : `${line.slice(0, LONGEST_TITLE - 1).trimEnd()}…`;
}

/** Returns what an attempt was rejected for, with the status now; open findings come first. */
export function triedFindings(state: StoryState, attempt: AttemptSummary): TriedFinding[] {
  return (attempt.findings ?? [])
    .map(({ standing, judgedIn, ...finding }) => ({
      ...finding,
      status: statusOf(state, { ...finding, standing, judgedIn }),
      seenIn: judgedIn,
    }))
    .sort((a, b) => TRIED_FINDING_STATUSES.indexOf(a.status) - TRIED_FINDING_STATUSES.indexOf(b.status));
}

function statusOf(state: StoryState, { id, gate, standing, judgedIn }: AttemptFinding): TriedFindingStatus {
  if (standing === "fixed") return "fixed";
  if (state.waivers.some((waiver) => waiver.gate === gate && waiver.findings.includes(id))) return "waived";
  if (gateState(state, gate).overturned.includes(id)) return "overturned";
  if (standing === "lighter") return "lighter";
  return judgedIn === state.attempts.length ? "open" : "unchecked";
}

/** Returns each finding that must still be fixed, once; the newest attempts come first. */
export function openFindings(state: StoryState): TriedFinding[] {
  return openOf(state.attempts.toReversed().flatMap((attempt) => triedFindings(state, attempt)));
}
