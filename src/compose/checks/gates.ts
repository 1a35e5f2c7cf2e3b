import type { RunPlan } from "../../app/host.ts";
import type { GateName } from "../../core/gates/gate.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate } from "../../ports/gate.ts";
import type { ExperimentRunner } from "../../ports/experiment-runner.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { type ChecksOptions, createChecksGate } from "../../gates/checks/checks-gate.ts";
import type { CheckCommand } from "../../gates/checks/run-check.ts";
import { createMutationGate } from "../../gates/mutation/mutation-gate.ts";
import { createTddGate } from "../../gates/tdd/tdd-gate.ts";
import { selectCommands } from "../../gates/pinned/selected-tests.ts";
import { withTestedWork } from "../../gates/pinned/tested-work.ts";
import { createIntegrityGate } from "../../gates/integrity/integrity-gate.ts";
import type { WorkStarter } from "../../adapters/git/dependencies/work-start.ts";
import type { OwnPython } from "../../adapters/git/python/own-python.ts";
import type { Environment, EnvironmentIn } from "../../adapters/process/environment.ts";
import { checksAtBase } from "./base-runs.ts";
import { checkVariablesOf } from "./check-variables.ts";
import { inCleanCheckout } from "./clean-gate.ts";
import { commandOf, environmentWith } from "./own-python.ts";
import { withDecidingHome } from "./deciding-variables.ts";
import { type ReviewerParts, domainGate, reviewerGates } from "./reviewers.ts";

interface Parts {
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly workspace: Workspace;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Without it a Python imports what is installed, wherever that leads. */
  readonly python?: OwnPython;
  /** The tests that were seen to be flaky before. */
  readonly flakes?: ChecksOptions["flakes"];
  /** Where the base's tests are tried with the work; without it nothing is proven by trying. */
  readonly experimentRunner?: ExperimentRunner;
  /** Where gates that run code run it; absent: where experiments are made, or else in the author's own folder. */
  readonly checkouts?: ExperimentRunner;
  /** How things were before an agent worked: with it, checks get a HOME of their own. */
  readonly start?: WorkStarter;
  /** Remand's own folder. With it, a red base is also tried with the variables that are withheld. */
  readonly state?: string;
  /** Without them there are only the gates that need no reviewer. */
  readonly reviewers?: ReviewerParts;
}

/** The gates there are, as the config wants them. */
export function gatesOf(
  { config, force }: Pick<RunPlan, "config" | "force">,
  parts: Parts,
): ReadonlyMap<GateName, Gate> {
  const { evidence, clock, workspace, env, python, flakes, experimentRunner, reviewers, state, start } = parts;
  const { checkouts = experimentRunner } = parts;
  const commands = config.gates.checks.commands.map(commandOf);
  const { testPaths } = config.scope;
  const variables = checkVariablesOf(env, config);
  const withPython = (own: Environment, home?: "real") =>
    python === undefined ? own : environmentWith(own, python, start, home);
  const seen = withPython(variables.seen);
  const { oracle, product } = config;
  const running = (gate: "checks" | "tdd", own: typeof commands, visible: EnvironmentIn = seen): Gate =>
    inCleanCheckout(
      suiteGate(
        config,
        config.gates[gate],
        { evidence, clock, workspace, env: visible, flakes, experimentRunner },
        own,
        gate === "tdd",
      ),
      checkouts,
      { testPaths, oracle, product },
    );
  const visibleWith = (names: readonly string[]): EnvironmentIn =>
    withPython(checkVariablesOf(env, { env: [...config.env, ...names] }).seen);
  const checks = decidedChecks(config, {
    plain: running("checks", commands),
    withVariables: (names) => running("checks", commands, visibleWith(names)),
    withRealHome: running("checks", commands, withPython(variables.seen, "real")),
    env,
    start,
    state: force === true ? null : (state ?? null),
  });
  const integrity = integrityGate(config, { workspace, evidence, clock }, experimentRunner !== undefined);
  const acceptance = config.gates.tdd.commands.map(commandOf);
  return new Map<GateName, Gate>([
    ["integrity", integrity],
    ["checks", checks],
    [
      "tdd",
      createTddGate({
        tests: running("tdd", acceptance.length === 0 ? commands : acceptance),
        domain:
          reviewers === undefined ? null : domainGate(config, { ...reviewers, evidence, clock, workspace, checkouts }),
        experimentRunner: experimentRunner ?? null,
        workspace,
        testPaths,
        clock,
      }),
    ],
    ["mutation", inCleanCheckout(mutationGate(config, { evidence, clock, workspace, env: seen }), checkouts)],
    ...(reviewers === undefined
      ? []
      : reviewerGates(config, { ...reviewers, evidence, clock, workspace, checkouts, checks, commands })),
  ]);
}

/** The checks with what is decided on the base: which HOME they need, and which variables. */
function decidedChecks(
  config: RunPlan["config"],
  {
    plain,
    withVariables,
    withRealHome,
    env,
    start,
    state,
  }: {
    readonly plain: Gate;
    withVariables(names: readonly string[]): Gate;
    readonly withRealHome: Gate;
    readonly env: Parts["env"];
    readonly start: WorkStarter | undefined;
    /** `null`: work is started whatever the base says. */
    readonly state: string | null;
  },
): Gate {
  const commands = config.gates.checks.commands.map((each) => commandOf(each).run);
  const inHome =
    start === undefined || state === null ? plain : withDecidingHome(plain, { start, withRealHome, commands });
  return checksAtBase(inHome, { config, env, checksWith: withVariables, state });
}

function integrityGate(
  config: RunPlan["config"],
  parts: Pick<Parts, "workspace" | "evidence" | "clock">,
  runsBaseTests: boolean,
): Gate {
  return createIntegrityGate({
    ...parts,
    testPaths: config.scope.testPaths,
    commands: config.gates.checks.commands.map((each) => commandOf(each).run),
    rules: config.gates.integrity.rules,
    runsBaseTests,
    stories: config.stories,
  });
}

interface SuiteParts extends Pick<Parts, "evidence" | "clock" | "workspace"> {
  readonly env: ChecksOptions["env"];
  readonly flakes: Parts["flakes"] | undefined;
  readonly experimentRunner: ExperimentRunner | undefined;
}

/** A gate that runs commands, and holds the work to the tests of the base. */
function suiteGate(
  { environments, scope, oracle, product }: RunPlan["config"],
  { reports, reruns, parallel, coverage, reset }: RunPlan["config"]["gates"]["checks"],
  { evidence, clock, workspace, env, flakes, experimentRunner }: SuiteParts,
  commands: readonly CheckCommand[],
  isTestDemandedElsewhere: boolean,
): Gate {
  const optional = { ...(flakes === undefined ? {} : { flakes }), ...(coverage === undefined ? {} : { coverage }) };
  const resets = reset === undefined ? {} : { reset };
  const shared = { commands, environments, evidence, clock, workspace, env, ...resets };
  const { testPaths } = scope;
  return withTestedWork(createChecksGate({ ...shared, reports, reruns, parallel, ...optional }), {
    selectTests(files, packageFile) {
      const selected = selectCommands(commands, files, packageFile);
      return selected.length === 0 ? null : createChecksGate({ ...shared, commands: selected, reruns });
    },
    workspace,
    evidence,
    experimentRunner: experimentRunner ?? null,
    testPaths,
    oracle,
    product,
    isTestDemandedElsewhere,
    commands: commands.map(({ run }) => run),
  });
}

function mutationGate(
  config: RunPlan["config"],
  { evidence, clock, workspace, env }: Pick<SuiteParts, "evidence" | "clock" | "workspace" | "env">,
): Gate {
  return createMutationGate({
    command: config.gates.mutation.commands.map((each) => commandOf(each).run)[0] ?? null,
    report: config.gates.mutation.report ?? "reports/mutation/mutation.json",
    threshold: config.gates.mutation.threshold ?? 100,
    testPaths: config.scope.testPaths,
    workspace,
    evidence,
    clock,
    env,
  });
}
