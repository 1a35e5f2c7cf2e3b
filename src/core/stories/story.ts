import type { StoryId } from "../events/ids.ts";
import type { storySchema } from "../schemas/story.ts";
import type { Stored } from "../schemas/scalars.ts";

/** A unit of work, as its file defines it. Its progress is not here: that is folded from the journal. */
export type Story = Stored<typeof storySchema>;

export type Criterion = Story["criteria"][number];

/** Makes a story with default priority, no dependencies, and ready to start. */
export function bareStory(id: StoryId, title: string, more: Partial<Story> = {}): Story {
  return {
    id,
    title,
    priority: 1,
    kind: "feature",
    labels: [],
    dependsOn: [],
    criteria: [],
    shelf: "ready",
    body: "",
    completed: [],
    ...more,
  };
}

/** The four folders (S4.28) that a story's file can be in. */
export const STORY_FOLDERS = ["backlog", "ready", "in-progress", "done"] as const;
export type StoryFolder = (typeof STORY_FOLDERS)[number];

export const STATUSES = [
  "backlog",
  "ready",
  "working",
  "in-gate",
  "waiting",
  "escalated",
  "failed",
  "dismissed",
  "accepted",
] as const;
export type Status = (typeof STATUSES)[number];

/** Who must act before the story can move on. */
export const ACTORS = ["agent", "gate", "engine", "person", "time", "story", "infrastructure", "none"] as const;
export type Actor = (typeof ACTORS)[number];

/** Work that an agent does for a story, in this order. A preset may leave phases out, except `implement`. */
export const PHASES = ["refine", "research", "plan", "implement"] as const;
export type Phase = (typeof PHASES)[number];

/** The steps of S1.5 inside `implement`: the test, the types, the code, the commit. */
export const TDD_PHASES = ["red", "domain", "green", "commit"] as const;
export type TddPhase = (typeof TDD_PHASES)[number];
