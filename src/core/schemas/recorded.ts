import { z } from "zod";
import type { Event, Recorded } from "../events/event.ts";
import { PROJECT_EVENTS, STORY_EVENTS, eventSchema } from "./event.ts";
import { issueText } from "./issue-text.ts";
import { amount, storyIdSchema } from "./scalars.ts";

const VERSION = 1;

/** One line of the journal. */
export const recordedSchema = z
  .strictObject({ v: z.literal(VERSION), at: amount, story: storyIdSchema.nullable(), event: eventSchema })
  .superRefine(({ story, event }, context) => {
    const problem = wrongStream(story, event);
    if (problem !== null) context.addIssue({ code: "custom", path: ["story"], message: problem });
  });

export type ReadRecorded =
  | { readonly ok: true; readonly recorded: Recorded }
  | { readonly ok: false; readonly problem: string };

/** A line of the journal, read back; or what is wrong with it, and where. It never throws. */
export function readRecorded(value: unknown): ReadRecorded {
  const newer = newerVersion(value);
  if (newer !== null) {
    const problem = `written by a newer version of Remand: its format is ${newer}, this one reads ${VERSION}`;
    return { ok: false, problem };
  }
  const read = recordedSchema.safeParse(value);
  if (read.success) return { ok: true, recorded: read.data };
  return { ok: false, problem: read.error.issues.slice(0, MOST_ISSUES).map(issueText).join("; ") };
}

/** More than a few do not help the reader. */
const MOST_ISSUES = 5;

function newerVersion(value: unknown): number | null {
  if (typeof value !== "object" || value === null || !("v" in value)) return null;
  return typeof value.v === "number" && Number.isSafeInteger(value.v) && value.v > VERSION ? value.v : null;
}

/** The fold takes no notice of an event in a stream where it has no place: it would be lost without a word. */
function wrongStream(story: Recorded["story"], event: Event): string | null {
  if (story === null)
    return OF_A_STORY.has(event.type) ? `${event.type} is the event of a story, and none is named` : null;
  if (OF_THE_PROJECT.has(event.type)) return `${event.type} is the project's own event, not a story's`;
  const isAboutItself = event.type === "story.added" || event.type === "story.changed";
  return isAboutItself && event.story.id !== story ? `${event.type} is about another story` : null;
}

const OF_THE_PROJECT: ReadonlySet<string> = new Set(PROJECT_EVENTS.map((schema) => schema.shape.type.value));
const OF_A_STORY: ReadonlySet<string> = new Set(STORY_EVENTS.map((schema) => schema.shape.type.value));
