import {
  type AnswerVerb,
  type Escalation,
  type EscalationKind,
  type EscalationOption,
  type EscalationReason,
  type TriedAndFailed,
  TRIAGE_OPTIONS,
  asksForMerge,
} from "../core/stories/escalation.ts";
import { countText } from "../stdx/plain-text.ts";
import type { GateName } from "../core/gates/gate.ts";
import { escalationId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { type TriedFinding, locationText } from "../core/gates/finding.ts";
import { gateState } from "./charge.ts";
import { forecastUsd } from "./spending.ts";
import { openFindings, triedFindings } from "./tried-findings.ts";
import { assessmentOf, kindOf, questionOf, recommendationOf, titleOf } from "./escalation-text.ts";

/**
 * Composes a question about one story in the form of S1.36: what was tried and failed, the state of the code, one
 * question.
 */
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

/** Composes a question about the whole run: its infrastructure or its budget. */
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

/** Describes the open findings by title: the gate's summary only has their number. */
function lastVerdict(state: StoryState, gate: GateName | null): string {
  const summary = lastSummary(state, gate);
  const open = openFindings(state);
  const atGate = gate === null ? open : open.filter((finding) => finding.gate === gate);
  const hasPassed = gate !== null && gateState(state, gate).last?.result === "pass";
  if (hasPassed) return open.length === 0 ? "" : openText(open);
  // The findings do not include the trouble that broke the gate since.
  if (atGate.length === 0 || (gate !== null && gateState(state, gate).trouble !== null)) return summary;
  return openText(open);
}

/** Lists the first titles with their locations: "2 findings open: <titles>". */
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
    .map(({ finding, says }) => `finding ${finding} was upheld by ${says}`);
}

function lastSummary(state: StoryState, gate: GateName | null): string {
  if (gate === null) return "";
  const { last, trouble } = gateState(state, gate);
  return trouble ?? last?.summary ?? "";
}

/**
 * Returns the possible answers to a reason, each with its effect and cost. `withUsefulOptions`, which knows the state,
 * removes those that would not get the story past its question.
 */
export function optionsFor(reason: EscalationReason, forecastUsd: number | null): EscalationOption[] {
  const attempt =
    forecastUsd === null ? "one attempt, price unknown" : `about $${forecastUsd.toFixed(2)} for the attempt`;
  return verbsFor(reason).map((verb) => ({ verb, ...wordsFor(reason, verb, attempt) }));
}

function wordsFor(reason: EscalationReason, verb: AnswerVerb, attempt: string): { does: string; cost: string } {
  if (verb === "resolve" && asksForMerge(reason))
    return { does: "You merged it: Remand checks that the target holds it, then accepts the story", cost: "nothing" };
  if (verb === "resolve" && reason.type === "branch-moved")
    return { does: "Verify it: the commits become part of the work, and all gates run again", cost: "the gates' run" };
  if (reason.type === "approval") return approvalWords(verb, reason.of, attempt);
  if (reason.type === "engine-died") return deathWords(verb, reason, attempt);
  if (verb === "resolve" && reason.type === "failing-base")
    return { does: "Fix first: you fixed them, and the checks run on the base again", cost: "one run of the checks" };
  if (verb === "resolve" && reason.type === "target-not-failing")
    return { does: "You corrected the target, and the checks run on the base again", cost: "one run of the checks" };
  if (verb === "send-back" && reason.type === "contested-tests")
    return { does: "The next brief lists each test to restore, with your guidance", cost: attempt };
  return words(verb, attempt);
}

/** Includes `dispute` if the work failed by a reviewer's opinion. */
function verbsFor(reason: EscalationReason): readonly AnswerVerb[] {
  switch (reason.type) {
    case "infrastructure":
      return ["retry", "declare-healthy", "halt"];
    case "failing-base":
      return ["known", "target", "resolve", "abandon"];
    case "target-not-failing":
      return ["resolve", "abandon"];
    case "contested-tests":
      return ["allow", "send-back", "abandon"];
    case "budget":
      if (reason.budget.startsWith("run-")) return ["raise-budget", "halt"];
      return reason.budget.startsWith("failures:")
        ? ["send-back", "resolve", "waive", "dispute", "raise-budget", "force-complete", "abandon"]
        : ["raise-budget", "resolve", "force-complete", "abandon"];
    case "incomplete":
    case "agent-failure":
    case "agent-missing":
      return ["send-back", "resolve", "abandon"];
    case "engine-died":
      if (reason.kind === "step") return ["resolve", "abandon"];
      return reason.kind === "gate"
        ? ["resolve", "send-back", "waive", "abandon"]
        : ["send-back", "resolve", "abandon"];
    case "approval":
      if (reason.of === "merge") return ["merge", "resolve", "send-back", "abandon"];
      return reason.of === "rework"
        ? ["send-back", "resolve", "waive", "dispute", "abandon"]
        : ["resolve", "send-back", "abandon"];
    case "target-moves":
      return reason.merges ? ["merge", "resolve", "send-back", "abandon"] : ["resolve", "send-back", "abandon"];
    case "branch-moved":
      return ["resolve", "drop", "send-back", "abandon"];
    case "gate-error":
    case "gate-inconclusive":
    case "gate-blocked":
      return ["resolve", "send-back", "waive", "abandon"];
    case "non-deterministic":
      // A flaky failure is not an opinion, so it cannot be disputed.
      return ["resolve", "send-back", "waive", "force-complete", "abandon"];
    default:
      return ["send-back", "resolve", "waive", "dispute", "force-complete", "abandon"];
  }
}

function words(verb: AnswerVerb, attempt: string): { does: string; cost: string } {
  switch (verb) {
    case "merge":
      return {
        does: "Remand merges it now, in your name; if the target moved, after the gates passed with it",
        cost: "nothing",
      };
    case "pull-request":
      return { does: "Remand pushes the branch and opens a pull request, in your name", cost: "nothing" };
    case "drop":
      return {
        does: "The branch goes back to the verified commit; the dropped commits stay as refs/remand/dropped/<story>",
        cost: "nothing",
      };
    case "resolve":
      return { does: "I fixed it: re-run the gates", cost: "the gates' run" };
    case "send-back":
      return { does: "Put your instructions into the next brief; the failure count starts over", cost: attempt };
    case "waive":
      return { does: "Accept anyway. Recorded as waived by you", cost: "nothing" };
    case "dispute":
      return {
        does: "An independent reviewer rules on the finding once. Overturned: the gate runs again. Upheld: you are asked again",
        cost: "one review",
      };
    case "raise-budget":
      return { does: "Set a new limit and continue", cost: "up to the new limit" };
    case "force-complete":
      return { does: "Accept now; every gate that has not passed is recorded as waived by you", cost: "nothing" };
    case "abandon":
      return { does: "The story ends as failed; stories that depend on it stay blocked", cost: "nothing" };
    case "retry":
      return { does: "Your instructions go to the remediation agent, which starts again", cost: "one remediation" };
    case "declare-healthy":
      return { does: "Continue as if the health check had passed", cost: "nothing" };
    case "known":
      return {
        does: "Mark as known. Recorded with your name and reason, shown with every pass; does not block the work",
        cost: "nothing",
      };
    case "target":
      return { does: "This story must make them pass", cost: "nothing" };
    case "allow":
      return {
        does: "This story may change them: recorded with your name and reason, and shown when it is accepted",
        cost: "nothing",
      };
    case "defer":
    case "dismiss":
      return TRIAGE_OPTIONS.find((option) => option.verb === verb)!;
    case "halt":
      return { does: "Nothing new starts until a person resumes the run", cost: "nothing" };
  }
}

function approvalWords(
  verb: AnswerVerb,
  of: "rework" | "retry" | "merge",
  attempt: string,
): { does: string; cost: string } {
  if (verb === "send-back" && of === "rework")
    return { does: "The work goes back with the brief; the counter stays", cost: attempt };
  if (verb === "resolve" && of === "retry") return { does: "The retry goes ahead", cost: "one run" };
  return words(verb, attempt);
}

function deathWords(
  verb: AnswerVerb,
  { during, kind }: Extract<EscalationReason, { type: "engine-died" }>,
  attempt: string,
): { does: string; cost: string } {
  if (verb === "resolve" && kind === "step") return { does: `I fixed it: run ${during} again`, cost: "one run" };
  if (verb === "resolve")
    return kind === "gate"
      ? { does: `I fixed it: run the gates again, ${during} included`, cost: "the gates' run" }
      : { does: "I did the work myself: run the gates on the tree as it is now", cost: "the gates' run" };
  if (verb === "send-back" && kind === "attempt")
    return { does: `Run ${during} again with your instructions`, cost: attempt };
  return words(verb, attempt);
}
