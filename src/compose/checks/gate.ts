import { randomBytes } from "node:crypto";
import type { GatePlan } from "../../app/host.ts";
import { rolesOfGate, whoPlays } from "../../app/agent-spec.ts";
import { RemandError } from "../../core/events/error.ts";
import { type GateName, type Judgement, errorJudgement, gatesThat, timeLimitRole } from "../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import type { GateReport, JudgedState, SkippedGate } from "../../core/gates/gate-report.ts";
import { storyId } from "../../core/events/ids.ts";
import { bareStory } from "../../core/stories/story.ts";
import { gateRequest, withoutBase } from "../../engine/gate-request.ts";
import { UNJUDGED, newStory } from "../../fold/new-state.ts";
import type { Gate } from "../../ports/gate.ts";
import { createSystemClock } from "../../adapters/clock/system-clock.ts";
import { type GatedCheckout, openGatedCheckout } from "../../adapters/git/checkout/gated-checkout.ts";
import { createExperimentRunner } from "../../adapters/git/experiment-runner.ts";
import { userStateFolder } from "../../adapters/git/repository.ts";
import { createWorktrees } from "../../adapters/git/worktree/worktrees.ts";
import { workspaceOptions } from "../workspaces.ts";
import { projectEvidence } from "../project-evidence.ts";
import { roleRegistryOf } from "../agents/roles.ts";
import { stateFolder } from "../state-folder.ts";
import { checkVariablesOf, namedIn } from "./check-variables.ts";
import { gatesOf, practicesOf } from "./gates.ts";
import { ownerRulesAt, recordedLicenses, withOwnerLicenses } from "./licenses.ts";
import { ownPythonOf } from "./own-python.ts";
import { hiddenPartsForGate } from "../hidden-files.ts";
import { isAgentIn } from "../journal/author.ts";
import { sandboxesOf } from "../sandboxes.ts";

/** Runs gates on the files as they are, or on a commit, without an agent and without the journal. */
export async function gate(
  root: string,
  plan: GatePlan,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GateReport> {
  const { pullRequest, signal } = plan;
  const { place, gates, workspace, clock, isHeldToBase, onNotice } = await openGates(root, plan, env);
  try {
    const isSame = (await workspace.changedPaths(PLAIN_WORK.id, place.base, place.tree)).length === 0;
    const rules = pullRequest === undefined ? null : await ownerRulesAt(place.base, workspace);
    const recorded = isHeldToBase ? await recordedLicenses(root, place, onNotice) : [];
    const testsMayChange = [...(plan.testsMayChange ?? []), ...recorded.map(({ test }) => test)];
    const seen = await runGates({ ...plan, testsMayChange }, gates, place, isSame);
    const report =
      pullRequest === undefined
        ? seen
        : await withOwnerLicenses(seen, { root, pullRequest, rules, env, clock, workspace, signal });
    await mentionWithheld(report, plan, place.path, env);
    return report;
  } finally {
    await place.close();
  }
}

/** Opens the files to judge, and the gates with their environment. The caller closes `place`. */
export async function openGates(
  root: string,
  plan: GatePlan,
  env: Readonly<Record<string, string | undefined>>,
  /**
   * `quick`: does not run the base's tests on the work, because a person waits for the answer. `since`: the commit of
   * the files as they were when the work started, unless git has removed it.
   */
  { quick = false, since = null }: { readonly quick?: boolean; readonly since?: string | null } = {},
) {
  const folder = stateFolder(root);
  const clock = createSystemClock();
  const { at, base, signal } = plan;
  const onNotice = (text: string): void => plan.onNotice(text);
  const sandboxes = await sandboxesOf(root, plan.config, env, onNotice);
  const python = ownPythonOf(root, plan.config, env, sandboxes, onNotice);
  const files = { ...workspaceOptions(root, folder, plan, env, sandboxes), userState: userStateFolder(env) };
  const place = await openGatedCheckout({ ...files, ...sourceBranchIn(env), at, base, since, signal });
  try {
    const evidence = await projectEvidence(root, folder.evidence, plan.config, env);
    // Only used to ask what changed: all worktrees of a repository share their objects.
    const workspace = createWorktrees({ root, state: folder.path });
    const reviewers = {
      roleRegistry: await roleRegistryOf(
        root,
        { ...plan, stories: [], place: "worktrees", agentCommand: null, watcher: NO_WATCHER },
        { clock, env, python, sandboxes },
      ),
      practices: await practicesOf(root, plan.config),
      nonce: () => randomBytes(12).toString("hex"),
    };
    // Without a commit there are no base tests, and without a gate that runs tests they are not needed.
    const isHeldToBase = !quick && place.commit !== "" && plan.gates.some((name) => RUN_TESTS.has(name));
    const checkouts = createExperimentRunner(files);
    const held = isHeldToBase ? { experimentRunner: checkouts } : {};
    const isAsked = !quick && plan.isForAgent !== true && !(await isAgentIn(root, env));
    const hidden = isAsked ? await hiddenPartsForGate(root, plan.config, env, sandboxes, onNotice) : null;
    const parts = { evidence, clock, workspace, env, sandboxes, python, checkouts, reviewers, hidden, ...held };
    const gates = gatesOf(plan, parts);
    return {
      place,
      gates,
      evidence,
      workspace,
      clock,
      sandboxes,
      python,
      checkouts,
      reviewers,
      isHeldToBase,
      onNotice,
    };
  } catch (error) {
    await place.close();
    throw error;
  }
}

/** The branch that a CI service checked out, if its variables name it. */
function sourceBranchIn(env: Readonly<Record<string, string | undefined>>): { readonly sourceBranch?: string } {
  const source = env["GITHUB_HEAD_REF"] ?? env["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"];
  return source === undefined ? {} : { sourceBranch: source };
}

const RUN_TESTS = new Set(gatesThat(({ runsTests }) => runsTests));

/** Mentions withheld variables that failed checks may have needed: only those that a file of the project names. */
export async function mentionWithheld(
  { judgements }: Pick<GateReport, "judgements">,
  { config, onNotice, signal }: GatePlan,
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const withheld = Object.keys(checkVariablesOf(env, config).withheld).toSorted();
  const isPassed = judgements.every(({ gate: name, result }) => !RUN_TESTS.has(name) || result === "pass");
  if (isPassed || withheld.length === 0 || signal.aborted) return;
  const named = await namedIn(path, withheld);
  if (named.length === 0) return;
  onNotice(
    `withheld from the checks, because ${named.length === 1 ? "its name looks like a secret" : "their names look like secrets"}: ${named.join(", ")}. If a check needs ${named.length === 1 ? "it" : "them"}: env: [${named.join(", ")}] in ~/.config/remand/config.yaml or remand.yaml.`,
  );
}

export const NO_WATCHER = { onLines: () => undefined, onOutput: () => undefined };

async function runGates(
  plan: GatePlan,
  gates: ReadonlyMap<GateName, Gate>,
  place: GatedCheckout,
  isSame: boolean,
): Promise<GateReport> {
  const judgements: Judgement[] = [];
  const skipped: SkippedGate[] = [];
  for (const name of plan.gates) {
    if (plan.signal.aborted) break;
    const why = inability(plan, name, gates) ?? needlessness(plan, name, judgements, place, isSame);
    if (why === null) judgements.push(await judgement(plan, gates.get(name)!, place, judgements));
    else skipped.push({ gate: name, why });
  }
  return { judged: stateOf(place), judgements, skipped };
}

/** Why a gate cannot run here. A gate that was named must be able to. */
export function inability(plan: GatePlan, name: GateName, gates: ReadonlyMap<GateName, Gate>): string | null {
  const missing = rolesOfGate(plan.policy, name).filter(
    (role) => !Object.hasOwn(plan.agents ?? {}, role) && whoPlays(plan.config, role) === null,
  );
  const why = !gates.has(name)
    ? "nothing here can run it by itself"
    : missing.length > 0
      ? `no agent plays ${missing.join(" or ")}`
      : null;
  if (why === null || !plan.isNamed) return why;
  const hint =
    missing.length > 0
      ? `Say who does: agents: { ${missing[0]}: { use: command, command: ./my-agent.sh } }`
      : `Name others of the configured gates: ${plan.gates.filter((each) => gates.has(each)).join(", ") || [...gates.keys()].join(", ")}.`;
  throw new RemandError("usage", `the ${name} gate cannot run: ${why}`, hint);
}

/** Why a gate has nothing to judge, or need not be asked. */
function needlessness(
  plan: GatePlan,
  name: GateName,
  before: readonly Judgement[],
  { baseName }: GatedCheckout,
  isSame: boolean,
): string | null {
  if (GATE_REGISTRY[name].refusesByRule && isSame) return `nothing differs from ${baseName}`;
  const failed = before.find(({ result }) => result !== "pass");
  if (plan.all || failed === undefined || rolesOfGate(plan.policy, name).length === 0) return null;
  return `${failed.gate} did not pass (--all runs it anyway)`;
}

/** Runs a gate. A gate that breaks has the result `error`, which is never a failure of the work. */
async function judgement(
  plan: GatePlan,
  gate: Gate,
  place: GatedCheckout,
  before: readonly Judgement[],
): Promise<Judgement> {
  const { policy, signal, testsMayChange = [] } = plan;
  const own = plan.story ?? PLAIN_WORK;
  const story = { ...own, tests: [...(own.tests ?? []), ...testsMayChange] };
  const beside = before.map((each) => [each.gate, { ...UNJUDGED, last: each, fresh: true }]);
  const state = { ...newStory(story, 0, 0), policy, commit: place.commit, gates: Object.fromEntries(beside) };
  const command = {
    gate: gate.name,
    tree: place.tree,
    stages: policy.gates[gate.name].stages,
    since: null,
    answer: [],
    timeoutMs: policy.limits.timeoutMs[timeLimitRole(gate.name)],
    key: `${story.id}:0`,
  };
  const asked = withoutBase(gateRequest(state, { ...place, branch: "" }, command));
  const request = place.workedIn === undefined ? asked : { ...asked, workedIn: place.workedIn };
  try {
    return await gate.run(request, { signal, onOutput: (text) => plan.onOutput(gate.name, text) });
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    return errorJudgement(gate.name, place.tree, `${gate.name}: ${error.message} — ${error.hint}`);
  }
}

function stateOf({ at, commit, tree, base, baseName, folder, attemptOf }: GatedCheckout): JudgedState {
  return { at, commit, tree, base, baseName, folder, ...(attemptOf === undefined ? {} : { attemptOf }) };
}

/** Work that belongs to no story. */
const PLAIN_WORK = bareStory(storyId("gate"), "The work as it is", { kind: "gate" });
