import type { Recorded } from "../domain/event.ts";
import type { GateName, Judgement } from "../domain/gate.ts";
import type { StoryState } from "../domain/story-state.ts";
import { shortLine } from "../views/words.ts";
import { instant } from "../writers/json-text.ts";
import type { Refinement, StoryProgress } from "../writers/story-progress.ts";

/** How far a story has come, for S4's fields of its file: from the state and the story's own lines of the journal. */
export function storyProgress(state: StoryState, lines: readonly Recorded[]): StoryProgress {
  const { ending, story, escalation } = state;
  const isAccepted = ending?.how === "accepted";
  return {
    shelf: isAccepted ? "done" : "in-progress",
    completed: isAccepted ? [...state.completed, state.phase] : state.completed,
    reviewsComplete: isAccepted,
    refinements: refinements(state, lines),
    ...(story.maxReworks === undefined ? {} : { maxReworks: story.maxReworks }),
    lastError: escalation?.title ?? (ending === null || ending.how === "accepted" ? null : ending.reason),
    updated: instant(lines.at(-1)?.at ?? 0).slice(0, 10),
  };
}

/** One for each time the work was sent back, however often an agent had to be asked for it. */
function refinements({ policy }: StoryState, lines: readonly Recorded[]): Refinement[] {
  const sent = lines.flatMap(({ event }, index) => (event.type === "work.sent-back" ? [{ event, index }] : []));
  return sent.map(({ event, index }, at) => {
    const { route, gate } = event;
    const turn = lines.slice(index + 1, sent[at + 1]?.index);
    const begun = turn.find(({ event: { type } }) => type === "attempt.started") ?? lines[index]!;
    const done = turn.find(({ event: each }) => each.type === "attempt.finished" && each.outcome.type === "ready");
    // A person who sends work back is satisfied when the last gate of the phase is.
    const lastGate = policy?.phases.find(({ phase }) => phase === route.phase)?.gates.at(-1);
    const feedback = feedbackOf(lines.slice(0, index), gate);
    return {
      iteration: at + 1,
      agentType: route.phase,
      startedAt: instant(begun.at),
      ...(done === undefined ? {} : { completedAt: instant(done.at) }),
      ...(feedback === "" ? {} : { reviewFeedback: feedback }),
      result: resultOf(turn, gate === "person" ? (lastGate ?? null) : gate),
    };
  });
}

/** What the gate said, with what stood in the way; or what the person wanted. */
function feedbackOf(before: readonly Recorded[], gate: GateName | "person"): string {
  for (const { event } of before.toReversed()) {
    if (gate === "person" && event.type === "person.answered") return shortLine(event.answer.message, MOST_CHARS);
    if (event.type === "gate.judged" && event.judgement.gate === gate) return wordsOf(event.judgement);
  }
  return "";
}

const MOST_CHARS = 600;

function wordsOf({ summary, findings, blocking }: Judgement): string {
  const inTheWay = findings.filter(({ id }) => blocking.includes(id)).map(({ message }) => message);
  return shortLine([summary, ...inTheWay].filter((text) => text !== "").join("; "), MOST_CHARS);
}

/** The first gate that fails it, or the one that sent it back when that passes it, says what came of it. */
function resultOf(turn: readonly Recorded[], gate: GateName | null): Refinement["result"] {
  for (const { event } of turn) {
    if (event.type !== "gate.judged") continue;
    if (event.judgement.result === "fail") return "failed";
    if (event.judgement.result === "pass" && event.judgement.gate === gate) return "success";
  }
  return turn.some(({ event }) => event.type === "story.accepted") ? "success" : "in_progress";
}
