import type { RunPlan } from "../cli/host.ts";
import { treeId } from "../domain/ids.ts";
import type { Judgement } from "../domain/gate.ts";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { createEvidenceStore } from "../adapters/evidence/evidence-store.ts";
import { createInPlace } from "../adapters/git/in-place.ts";
import { gatesOf } from "./gates.ts";
import { stateFolder } from "./state-folder.ts";

/** Runs the checks on the checkout as it is, for whoever wants to know before anything starts. Nothing is journalled. */
export async function tryChecks(
  root: string,
  plan: Omit<RunPlan, "watcher">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Judgement> {
  const folder = stateFolder(root);
  const evidence = createEvidenceStore(folder.evidence);
  const workspace = createInPlace({ root, state: folder.path });
  const gate = gatesOf(plan, { evidence, clock: createSystemClock(), workspace, env }).get("checks")!;
  const { rules, timeoutMs } = { rules: plan.policy.gates.checks, timeoutMs: plan.policy.limits.timeoutMs.critic };
  const nowhere = { commit: "", base: "", previous: "", tree: treeId("") };
  return gate.judge(
    {
      story: plan.stories[0]!,
      phase: "implement",
      path: root,
      rules,
      timeoutMs,
      ...nowhere,
      stages: [],
      since: null,
      earlier: [],
      overturned: [],
      scope: null,
      preExisting: [],
    },
    { signal: new AbortController().signal, onOutput: () => undefined },
  );
}
