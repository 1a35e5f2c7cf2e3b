import type { AttemptOutcome, AttemptSummary } from "../core/stories/attempt.ts";
import type { StartAttempt, StoryAction } from "../core/stories/command.ts";
import type { AnswerVerb, Escalation, EscalationReason } from "../core/stories/escalation.ts";
import type { Limits, Policy } from "../core/events/policy.ts";
import type { Counters, StoryState } from "../core/stories/story-state.ts";
import { disputable } from "../core/gates/finding.ts";
import type { Answer } from "../core/events/event.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { applyAnswer } from "../fold/fold-answer.ts";
import type { RoleName } from "../core/events/ids.ts";
import type { Phase } from "../core/stories/story.ts";
import { escalateStory } from "./escalate.ts";

/**
 * Decides whether a person must look at a dispatch that left nothing to judge; `null` means: dispatch again. The work
 * did not fail, so each kind of ending has its own limit, and each limit ends at a person.
 */
export function afterAgentFailure(state: StoryState, policy: Policy): StoryAction | null {
  const outcome = state.counters.lastFailure;
  if (outcome === null) return null;
  const reason = reasonToStop(outcome, state.counters, policy.limits) ?? retryNeedsApproval(state, policy, outcome);
  return reason === null ? null : { type: "raise-escalation", escalation: escalateStory(state, reason, null) };
}

function reasonToStop(outcome: AttemptOutcome, counters: Counters, limits: Limits): EscalationReason | null {
  const failure = (times: number, limit: number, detail: string): EscalationReason | null =>
    times < limit ? null : { type: "agent-failure", outcome: OUTCOME_WORDS[outcome.type], times, detail };
  switch (outcome.type) {
    case "incomplete":
      return incompleteReason(outcome, counters, limits);
    case "unclear":
    case "crashed":
      return failure(counters.agentFailures, limits.agentFailures, outcome.detail);
    case "timed-out":
      return failure(counters.timeouts, limits.timeouts, `no answer within ${Math.round(outcome.afterMs / 1000)} s`);
    case "rate-limited":
      return failure(counters.rateLimits, limits.rateLimits, "the provider keeps limiting the rate");
    case "refused":
      return failure(counters.refusals, limits.refusals, outcome.detail);
    case "unusable":
      return failure(1, 1, `${outcome.detail} — ${outcome.fix}`);
    default:
      return null;
  }
}

function incompleteReason(
  outcome: Extract<AttemptOutcome, { type: "incomplete" }>,
  counters: Counters,
  limits: Limits,
): EscalationReason | null {
  const isForAPerson = outcome.category === "missing_info" || outcome.category === "out_of_scope";
  if (!isForAPerson && counters.dependencyWaits < limits.dependencyWaits) return null;
  return { type: "incomplete", category: outcome.category, blocker: outcome.blocker, needed: outcome.needed };
}

function retryNeedsApproval(state: StoryState, policy: Policy, outcome: AttemptOutcome): EscalationReason | null {
  const isRetry =
    outcome.type === "unclear" ||
    outcome.type === "crashed" ||
    outcome.type === "timed-out" ||
    outcome.type === "refused";
  if (policy.autonomy !== "conservative" || !isRetry || state.counters.approvedRetry) return null;
  return { type: "approval", of: "retry" };
}

const OUTCOME_WORDS: Readonly<Record<AttemptOutcome["type"], string>> = {
  ready: "finished",
  incomplete: "stopped unfinished",
  blocked: "was blocked",
  unclear: "sent an unreadable reply",
  crashed: "crashed",
  "timed-out": "timed out",
  "rate-limited": "was rate-limited",
  refused: "refused",
  unusable: "can't start",
  missing: "is missing",
  stopped: "was stopped",
  "cut-short": "was ended by a budget",
};

/**
 * Removes the answers that would not help. Each answer is tried on the state: one after which the same question, with
 * the same counts, would be raised again at once is not offered. `step` returns a story's next step.
 */
export function withUsefulOptions(
  state: StoryState,
  escalation: Escalation,
  base: string,
  step: (state: StoryState) => StoryAction,
): Escalation {
  const asking: StoryState = { ...state, escalation };
  const isUseful = (verb: AnswerVerb): boolean => {
    const after = applyAnswer(asking, exampleOf(state, escalation, verb), base, 0);
    if (after.ending !== null) return true;
    const next = step(after);
    return next.type !== "raise-escalation" || subjectOf(next.escalation) !== subjectOf(escalation);
  };
  return { ...escalation, options: escalation.options.filter(({ verb }) => isUseful(verb)) };
}

/** Returns what identifies a question: its reason with every count, and its gate. */
const subjectOf = ({ reason, gate }: Escalation): string => canonicalJson({ reason, gate });

/** Makes an example of an answer, with values that would get the story past the question. */
function exampleOf(state: StoryState, { id, reason, gate }: Escalation, verb: AnswerVerb): Answer {
  const answer: Answer = { verb, by: "a person", message: "", escalation: id };
  if (verb === "dispute") return { ...answer, findings: disputable(state, gate).map((finding) => finding.id) };
  if (verb !== "raise-budget" || reason.type !== "budget") return answer;
  return { ...answer, budget: reason.budget, limit: Math.max(reason.used, reason.limit) * 2 + 1 };
}

/**
 * Returns what changes for the next attempt of a role whose work keeps failing. Only rejected work counts: a crash or a
 * rate limit says nothing about the model or the conversation.
 */
export function reinforceRole(
  { attempts, sessions }: Pick<StoryState, "attempts" | "sessions">,
  { roles }: Pick<Policy, "roles">,
  role: RoleName,
  phase: Phase,
): Pick<StartAttempt, "stronger" | "fresh"> {
  const rule = roles.reinforcement?.find((each) => each.role === role);
  if (rule === undefined) return {};
  const own = attempts.filter((attempt) => attempt.role === role);
  const failures = countFailed(own.filter((attempt) => attempt.phase === phase));
  const sinceFresh = countFailed(
    own.slice(
      Math.max(
        0,
        own.findLastIndex(({ fresh }) => fresh === true),
      ),
    ),
  );
  const { stronger, freshAfter } = rule;
  const isTired = freshAfter !== undefined && sinceFresh >= freshAfter && sessions[role] !== undefined;
  return {
    ...(stronger === undefined || failures < stronger.after ? {} : { stronger: { model: stronger.model, failures } }),
    ...(isTired ? { fresh: { failures: sinceFresh } } : {}),
  };
}

const countFailed = (attempts: readonly AttemptSummary[]): number =>
  attempts.filter((attempt) => attempt.failed !== "").length;
