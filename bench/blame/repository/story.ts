import { UNKNOWN_BASE } from "../../../src/core/gates/base-failures.ts";
import type { Blame } from "../../../src/core/blame/blame.ts";
import type { SendBack } from "../../../src/core/stories/command.ts";
import type { Event } from "../../../src/core/events/event.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { storyId, type TreeId } from "../../../src/core/events/ids.ts";
import type { RunState } from "../../../src/core/stories/run-state.ts";
import type { Scope } from "../../../src/core/stories/scope.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { bareStory } from "../../../src/core/stories/story.ts";
import { presetPolicy } from "../../../src/config/presets.ts";
import { composeBrief } from "../../../src/decide/compose-brief.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { nextStep } from "../../../src/decide/next-step.ts";
import type { Evidence } from "../../../src/ports/evidence.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import { writeBrief } from "../../../src/write/briefs/brief.ts";

const POLICY = presetPolicy("goal");
const STORY = bareStory(storyId("bench"), "The feature that was asked for", {
  kind: "goal",
  body: "Build the feature that was asked for, with its tests. The checks pass afterwards as they did before.",
});

export function requestFor(path: string, tree: TreeId, timeoutMs: number): GateRequest {
  return {
    story: STORY,
    phase: "implement",
    path,
    tree,
    commit: "HEAD",
    base: "HEAD",
    previous: "HEAD",
    rules: POLICY.gates.checks,
    stages: [],
    since: null,
    earlier: [],
    last: null,
    beside: {},
    overturned: [],
    scope: null,
    exceptions: [],
    message: null,
    roles: POLICY.roles,
    clarifications: 0,
    asked: {},
    sessions: {},
    key: "bench",
    atBase: UNKNOWN_BASE,
    requireTest: false,
    licensed: [],
    timeoutMs,
  };
}

/** What the loop does with a failure after the search for its cause. */
export interface SentBack {
  /** `null`: a person is asked instead of an agent. */
  readonly brief: string | null;
  readonly scope: Scope | null;
}

interface Failed {
  readonly judgement: Judgement;
  readonly blame: Blame;
  readonly changed: readonly string[];
  readonly command: string;
  readonly evidence: Evidence;
}

/** The brief and the scope that the rules of the loop send back, as in `remand loop`. */
export async function sentBack(given: Failed): Promise<SentBack> {
  const { judgement, blame, changed } = given;
  let run: RunState = EMPTY_RUN;
  const put = (event: Event): void => {
    const story = event.type === "policy.set" ? null : STORY.id;
    run = evolve(run, { v: 1, at: 0, story, event });
  };
  const facts = { tree: judgement.tree, commit: "0".repeat(40) };
  const role = POLICY.roles.phase.implement;
  const started = { phase: "implement", role, reworkOf: null, brief: null, forecastUsd: null } as const;
  const ready = { outcome: { type: "ready" }, changed, productChanged: true, summary: "done", durationMs: 0 } as const;
  put({ type: "policy.set", policy: POLICY, by: "bench" });
  put({ type: "story.added", story: STORY });
  put({ type: "story.started", by: "bench" });
  put({ type: "story.prepared", ...facts, preExisting: [] });
  put({ type: "attempt.started", attempt: 1, ...started });
  put({ type: "attempt.finished", attempt: 1, ...facts, ...ready });
  const passed = { ...judgement, gate: "integrity", result: "pass", findings: [], blocking: [] } as const;
  put({ type: "gate.judged", judgement: passed });
  put({ type: "gate.judged", judgement });
  for (let steps = 0; steps < 10; steps++) {
    const state = lookup(run.stories, STORY.id, byText)!;
    const { action } = nextStep(state, { base: "", usualMs: null });
    if (action.type === "send-back") return { brief: await written(state, action, given), scope: action.scope };
    if (action.type !== "find-blame") break;
    put({ type: "blame.found", gate: action.gate, blame, durationMs: 0 });
  }
  return { brief: null, scope: null };
}

async function written(state: StoryState, action: SendBack, { judgement, changed, command, evidence }: Failed) {
  const texts = await Promise.all(
    judgement.evidence.map(async (id) => ({ text: await evidence.read(id), fullAt: evidence.placeOf(id) })),
  );
  const brief = composeBrief(state, action, {
    rolePrompt: "",
    evidence: texts.flatMap(({ text, fullAt }) =>
      text === null ? [] : [{ title: "what the checks gate saw", text, fullAt }],
    ),
    judgedBy: [command],
    filesModified: changed,
    survivors: [],
    mutationScore: "",
    ci: null,
    report: "signal",
  });
  return writeBrief(brief, { nonce: "5f2c9a71d04e8b36" });
}
