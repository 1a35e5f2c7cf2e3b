import { NOTHING_SPENT } from "../domain/budget.ts";
import type { GateState, StoryState } from "../domain/story-state.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Story } from "../domain/story.ts";

export const EMPTY_RUN: RunState = {
  position: 0,
  seq: 0,
  policy: null,
  stories: null,
  dependents: null,
  lanes: { engine: null, developers: null, critics: null, auditors: null, checks: null },
  timers: null,
  busy: { engine: 0, developers: 0, critics: 0, auditors: 0, checks: 0 },
  inFlight: 0,
  remediation: null,
  escalation: null,
  escalations: 0,
  halted: null,
  spent: NOTHING_SPENT,
  raised: {},
  warned: [],
  usual: {},
  base: "",
};

export const UNJUDGED: GateState = {
  last: null,
  fresh: false,
  lastPass: null,
  trouble: null,
  flaky: [],
  failures: 0,
  failuresEver: 0,
  errors: 0,
  inconclusives: 0,
  ciRetries: 0,
  lintFixed: false,
  rounds: [],
  seen: [],
  overturned: [],
  base: "",
};

const NO_COUNTS: StoryState["counters"] = {
  attempts: 0,
  agentFailures: 0,
  timeouts: 0,
  rateLimits: 0,
  refusals: 0,
  dependencyWaits: 0,
  blocked: 0,
  unchanged: 0,
  stepFailures: 0,
  lastFailure: null,
  approvedRetry: false,
  missing: [],
};

export function newStory(story: Story, arrival: number, at: number): StoryState {
  return {
    story,
    seq: 0,
    arrival,
    policy: null,
    startedAt: null,
    phase: "implement",
    completed: story.completed,
    running: null,
    productReady: false,
    tree: null,
    commit: "",
    startedFrom: null,
    gates: {},
    attempts: [],
    failing: null,
    rework: null,
    reworks: 0,
    scope: null,
    exceptions: [],
    message: null,
    asked: {},
    sessions: {},
    requested: null,
    wait: null,
    escalation: null,
    escalatedAt: null,
    escalations: 0,
    disputes: [],
    waivers: [],
    undo: null,
    guidance: [],
    counters: NO_COUNTS,
    locations: {},
    watched: null,
    trees: [],
    raised: {},
    warned: [],
    grace: {},
    spent: NOTHING_SPENT,
    preExisting: [],
    held: false,
    stopping: null,
    flagged: false,
    delivered: null,
    queued: null,
    // A person's file may say that the work is done: nobody judged it, and the record says so.
    ending:
      story.shelf === "done"
        ? { how: "accepted", at, forced: { by: "the story's file", reason: "its status says done" } }
        : null,
  };
}
