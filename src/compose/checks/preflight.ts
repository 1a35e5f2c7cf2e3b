import type { Probe } from "../../app/host.ts";
import type { Preflight, PreflightPlan } from "../../app/host-plans.ts";
import { matchesTest } from "../../core/gates/base-failures.ts";
import { storyId } from "../../core/events/ids.ts";
import { bareStory } from "../../core/stories/story.ts";
import { gateRequest, withoutBase } from "../../engine/gate-request.ts";
import { baseTrouble, endedWithin } from "../../engine/perform/base.ts";
import type { Baseline } from "../../ports/gate.ts";
import type { ExperimentRunner } from "../../ports/experiment-runner.ts";
import { newStory } from "../../fold/new-state.ts";
import { createSystemClock } from "../../adapters/clock/system-clock.ts";
import { type GatedCheckout, openGatedCheckout } from "../../adapters/git/checkout/gated-checkout.ts";
import { createExperimentRunner } from "../../adapters/git/experiment-runner.ts";
import { userStateFolder } from "../../adapters/git/repository.ts";
import { type WorkStarter, createWorkStarter } from "../../adapters/git/dependencies/work-start.ts";
import { createWorktrees } from "../../adapters/git/worktree/worktrees.ts";
import { workspaceOptions, privateHomeOf } from "../workspaces.ts";
import { projectEvidence } from "../project-evidence.ts";
import { stateFolder } from "../state-folder.ts";
import { baseWaitMs, checksKey, createKeptBaseRuns, keepBaseRun } from "./base-runs.ts";
import { checkProblems, loadProblems } from "./check-problems.ts";
import { checkVariablesOf } from "./check-variables.ts";
import { normalizeCommand } from "../../config/normalize-command.ts";
import { ownPythonOf } from "./own-python.ts";
import { gatesOf } from "./gates.ts";
import type { Sandboxes } from "../../adapters/sandbox/open-sandboxes.ts";
import { sandboxesOf } from "../sandboxes.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** Tests whether the checks can run, before an agent is paid. Appends nothing to the journal. */
export async function preflight(root: string, plan: PreflightPlan, env: EnvVariables): Promise<Preflight> {
  const { config } = plan;
  const { seen } = checkVariablesOf(env, config);
  const isElsewhere = plan.at !== "files";
  // Programs that a wrapper starts in a container or on another machine cannot be looked up here.
  const commands =
    Object.keys(config.environments).length > 0
      ? []
      : config.gates.checks.commands.map((each) => normalizeCommand(each).run);
  const place = { root, env: seen, isElsewhere, hasSetup: config.workspace.setup !== null };
  const problems = await checkProblems(commands, place);
  if (problems.length === 0 && plan.isLoaded === true)
    return { problems: await loadProblems(commands, place), isGreen: false, summary: "", variables: [] };
  if (problems.length > 0 || !plan.isRun || config.gates.checks.commands.length === 0)
    return { problems, isGreen: false, summary: "", variables: [] };
  const limits = [plan.policy.limits.story.timeMs, plan.policy.limits.run.timeMs].filter((each) => each !== null);
  const signal = AbortSignal.any([
    ...(plan.signal === undefined ? [] : [plan.signal]),
    ...(limits.length === 0 ? [] : [AbortSignal.timeout(Math.min(...limits))]),
  ]);
  const given = await tryChecks(root, plan, env, signal).catch((error: unknown) => {
    if (signal.aborted) return UNKNOWN;
    throw error;
  });
  // If the checks take longer than the work may, the engine ends them by its own rules.
  return signal.aborted ? UNKNOWN : given;
}

const UNKNOWN: Preflight = { problems: [], isGreen: false, summary: "", variables: [] };

/** Runs the checks on the base once, as the engine would. */
async function tryChecks(
  root: string,
  plan: PreflightPlan,
  env: EnvVariables,
  signal: AbortSignal,
): Promise<Preflight> {
  const { config, at } = plan;
  const folder = stateFolder(root);
  const onNotice = (text: string): void => plan.onNotice?.(text);
  const userState = userStateFolder(env);
  const sandboxes = await sandboxesOf(root, config, env, onNotice);
  const { shownAt } = sandboxes;
  const options = { ...workspaceOptions(root, folder, plan, env, sandboxes), userState, signal };
  const start = createWorkStarter(root, {
    ...options,
    ...privateHomeOf(env),
    onNotice: (text) => (plan.onProgress ?? onNotice)(text),
  });
  const place = await openGatedCheckout({
    ...options,
    at: at === "files" ? null : "HEAD",
    base: null,
    shownAt,
    start: () => start.now(),
  });
  const about = {
    root,
    plan,
    env,
    signal,
    start,
    place,
    sandboxes,
    checkouts: createExperimentRunner({ ...options, shownAt, start: () => start.now() }),
  };
  let isOver = false;
  const look: Promise<Baseline> = lookAtBase(about, { isOver: () => isOver, self: () => look });
  const seen = plan.isFresh === true ? await look : await endedWithin(createSystemClock(), baseWaitMs(config), look);
  isOver = true;
  return seen === null ? UNKNOWN : reportOn(seen, config);
}

interface BaseContext {
  readonly root: string;
  readonly plan: PreflightPlan;
  readonly env: EnvVariables;
  readonly signal: AbortSignal;
  readonly start: WorkStarter;
  readonly place: GatedCheckout;
  readonly sandboxes: Sandboxes;
  readonly checkouts: ExperimentRunner;
}

/** The running preflight, which the engine may take over before it has ended. */
interface ProbeControl {
  isOver(): boolean;
  self(): Promise<Baseline>;
}

async function lookAtBase(about: BaseContext, { isOver, self }: ProbeControl): Promise<Baseline> {
  const { root, plan, env, signal, start, place, sandboxes, checkouts } = about;
  const { config } = plan;
  const folder = stateFolder(root);
  const checks = checksKey(config, env);
  try {
    const evidence = await projectEvidence(root, folder.evidence, config, env);
    const packages = (await (await start.now()).dependencies.source()).root;
    const kept = createKeptBaseRuns(userStateFolder(env), (id) => evidence.read(id));
    // A run with the user's own HOME says nothing about a run with another HOME.
    const key = async () => ({ tree: place.tree, checks: `${checks} ${await start.notes.isReal()}`, packages });
    const known = plan.isFresh === true ? null : await kept.find(await key());
    if (known !== null) {
      keepBaseRun(checks, place.tree, self());
      return known;
    }
    const gates = gatesOf(plan, {
      evidence,
      clock: createSystemClock(),
      workspace: createWorktrees({ root, state: folder.path }),
      env,
      sandboxes,
      python: ownPythonOf(root, config, env, sandboxes, (text) => plan.onNotice?.(text)),
      state: folder.path,
      start,
      checkouts,
    });
    const control = { signal, onOutput: () => undefined, isWorkUnderWay: isOver };
    const running = gates.get("checks")!.baseline!(requestFor(plan, place), control);
    // Not before it runs, because the gate itself would wait for it.
    keepBaseRun(checks, place.tree, self());
    const run = await running;
    if (!signal.aborted) await kept.keep(await key(), run);
    return run;
  } finally {
    await start.close();
    await place.close();
  }
}

function reportOn(seen: Baseline, config: PreflightPlan["config"]): Preflight {
  const trouble = baseTrouble(seen);
  const { failing, summary = "", needsVariables: variables = [] } = seen;
  // Known failures are not part of the task.
  const isKnown = (name: string): boolean => config.knownFailures.some(({ test }) => matchesTest(name, test));
  const isGreen = seen.isGreen === true || (trouble === null && failing.length > 0 && failing.every(isKnown));
  const problems: Probe[] =
    trouble === null ? [] : [{ name: "checks", ok: false, detail: trouble.message, fix: trouble.hint }];
  return { problems, isGreen, summary, variables };
}

function requestFor({ policy, stories = [] }: PreflightPlan, place: GatedCheckout) {
  const story = stories[0] ?? bareStory(storyId("preflight"), "The checks", { kind: "preflight" });
  const state = { ...newStory(story, 0, 0), policy, commit: place.commit };
  const command = {
    gate: "checks",
    tree: place.tree,
    stages: [],
    since: null,
    answer: [],
    timeoutMs: policy.limits.timeoutMs.critic,
    key: `${story.id}:0`,
  } as const;
  return withoutBase(gateRequest(state, { ...place, branch: "" }, command));
}
