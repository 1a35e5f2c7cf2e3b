import type {
  Escalation,
  EscalationKind,
  EscalationOption,
  EscalationReason,
  TriedAndFailed,
} from "../core/stories/escalation.ts";
import { countText } from "../stdx/plain-text.ts";
import type { GateName } from "../core/gates/gate.ts";
import { escalationId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { locationText, type TriedFinding } from "../core/gates/tried-finding.ts";
import { gateState } from "./charge.ts";
import { forecastUsd } from "./spending.ts";
import { optionsFor } from "./escalation-options.ts";
import { openFindings, triedFindings } from "./tried-findings.ts";
import { assessmentOf, kindOf, questionOf, recommendationOf, titleOf } from "./escalation-text.ts";

/** A question about one story, in S1's form: what was tried and failed, the state of the code, one question. */
export function escalateStory(state: StoryState, reason: EscalationReason, gate: GateName | null): Escalation {
  return composeEscalation({
    id: `esc-${state.story.id}-${state.escalations + 1}`,
    subject: state.story.title,
    reason,
    gate,
    assessment: assessmentOf(reason, gate, [
      lastVerdict(state, gate),
      state.failing?.blame?.explanation ?? "",
      ...rulings(state, reason, gate),
    ]),
    options: optionsFor(reason, forecastUsd(state)),
    attempts: triedAndFailed(state),
    branch: `remand/${state.story.id}`,
    commit: state.commit,
    top: openFindings(state).find((finding) => finding.gate === gate)?.title ?? "",
  });
}

/** A question about the whole run: its infrastructure or its budget. */
export function escalateRun(run: RunState, reason: EscalationReason): Escalation {
  const tries = run.remediation?.history ?? [];
  return composeEscalation({
    id: `esc-project-${run.escalations + 1}`,
    subject: "the whole run",
    reason,
    gate: null,
    assessment: assessmentOf(reason, null, [tries[tries.length - 1]?.remaining.join("; ") ?? ""]),
    options: optionsFor(reason, null),
    attempts: tries.map((each) => ({
      attempt: each.attempt,
      tried: each.fixes.join("; "),
      failed: each.remaining.join("; "),
    })),
    branch: "",
    commit: run.base,
  });
}

interface EscalationParts {
  readonly id: string;
  readonly subject: string;
  readonly reason: EscalationReason;
  readonly gate: GateName | null;
  readonly assessment: string;
  readonly options: readonly EscalationOption[];
  readonly attempts: readonly TriedAndFailed[];
  readonly branch: string;
  readonly commit: string;
  readonly top?: string;
}

function composeEscalation({ id, subject, reason, top, ...rest }: EscalationParts): Escalation {
  const kind: EscalationKind = kindOf(reason);
  return {
    id: escalationId(id),
    kind,
    reason,
    title: titleOf(reason, subject, rest.gate),
    recommendation: recommendationOf(reason, rest.gate),
    question: questionOf(reason, rest.gate, top),
    ...rest,
  };
}

function triedAndFailed(state: StoryState): TriedAndFailed[] {
  return state.attempts.map((attempt) => {
    const findings = triedFindings(state, attempt);
    const leftOut = attempt.findingsLeftOut;
    return {
      attempt: attempt.attempt,
      tried: attempt.summary === "" ? `${attempt.phase} by ${attempt.role}` : attempt.summary,
      failed: attempt.failed === "" ? `ended as ${attempt.outcome}` : attempt.failed,
      ...(findings.length === 0 ? {} : { findings }),
      ...(leftOut === undefined ? {} : { findingsLeftOut: leftOut }),
    };
  });
}

/** What the work is held up by, by title: a gate's count of findings tells a person nothing. */
function lastVerdict(state: StoryState, gate: GateName | null): string {
  const summary = lastSummary(state, gate);
  const open = openFindings(state);
  const atGate = gate === null ? open : open.filter((finding) => finding.gate === gate);
  // What broke the gate since is not in its findings.
  if (atGate.length === 0 || (gate !== null && gateState(state, gate).trouble !== null)) return summary;
  return openText(open);
}

/** "2 findings open: <titles>", the first ones with their places. */
function openText(open: readonly TriedFinding[]): string {
  const titles = open.slice(0, MOST_TITLES).map((finding) => {
    const place = locationText(finding);
    return place === "" ? finding.title : `${finding.title} (${place})`;
  });
  const more = open.length - titles.length;
  return `${countText(open.length, "finding")} open: ${titles.join("; ")}${more > 0 ? `; ${more} more` : ""}`;
}

const MOST_TITLES = 3;

/** Disputed findings that were upheld and still block: the question shows the person who disputed them the ruling. */
function rulings(state: StoryState, reason: EscalationReason, gate: GateName | null): string[] {
  if (gate === null) return [];
  const { last, upheld } = gateState(state, gate);
  const own = reason.type === "dispute" ? reason.finding : null;
  return upheld
    .filter(({ finding }) => finding !== own && last?.blocking.includes(finding))
    .map(({ finding, says }) => `the disputed finding ${finding} stands, says ${says}`);
}

function lastSummary(state: StoryState, gate: GateName | null): string {
  if (gate === null) return "";
  const { last, trouble } = gateState(state, gate);
  return trouble ?? last?.summary ?? "";
}
