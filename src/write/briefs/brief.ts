import type { BriefVariant } from "../../core/gates/registry.ts";
import type { Brief } from "../../core/stories/brief.ts";
import { assert } from "../../stdx/assert.ts";
import { auditBrief, ciBrief, integrityBrief, mergeBrief, mutationBrief, tddBrief } from "./gate-briefs.ts";
import { environmentBrief, phaseBrief } from "./phase.ts";
import { goalBrief } from "./goal.ts";
import { FULL_LIMITS, type BriefWriter, SHRINKING_LIMITS } from "./brief-writer.ts";
import { reviewBrief, stagedReviewBrief } from "./review.ts";

/** Writes the text that goes back to the agent. The same brief and nonce give the same bytes. */
export function writeBrief(brief: Brief, options: BriefOptions): string {
  return writeBriefWithCuts(brief, options).text;
}

export interface BriefOptions {
  /** A new nonce for each brief, so that no quoted text can contain it. */
  readonly nonce: string;
  readonly maxChars?: number;
}

/** The text, and what was left out to shorten it. */
export interface WrittenBrief {
  readonly text: string;
  readonly cuts: readonly string[];
}

/** Four characters per token, which is close enough for English and for code. */
const CHARS_PER_TOKEN = 4;
/** The default size of a brief. Attached texts are added to it. */
const DEFAULT_BRIEF_TOKENS = 4000;
export const DEFAULT_BRIEF_CHARS = DEFAULT_BRIEF_TOKENS * CHARS_PER_TOKEN;
/** Below this size, not even the headings, the scope and the report format fit. */
export const SMALLEST_BRIEF_CHARS = 10_000;

export function writeBriefWithCuts(brief: Brief, options: BriefOptions): WrittenBrief {
  const maxChars = options.maxChars ?? DEFAULT_BRIEF_CHARS + attachedChars(brief);
  assert(maxChars >= SMALLEST_BRIEF_CHARS, `a brief needs at least ${SMALLEST_BRIEF_CHARS} characters`);
  for (const limits of SHRINKING_LIMITS) {
    const pen: BriefWriter = { nonce: options.nonce, limits, cuts: [] };
    const text = `${VARIANTS[brief.variant](brief, pen)}\n`;
    if (text.length <= maxChars) return { text, cuts: [...new Set(pen.cuts)] };
  }
  throw new Error("assertion failed: a brief exceeds its smallest limits");
}

/**
 * The size of attached texts: the role's own prompt, and texts that are themselves to be revised. They do not count
 * against the brief's limit.
 */
function attachedChars({ rolePrompt, evidence }: Brief): number {
  const texts = evidence.filter(({ fullAt }) => fullAt === undefined).map(({ text }) => text.length);
  return [rolePrompt.length, ...texts].reduce((sum, length) => sum + Math.min(length, FULL_LIMITS.roleChars), 0);
}

const VARIANTS: Readonly<Record<BriefVariant, (brief: Brief, pen: BriefWriter) => string>> = {
  review: reviewBrief,
  audit: auditBrief,
  environment: environmentBrief,
  tdd: tddBrief,
  "staged-review": stagedReviewBrief,
  mutation: mutationBrief,
  ci: ciBrief,
  goal: goalBrief,
  phase: phaseBrief,
  integrity: integrityBrief,
  merge: mergeBrief,
};
