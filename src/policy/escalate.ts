import type {
  Escalation,
  EscalationKind,
  EscalationOption,
  EscalationReason,
  TriedAndFailed,
} from "../domain/escalation.ts";
import type { GateName } from "../domain/gate.ts";
import { escalationId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { gateState } from "./charge.ts";
import { forecastUsd } from "./spending.ts";
import { optionsFor } from "./escalation-options.ts";
import { assessmentOf, kindOf, questionOf, recommendationOf, titleOf } from "./escalation-words.ts";

/** A question about one story, in S1's form: what was tried and failed, the state of the code, one question. */
export function escalateStory(state: StoryState, reason: EscalationReason, gate: GateName | null): Escalation {
  return composed({
    id: `esc-${state.story.id}-${state.escalations + 1}`,
    subject: state.story.title,
    reason,
    gate,
    assessment: assessmentOf(reason, lastSummary(state, gate), state.failing?.blame?.explanation ?? ""),
    options: optionsFor(reason, forecastUsd(state)),
    attempts: triedAndFailed(state),
    branch: `remand/${state.story.id}`,
    commit: state.commit,
  });
}

/** A question about the whole run: the surroundings, or its money. */
export function escalateRun(run: RunState, reason: EscalationReason): Escalation {
  const tries = run.remediation?.history ?? [];
  return composed({
    id: `esc-project-${run.escalations + 1}`,
    subject: "the whole run",
    reason,
    gate: null,
    assessment: assessmentOf(reason, tries[tries.length - 1]?.remaining.join("; ") ?? "", ""),
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

interface Parts {
  readonly id: string;
  readonly subject: string;
  readonly reason: EscalationReason;
  readonly gate: GateName | null;
  readonly assessment: string;
  readonly options: readonly EscalationOption[];
  readonly attempts: readonly TriedAndFailed[];
  readonly branch: string;
  readonly commit: string;
}

function composed({ id, subject, reason, ...rest }: Parts): Escalation {
  const kind: EscalationKind = kindOf(reason);
  return {
    id: escalationId(id),
    kind,
    reason,
    title: titleOf(reason, subject, rest.gate),
    recommendation: recommendationOf(reason),
    question: questionOf(reason, rest.gate),
    ...rest,
  };
}

/** "Needs a human" is not a question. Says what is missing for a person to be able to act; empty when nothing is. */
export function escalationProblems(escalation: Escalation): string[] {
  const problems: string[] = [];
  const isTautology = (text: string): boolean => TAUTOLOGY.test(text.trim());
  if (!escalation.question.trim().endsWith("?") || isTautology(escalation.question))
    problems.push("there is no question to answer");
  if (escalation.assessment.trim() === "" || isTautology(escalation.assessment))
    problems.push("it does not say why it stopped");
  if (escalation.recommendation.trim() === "" || isTautology(escalation.recommendation))
    problems.push("it recommends nothing");
  if (escalation.options.length < 2) problems.push("there is nothing to choose between");
  if (escalation.options.some((option) => option.does.trim() === ""))
    problems.push("an answer does not say what it will do");
  return problems;
}

const TAUTOLOGY =
  /^(?:this )?(?:story |task |slice )?(?:needs?|requires?|escalated? to|waiting for) (?:a )?(?:human|person|manual)(?: (?:review|intervention|attention|decision))?[.!?]?$/i;

function triedAndFailed(state: StoryState): TriedAndFailed[] {
  return state.attempts.map((attempt) => ({
    attempt: attempt.attempt,
    tried: attempt.summary === "" ? `${attempt.phase} by ${attempt.role}` : attempt.summary,
    failed: attempt.failed === "" ? `ended as ${attempt.outcome}` : attempt.failed,
  }));
}

function lastSummary(state: StoryState, gate: GateName | null): string {
  if (gate === null) return "";
  const { last, trouble } = gateState(state, gate);
  return trouble ?? last?.summary ?? "";
}
