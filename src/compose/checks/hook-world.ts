import { createNodeFiles } from "../../adapters/files/node-files.ts";
import { createLocalQueue } from "../../adapters/queue/local-queue.ts";
import { createStoryPages } from "../../adapters/stories/story-pages.ts";
import type { StopPlan } from "../../app/host-plans.ts";
import { treeId } from "../../core/events/ids.ts";
import type { GateRules, Policy } from "../../core/events/policy.ts";
import type { GateName } from "../../core/gates/gate.ts";
import { withoutBase } from "../../engine/gate-request.ts";
import type { EngineWorld } from "../../engine/world.ts";
import { createAdjudicator } from "../../gates/review/adjudicator.ts";
import type { Gate } from "../../ports/gate.ts";
import type { EngineJournal } from "../../ports/journal.ts";
import type { RoleAgent } from "../../ports/agent.ts";
import type { KeptCommit, Workspace } from "../../ports/workspace.ts";
import { redactedRole } from "../agents/roles.ts";
import { detectiveOf } from "../engine-world.ts";
import { checkVariablesOf } from "./check-variables.ts";
import { NO_WATCHER, type openGates } from "./gate.ts";
import { environmentWith } from "./own-python.ts";

export type OpenedGates = Awaited<ReturnType<typeof openGates>>;

/**
 * What the engine works with inside a client: the files of the checkout as they are, which only the conversation
 * changes, and the conversation as the one agent.
 */
export function hookWorld(
  root: string,
  { config, policy }: StopPlan,
  env: Readonly<Record<string, string | undefined>>,
  opened: OpenedGates,
  journal: EngineJournal,
  conversation: RoleAgent,
): EngineWorld {
  const { gates, evidence, clock, sandboxes, python, checkouts, reviewers } = opened;
  const { nonce } = reviewers;
  const detective = detectiveOf(
    config,
    checkouts,
    environmentWith(checkVariablesOf(env, config).seen, python),
    sandboxes,
  );
  const timeMs = Math.min(detective.limits.timeMs, LONGEST_BLAME_MS);
  return {
    root,
    journal,
    clock,
    queue: createLocalQueue({ limits: { ...policy.concurrency, engine: 100 }, clock }),
    workspace: filesAsTheyAre(opened),
    pages: createStoryPages({ root, folder: config.stories, files: createNodeFiles() }),
    evidence,
    outbox: { put: async () => {}, get: async () => null, drop: async () => {} },
    gates: new Map([...gates].map(([name, gate]) => [name, withoutBaseRun(gate)])),
    roleRegistry: { agentFor: async () => redactedRole(conversation) },
    adjudicator: createAdjudicator({ roleRegistry: reviewers.roleRegistry, evidence, clock, nonce, checkouts }),
    integration: null,
    forge: null,
    fixLint: null,
    detective: { ...detective, limits: { ...detective.limits, timeMs } },
    watcher: NO_WATCHER,
    nonce,
  };
}

/** A person waits for the answer. */
const LONGEST_BLAME_MS = 120_000;

/** The checks do not run on the base first: a person waits. */
function withoutBaseRun({ baseline: _slow, ...gate }: Gate): Gate {
  return { ...gate, run: (request, control) => gate.run(withoutBase(request), control) };
}

/** The work is everything since the base. A person may be at work in the same files, so none of them is written. */
function filesAsTheyAre({ place, workspace }: OpenedGates): Workspace {
  const { path, tree, commit, base } = place;
  const kept = async (): Promise<KeptCommit> => ({ tree, commit });
  return {
    ...workspace,
    prepare: async () => ({ path, branch: "", tree: treeId(base), commit, base }),
    keep: kept,
    adopt: kept,
    currentState: kept,
    restore: kept,
    restorePaths: kept,
    forget: async () => {},
    dispose: async () => {},
  };
}

/** The rules of the config, as far as they apply where a person watches and the agent is theirs. */
export function hookPolicy(policy: Policy, gates: readonly GateName[], mayRework: boolean): Policy {
  // A failure without a known cause may go back to the agent that has just worked.
  const inside = (rules: GateRules): GateRules => ({
    ...rules,
    onUnexplained: "send-back",
    blame: rules.blame && mayRework,
  });
  return {
    ...policy,
    // A person who installed the hook has allowed rework by it.
    autonomy: mayRework ? (policy.autonomy === "conservative" ? "standard" : policy.autonomy) : "conservative",
    onExhausted: "manual",
    deliver: "branch",
    scope: { ...policy.scope, outside: "send-back" },
    // A gate that broke is not run again while a person waits, and nothing repairs their machine.
    limits: { ...policy.limits, errors: 1, inconclusives: 1, remediations: 0 },
    phases: [{ phase: "implement", gates }],
    gates: Object.fromEntries(
      Object.entries(policy.gates).map(([name, rules]) => [name, inside(rules)]),
    ) as Policy["gates"],
  };
}
