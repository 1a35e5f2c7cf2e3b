import { join } from "node:path";
import type { RunPlan } from "../cli/host.ts";
import type { StoryState } from "../domain/story-state.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Stored } from "../ports/journal.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { createNodeFiles } from "../adapters/files/node-files.ts";
import { createStoryShelf } from "../adapters/stories/story-shelf.ts";
import { instant } from "../writers/json-text.ts";
import { storyProgressEdits, type Refinement, type StoryProgress } from "../writers/story-progress.ts";

/**
 * S4's fields in the stories' own files, after a run of the preset that promises them. Everything else in the files is
 * a person's and stays byte for byte.
 */
export async function noteStories(
  root: string,
  plan: RunPlan,
  state: RunState,
  lines: AsyncIterable<Stored>,
): Promise<void> {
  if (plan.config.preset !== "story" || plan.place === "in-place") return;
  const byStory = new Map<string, Stored[]>();
  for await (const line of lines)
    if (line.story !== null) byStory.set(line.story, [...(byStory.get(line.story) ?? []), line]);
  const shelf = createStoryShelf({ folder: join(root, plan.config.stories), files: createNodeFiles() });
  for (const { id } of plan.stories) {
    const story = lookup(state.stories, id, byText);
    if (story !== undefined && story.policy !== null)
      await shelf.note(id, storyProgressEdits(progressOf(story, byStory.get(id) ?? [])));
  }
}

function progressOf(state: StoryState, lines: readonly Stored[]): StoryProgress {
  const { ending, story, escalation } = state;
  const isAccepted = ending?.how === "accepted";
  return {
    shelf: isAccepted ? "done" : "in-progress",
    completed: isAccepted ? [...state.completed, state.phase] : state.completed,
    reviewsComplete: isAccepted,
    refinements: refinementsOf(state, lines),
    ...(story.maxReworks === undefined ? {} : { maxReworks: story.maxReworks }),
    lastError: escalation?.title ?? (ending === null || ending.how === "accepted" ? null : ending.reason),
    updated: instant(lines.at(-1)?.at ?? 0).slice(0, 10),
  };
}

/** Every attempt that carried a brief: what it was told, and what came of it. */
function refinementsOf({ attempts }: StoryState, lines: readonly Stored[]): Refinement[] {
  const atOf = (type: "attempt.started" | "attempt.finished", attempt: number): number | undefined =>
    lines.find(({ event }) => event.type === type && event.attempt === attempt)?.at;
  return attempts
    .filter((attempt) => attempt.reworkOf !== null && attempt.outcome !== "interrupted")
    .map((attempt, index) => {
      const completedAt = atOf("attempt.finished", attempt.attempt);
      const feedback = attempts.findLast((before) => before.attempt < attempt.attempt && before.failed !== "")?.failed;
      return {
        iteration: index + 1,
        agentType: attempt.phase,
        startedAt: instant(atOf("attempt.started", attempt.attempt) ?? 0),
        ...(completedAt === undefined ? {} : { completedAt: instant(completedAt) }),
        ...(feedback === undefined ? {} : { reviewFeedback: feedback }),
        result:
          attempt.outcome === "running"
            ? "in_progress"
            : attempt.outcome === "ready" && attempt.failed === ""
              ? "success"
              : "failed",
      };
    });
}
