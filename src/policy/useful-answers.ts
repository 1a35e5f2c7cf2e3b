import { disputable } from "../domain/dispute.ts";
import type { AnswerVerb, Escalation } from "../domain/escalation.ts";
import type { Answer } from "../domain/event.ts";
import type { StoryAction } from "../domain/command.ts";
import type { StoryState } from "../domain/story-state.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { answered } from "./evolve-answer.ts";

/**
 * The question with only those answers that do something. Each is tried on the state: an answer after which the same
 * question, with the same counts, would be asked again at once is not offered. `step` says what a story does next.
 */
export function withUsefulOptions(
  state: StoryState,
  escalation: Escalation,
  base: string,
  step: (state: StoryState) => StoryAction,
): Escalation {
  const asking: StoryState = { ...state, escalation };
  const isUseful = (verb: AnswerVerb): boolean => {
    const after = answered(asking, exampleOf(state, escalation, verb), base, 0);
    if (after.ending !== null) return true;
    const next = step(after);
    return next.type !== "raise-escalation" || subjectOf(next.escalation) !== subjectOf(escalation);
  };
  return { ...escalation, options: escalation.options.filter(({ verb }) => isUseful(verb)) };
}

/** What a question is about: its reason with every count, and its gate. */
const subjectOf = ({ reason, gate }: Escalation): string => canonicalJson({ reason, gate });

/** The answer as a person gives it who wants to get past the question. */
function exampleOf(state: StoryState, { id, reason, gate }: Escalation, verb: AnswerVerb): Answer {
  const answer: Answer = { verb, by: "a person", message: "", escalation: id };
  if (verb === "dispute") return { ...answer, findings: disputable(state, gate).map((finding) => finding.id) };
  if (verb !== "raise-budget" || reason.type !== "budget") return answer;
  return { ...answer, budget: reason.budget, limit: Math.max(reason.used, reason.limit) * 2 + 1 };
}
