import type { RunPlan } from "../cli/host.ts";
import { treeId } from "../domain/ids.ts";
import type { Judgement } from "../domain/gate.ts";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { createInPlace } from "../adapters/git/in-place.ts";
import { gateRequest, withoutBase } from "../engine/gate-request.ts";
import { newStory } from "../policy/new-state.ts";
import { gatesOf } from "./gates.ts";
import { ownPythonOf } from "./own-python.ts";
import { projectEvidence } from "./project-evidence.ts";
import { stateFolder } from "./state-folder.ts";

/** Runs the checks on the checkout as it is, for whoever wants to know before anything starts. Nothing is journalled. */
export async function tryChecks(
  root: string,
  plan: Omit<RunPlan, "watcher">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Judgement> {
  const folder = stateFolder(root);
  const evidence = await projectEvidence(root, folder.evidence, plan.config, env);
  const workspace = createInPlace({ root, state: folder.path });
  const python = ownPythonOf(root, plan.config, env, (text) => plan.onNotice?.(text));
  const gate = gatesOf(plan, { evidence, clock: createSystemClock(), workspace, env, python }).get("checks")!;
  const { policy, stories } = plan;
  const state = { ...newStory(stories[0]!, 0, 0), policy };
  const place = { path: root, branch: "", tree: treeId(""), commit: "", base: "" };
  const command = {
    gate: "checks",
    tree: place.tree,
    stages: [],
    since: null,
    answer: [],
    timeoutMs: policy.limits.timeoutMs.critic,
    key: `${state.story.id}:0`,
  } as const;
  return gate.judge(withoutBase(gateRequest(state, place, command)), {
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });
}
