import type { RoleName, StoryId } from "../events/ids.ts";

/** A unit of work, as its file defines it. What happens to it is not here: that is folded from the journal. */
export interface Story {
  readonly id: StoryId;
  readonly title: string;
  /** Lower is more urgent. */
  readonly priority: number;
  readonly kind: string;
  readonly labels: readonly string[];
  readonly dependsOn: readonly StoryId[];
  readonly criteria: readonly Criterion[];
  /** A story in the backlog is known, and is not worked on until a person makes it ready. */
  readonly shelf: StoryFolder;
  /** The whole text below the front matter: what the agent is asked to do. */
  readonly body: string;
  /** Phases whose product is already there (S4's `research_complete` and its like). */
  readonly completed: readonly Phase[];
  /** S4's per-story override; it counts reworks, so the limit on failures is one more. */
  readonly maxReworks?: number;
  /** Tests that fail at the base and must pass: names, files or patterns; `*` is everything that fails there. */
  readonly target?: readonly string[];
  /** Existing tests that the work may change: names, files or patterns. */
  readonly tests?: readonly string[];
  readonly role?: RoleName;
}

/** A story with default priority, no dependencies, and ready to start. */
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

export interface Criterion {
  readonly id: string;
  readonly text: string;
}

/** The four folders of S4 that a story's file can be in. */
export const SHELVES = ["backlog", "ready", "in-progress", "done"] as const;
export type StoryFolder = (typeof SHELVES)[number];

export const STATUSES = [
  "backlog",
  "ready",
  "working",
  "in-gate",
  "waiting",
  "escalated",
  "failed",
  "accepted",
] as const;
export type Status = (typeof STATUSES)[number];

/** Who must act before anything moves. */
export const ACTORS = ["agent", "gate", "engine", "person", "time", "story", "infrastructure", "none"] as const;
export type Actor = (typeof ACTORS)[number];

/** Work that an agent does for a story, in this order. A preset may leave some out; `implement` is always there. */
export const PHASES = ["refine", "research", "plan", "implement"] as const;
export type Phase = (typeof PHASES)[number];

/** S1's steps inside `implement`: the test, the types, the code, the commit. */
export const TDD_PHASES = ["red", "domain", "green", "commit"] as const;
export type TddPhase = (typeof TDD_PHASES)[number];
