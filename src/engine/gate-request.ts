import { baseFailuresOf } from "../core/gates/base-failures.ts";
import type { StartGate } from "../core/stories/command.ts";
import { GATES, type GateName, type Judgement } from "../core/gates/gate.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { GateRequest } from "../ports/gate.ts";
import type { PreparedWorkspace } from "../ports/workspace.ts";

/** Builds a gate's request: what to judge, and everything about the story that the gate may use. */
export function gateRequest(
  state: StoryState,
  place: PreparedWorkspace,
  command: Omit<StartGate, "type"> & { readonly key: string },
): GateRequest {
  const policy = state.policy!;
  const known = state.gates[command.gate];
  const last = known?.last ?? null;
  const baseRun = state.baseRuns?.[command.gate];
  return {
    story: state.story,
    phase: state.phase,
    path: place.path,
    tree: command.tree,
    commit: state.commit,
    base: place.base,
    previous: state.startedFrom ?? place.base,
    rules: policy.gates[command.gate],
    stages: command.stages,
    since: command.since,
    earlier: last === null ? [] : last.findings.filter((finding) => command.answer.includes(finding.id)),
    last,
    beside: judgedBeside(state, command.gate),
    overturned: known?.overturned ?? [],
    scope: state.scope,
    exceptions: state.exceptions,
    message: state.message,
    roles: policy.roles,
    clarifications: policy.limits.clarifications,
    asked: state.asked,
    sessions: state.sessions,
    key: command.key,
    atBase: baseFailuresOf(state),
    requireTest: policy.requireTest ?? false,
    licensed: [...(state.story.tests ?? []), ...(state.licensed ?? []).map(({ test }) => test)],
    ...(state.seenTree === undefined ? {} : { seenTree: state.seenTree }),
    ...(baseRun === undefined ? {} : { baseRun }),
    timeoutMs: command.timeoutMs,
  };
}

/** Removes the base's failures, if the base was not run: known failures are then accepted as they are. */
export function withoutBase(request: GateRequest): GateRequest {
  return { ...request, atBase: { ...request.atBase, failing: null } };
}

/** Only fresh judgements: a result for other files does not count for these. */
function judgedBeside({ gates }: StoryState, gate: GateName): { readonly [G in GateName]?: Judgement } {
  const others = GATES.filter((name) => name !== gate && gates[name]?.fresh === true && gates[name].last !== null);
  return Object.fromEntries(others.map((name) => [name, gates[name]!.last!]));
}
