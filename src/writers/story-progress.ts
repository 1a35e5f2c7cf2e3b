import type { Phase } from "../domain/phase.ts";
import type { Shelf } from "../domain/story.ts";
import type { FrontMatterEdits } from "./front-matter-edit.ts";

/** How far a story has come, as its file tells it. */
export interface StoryProgress {
  readonly shelf: Shelf;
  readonly completed: readonly Phase[];
  readonly reviewsComplete: boolean;
  readonly refinements: readonly Refinement[];
  /** Only where the story has a limit of its own. */
  readonly maxReworks?: number;
  readonly lastError: string | null;
  /** The day of the last change, `2026-01-09`. */
  readonly updated: string;
}

/** S4's record of one time the work was sent back. */
export interface Refinement {
  readonly iteration: number;
  readonly agentType: Phase;
  readonly startedAt: string;
  readonly completedAt?: string;
  readonly reviewFeedback?: string;
  readonly result: "success" | "failed" | "in_progress";
}

/** S4's fields of the front matter for it. Fields that do not apply are taken out. */
export function storyProgressEdits(progress: StoryProgress): FrontMatterEdits {
  const { refinements } = progress;
  return {
    status: progress.shelf,
    research_complete: progress.completed.includes("research"),
    plan_complete: progress.completed.includes("plan"),
    implementation_complete: progress.completed.includes("implement"),
    reviews_complete: progress.reviewsComplete,
    refinement_iterations: refinements.length === 0 ? undefined : refinements.map(iterationRecord),
    refinement_count: refinements.length === 0 ? undefined : refinements.length,
    ...(progress.maxReworks === undefined ? {} : { max_refinement_attempts: progress.maxReworks }),
    last_error: progress.lastError ?? undefined,
    updated: progress.updated,
  };
}

function iterationRecord(refinement: Refinement): Record<string, string | number | undefined> {
  const { iteration, agentType, startedAt, completedAt, reviewFeedback, result } = refinement;
  return { iteration, agentType, startedAt, completedAt, reviewFeedback, result };
}
