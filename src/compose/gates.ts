import type { RunPlan } from "../cli/host.ts";
import type { GateName } from "../domain/gate.ts";
import type { Clock } from "../ports/clock.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { Gate } from "../ports/gate.ts";
import type { Laboratory } from "../ports/laboratory.ts";
import type { Workspace } from "../ports/workspace.ts";
import { createChecksGate, type ChecksOptions } from "../adapters/gates/checks-gate.ts";
import { createMutationGate } from "../adapters/gates/mutation-gate.ts";
import { createTddGate } from "../adapters/gates/tdd-gate.ts";
import { withTestedWork } from "../adapters/gates/tested-work.ts";
import { createIntegrityGate } from "../adapters/gates/integrity-gate.ts";
import type { OwnPython } from "../adapters/git/own-python.ts";
import { checkVariablesOf } from "./check-variables.ts";
import { inCleanCheckout } from "./clean-gate.ts";
import { commandOf } from "./command-of.ts";
import { environmentWith } from "./own-python.ts";
import { domainGate, reviewerGates, type ReviewerParts } from "./reviewers.ts";

interface Parts {
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly workspace: Workspace;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Without it a Python imports what is installed, wherever that leads. */
  readonly python?: OwnPython;
  /** The tests that were seen to be flaky before. */
  readonly flakes?: ChecksOptions["flakes"];
  /** Where a state of the files can be tried; without it nothing is proven by trying. */
  readonly laboratory?: Laboratory;
  /** Where gates that run code run it; absent: where experiments are made, or else in the author's own folder. */
  readonly checkouts?: Laboratory;
  /** Without them there are only the gates that ask nobody. */
  readonly reviewers?: ReviewerParts;
}

/** The gates there are, as the config wants them. */
export function gatesOf(
  { config }: Pick<RunPlan, "config">,
  { evidence, clock, workspace, env, python, flakes, laboratory, checkouts = laboratory, reviewers }: Parts,
): ReadonlyMap<GateName, Gate> {
  const commands = config.gates.checks.commands.map(commandOf);
  const variables = checkVariablesOf(env, config);
  const seen = python === undefined ? variables.seen : environmentWith(variables.seen, python);
  const running = (gate: "checks" | "tdd", own: typeof commands): Gate => {
    const { reports, reruns, parallel, coverage } = config.gates[gate];
    const optional = { ...(flakes === undefined ? {} : { flakes }), ...(coverage === undefined ? {} : { coverage }) };
    const { environments } = config;
    const shared = { commands: own, environments, evidence, clock, workspace, env: seen };
    const tested = { workspace, laboratory: laboratory ?? null, testPaths: config.scope.testPaths };
    const checking = createChecksGate({ ...shared, reports, reruns, parallel, ...optional });
    return withTestedWork(inCleanCheckout(checking, checkouts), { ...tested, isTestDemandedElsewhere: gate === "tdd" });
  };
  const checks = running("checks", commands);
  const integrity = createIntegrityGate({
    workspace,
    evidence,
    clock,
    testPaths: config.scope.testPaths,
    commands: commands.map(({ run }) => run),
    rules: config.gates.integrity.rules,
    stories: config.stories,
  });
  const acceptance = config.gates.tdd.commands.map(commandOf);
  const mutation = createMutationGate({
    command: config.gates.mutation.commands.map((each) => commandOf(each).run)[0] ?? null,
    report: config.gates.mutation.report ?? "reports/mutation/mutation.json",
    threshold: config.gates.mutation.threshold ?? 100,
    testPaths: config.scope.testPaths,
    workspace,
    evidence,
    clock,
    env: seen,
  });
  return new Map<GateName, Gate>([
    ["integrity", integrity],
    ["checks", checks],
    [
      "tdd",
      createTddGate({
        tests: running("tdd", acceptance.length === 0 ? commands : acceptance),
        domain: reviewers === undefined ? null : domainGate(config, { ...reviewers, evidence, clock, workspace }),
        laboratory: laboratory ?? null,
        workspace,
        testPaths: config.scope.testPaths,
        clock,
      }),
    ],
    ["mutation", inCleanCheckout(mutation, checkouts)],
    ...(reviewers === undefined
      ? []
      : reviewerGates(config, { ...reviewers, evidence, clock, workspace, checks, commands })),
  ]);
}
