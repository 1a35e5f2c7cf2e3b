import { entries } from "../../src/stdx/sorted-map.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import type { GateState, StoryState } from "../../src/core/stories/story-state.ts";

/**
 * A state without what cannot change the future: times, texts, numbers of events, the names of trees. Two states
 * with the same key behave alike from then on, so one of them is enough to walk.
 */
export function keyOf(run: RunState): string {
  const stories: unknown[] = [];
  for (const [id, state] of entries(run.stories)) stories.push([id, storyKey(state)]);
  const { remediation } = run;
  return JSON.stringify([
    stories,
    remediation === null ? null : [remediation.stage, remediation.tries],
    run.escalation?.reason.type ?? null,
    run.halted !== null,
    run.policy?.limits.run.actions == null ? null : (run.actions ?? 0),
  ]);
}

function storyKey(state: StoryState): unknown {
  const { running, counters, failing, rework, escalation } = state;
  return [
    state.ending?.how ?? null,
    state.policy !== null,
    state.tree !== null,
    [
      state.openBase !== undefined,
      state.preExisting,
      state.flakyAtBase ?? null,
      (state.known ?? []).map(({ test }) => test),
      state.targets ?? [],
    ],
    (state.licensed ?? []).map(({ test }) => test),
    state.phase,
    state.completed,
    running === null
      ? null
      : [
          running.type,
          running.resumed ?? false,
          running.type === "attempt" ? running.unclear : running.type === "gate" ? running.gate : running.step,
        ],
    state.productReady,
    GATES.map((name) => (state.gates[name] === undefined ? 0 : gateKey(state.gates[name], state, name))),
    failing === null ? null : [failing.gate, failing.blame?.verdict ?? null, failing.approved, failing.restored],
    rework === null ? null : [rework.gate, rework.route],
    state.requested?.phase ?? null,
    state.wait?.type ?? null,
    escalation === null ? null : [escalation.reason, escalation.gate],
    state.disputes.map((dispute) => [dispute.finding, dispute.standing, dispute.isAnswer ?? false]),
    state.waivers.map((waiver) => [
      waiver.gate,
      waiver.findings,
      waiver.tree === null ? null : waiver.tree === state.tree,
    ]),
    [
      counters.attempts,
      counters.agentFailures,
      counters.timeouts,
      counters.rateLimits,
      counters.refusals,
      counters.dependencyWaits,
    ],
    [
      counters.blocked,
      counters.unchanged,
      counters.stepFailures,
      counters.engineDeaths ?? null,
      counters.targetMoves ?? 0,
      counters.approvedRetry,
      counters.missing,
      counters.lastFailure?.type ?? null,
    ],
    counters.lastFailure?.type === "incomplete" ? counters.lastFailure.category : null,
    Object.entries(state.locations).map(([place, record]) => [place, record.sincePass]),
    state.watched,
    treesKey(state),
    state.raised,
    state.grace,
    state.held,
    state.delivered !== null,
    state.delivery ?? null,
    state.adopting !== undefined,
    state.adoptsBranch === true && state.story.branch !== undefined,
  ];
}

/** Trees have no names, only sameness. Where all are different, how many there are (up to three) says everything. */
function treesKey(state: StoryState): unknown {
  const names = [...new Set(state.trees)];
  return names.length === state.trees.length
    ? Math.min(names.length, 3)
    : state.trees.map((tree) => names.indexOf(tree));
}

function gateKey(gate: GateState, state: StoryState, name: string): unknown {
  const { last } = gate;
  // What was said of a tree that is gone decides nothing; only the counts do.
  const matters = gate.fresh || state.failing?.gate === name;
  return [
    last === null || !matters
      ? null
      : [
          last.result,
          last.ciClass ?? null,
          last.tddPhase ?? null,
          last.blocking,
          (last.contested ?? []).map(({ test }) => test),
        ],
    gate.fresh,
    gate.failures,
    gate.errors,
    gate.inconclusives,
    gate.flaky.length > 0,
    gate.ciRetries,
    gate.lintFixed,
    // A round of tests after a pass is compared with none before it.
    gate.rounds.some((round) => round.identities !== undefined) && last?.result === "pass",
    gate.rounds.map((round) => [
      round.tree === state.tree,
      round.failure,
      round.findings,
      round.identities ?? null,
      round.afterPass === true,
    ]),
    gate.overturned,
    gate.upheld.map(({ finding }) => finding),
  ];
}
