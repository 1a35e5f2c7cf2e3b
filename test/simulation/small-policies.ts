import { presetPolicy } from "../../src/config/presets.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import type { Policy, PresetName } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import type { Story } from "../../src/core/stories/story.ts";
import { fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import type { Explored, Options } from "./explore.ts";
import { ENGINE_DIED, recordedEvent } from "../kit/story-world.ts";
import { runsAll } from "../sampled.ts";

/** A preset with every limit at two, so that every way to a limit is short enough to walk. */
export function small(preset: PresetName): Policy {
  const policy = presetPolicy(preset);
  const two = Object.fromEntries(GATES.map((gate) => [gate, policy.limits.failures[gate] === null ? null : 2]));
  return {
    ...policy,
    limits: {
      ...policy.limits,
      failures: two as Policy["limits"]["failures"],
      iterations: policy.limits.failures.checks === null ? 3 : 30,
      perLocation: 2,
      errors: 2,
      inconclusives: 2,
      blocked: 2,
      agentFailures: 2,
      timeouts: 2,
      rateLimits: 2,
      refusals: 2,
      dependencyWaits: 2,
      targetMoves: 2,
      clarifications: 1,
      ciRetries: 1,
      remediations: 2,
    },
  };
}

/** The same where that is too long a walk for the test command: what gives no verdict ends at its first time. */
export function smaller(policy: Policy): Policy {
  const once = { errors: 1, inconclusives: 1, blocked: 1 };
  return runsAll ? policy : { ...policy, limits: { ...policy.limits, ...once } };
}

export function oneGate(change: Partial<Policy> = {}): Policy {
  return { ...small("critic-audit"), phases: [{ phase: "implement", gates: ["checks"] }], ...change };
}

export function createRun(policy: Policy, ...stories: Story[]): RunState {
  const set = recordedEvent(0, null, { type: "policy.set", policy, by: "test" });
  return fold(
    [set, ...stories.map((each) => recordedEvent(0, each.id, { type: "story.added", story: each }))],
    EMPTY_RUN,
  );
}

export function report(name: string, found: Explored): void {
  const { states, transitions, longestPath, endings } = found;
  console.log(
    `${name}: ${states} states, ${transitions} transitions, longest path ${longestPath}; endings ${JSON.stringify(endings)}`,
  );
}

/** Results of gates are all walked; agents that break are walked with one gate below, where it stays small. */
export const GATE_RESULTS: Options = {
  skip: (name, command) => {
    if (name === ENGINE_DIED || name.endsWith("still running")) return true;
    if (command.type === "start-gate") return / the same$| worse$| other tests$| does not load$| contested$/.test(name);
    if (command.type === "start-attempt") return name !== "ready";
    if (command.type === "find-blame") return !/^blame (?:culprit|environment|flaky)$/.test(name);
    return / broke$| blocked$/.test(name);
  },
};
