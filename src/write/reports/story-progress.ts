import type { Phase, StoryFolder } from "../../core/stories/story.ts";
import type { FrontMatterEdits } from "../edits/front-matter-edit.ts";
import type { Finding } from "../../core/gates/finding.ts";
import { issueLine } from "../briefs/findings.ts";
import { worstFirst } from "../briefs/parts.ts";
import { FULL_LIMITS, type ListWriter, bullets, line, joinPieces } from "../briefs/brief-writer.ts";

/** A story's progress, for its file. */
export interface StoryProgress {
  readonly shelf: StoryFolder;
  readonly completed: readonly Phase[];
  readonly reviewsComplete: boolean;
  readonly refinements: readonly Refinement[];
  /** Only if the story has a limit of its own. */
  readonly maxReworks?: number;
  readonly lastError: string | null;
  /** The date of the last change, `2026-01-09`. */
  readonly updated: string;
}

/** The record (S4.34) of one rework. */
export interface Refinement {
  readonly iteration: number;
  readonly agentType: Phase;
  readonly startedAt: string;
  readonly completedAt?: string;
  readonly reviewFeedback?: string;
  readonly result: "success" | "failed" | "in_progress";
}

/** The front matter fields of the progress (S4.34, S4.35). Fields that do not apply are removed. */
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

/** The feedback of a review, for the note in a story's file when a phase is sent back (S4.49). */
export interface RefinementFeedback {
  readonly summary: string;
  readonly findings: readonly Finding[];
  readonly context: readonly string[];
}

/** Writes Markdown without headings, because the note around it has its own. */
export function writeRefinementFeedback(feedback: RefinementFeedback): string {
  const pen: ListWriter = { nonce: null, limits: FULL_LIMITS, cuts: [] };
  const findings = bullets(pen, worstFirst(feedback.findings), (finding) => issueLine(finding, pen), {
    what: "findings",
  });
  const context = bullets(pen, feedback.context, (text) => line(pen, text), { what: "notes" });
  return joinPieces([
    feedback.summary === "" ? "" : `Result: ${line(pen, feedback.summary)}`,
    findings === "" ? "" : `**Review feedback**\n\n${findings}`,
    context === "" ? "" : `**New context**\n\n${context}`,
  ]);
}
