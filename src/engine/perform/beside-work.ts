import type { PreparedWorkspace } from "../../ports/workspace.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import type { EngineWorld } from "../world.ts";
import { RemandError } from "../../core/events/error.ts";
import { gateRequest } from "../gate-request.ts";

/**
 * Lets gates find out, while an agent works, what they will need to judge it. It ends with the agent's work: what is not
 * found by then is found by the gate itself, and so is what goes wrong here.
 */
export function startBesideWork(
  { gates }: Pick<EngineWorld, "gates">,
  state: StoryState,
  place: PreparedWorkspace,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): { end(): Promise<void> } {
  const over = new AbortController();
  const planned = new Set(state.policy?.phases.flatMap((plan) => plan.gates) ?? []);
  const control = { signal: AbortSignal.any([signal, over.signal]), onOutput: () => undefined };
  const isReady = state.attempts.length <= 1 && state.openBase === undefined && state.policy !== null;
  const under = [...gates.values()]
    .filter(({ name, prepare }) => isReady && prepare !== undefined && planned.has(name))
    .map(async (gate) => {
      const timeoutMs = state.policy!.limits.timeoutMs.critic;
      const asked = { gate: gate.name, tree: place.tree, stages: [], since: null, answer: [], timeoutMs, key };
      try {
        await gate.prepare!({ ...gateRequest(state, place, asked), commit: place.base }, control);
      } catch (error) {
        if (!(error instanceof RemandError) && !control.signal.aborted) throw error;
      }
    });
  const all = Promise.allSettled(under);
  return {
    async end() {
      over.abort();
      for (const each of await all) if (each.status === "rejected") throw each.reason;
    },
  };
}
