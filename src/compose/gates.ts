import type { RunPlan } from "../cli/host.ts";
import type { GateName } from "../domain/gate.ts";
import type { Clock } from "../ports/clock.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { Gate } from "../ports/gate.ts";
import type { Workspace } from "../ports/workspace.ts";
import { createChecksGate, type ChecksOptions } from "../adapters/gates/checks-gate.ts";
import { createIntegrityGate } from "../adapters/gates/integrity-gate.ts";
import { allowedEnvironment } from "../adapters/process/environment.ts";
import { COOKIE_VARIABLE } from "../adapters/process/leftovers.ts";
import { commandOf } from "./command-of.ts";
import { reviewerGates, type ReviewerParts } from "./reviewers.ts";

interface Parts {
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly workspace: Workspace;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The tests that were seen to be flaky before. */
  readonly flakes?: ChecksOptions["flakes"];
  /** Without them there are only the gates that ask nobody. */
  readonly reviewers?: ReviewerParts;
}

/** The gates there are, as the config wants them. */
export function gatesOf(
  { config }: Pick<RunPlan, "config">,
  { evidence, clock, workspace, env, flakes, reviewers }: Parts,
): ReadonlyMap<GateName, Gate> {
  const commands = config.gates.checks.commands.map(commandOf);
  const checks = createChecksGate({
    commands,
    environments: config.environments,
    evidence,
    clock,
    env: allowedEnvironment(env, [...config.env, COOKIE_VARIABLE]),
    // Where the check is the goal, what is red at the start is not done yet; elsewhere it is not the story's.
    target: config.preset === "goal",
    reports: config.gates.checks.reports,
    reruns: config.gates.checks.reruns,
    parallel: config.gates.checks.parallel,
    ...(flakes === undefined ? {} : { flakes }),
    ...(config.gates.checks.coverage === undefined ? {} : { coverage: config.gates.checks.coverage }),
  });
  const integrity = createIntegrityGate({
    workspace,
    evidence,
    clock,
    testPaths: config.scope.testPaths,
    commands: commands.map(({ run }) => run),
    rules: config.gates.integrity.rules,
  });
  return new Map<GateName, Gate>([
    ["integrity", integrity],
    ["checks", checks],
    ...(reviewers === undefined
      ? []
      : reviewerGates(config, { ...reviewers, evidence, clock, workspace, checks, commands })),
  ]);
}
