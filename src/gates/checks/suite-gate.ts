import type { GateName } from "../../core/gates/gate.ts";
import type { EnvironmentIn } from "../../adapters/process/environment.ts";
import type { Gate } from "../../ports/gate.ts";
import { inCleanCheckout } from "../clean-gate.ts";
import type { CreateGate, GateParts, GateSettings } from "../gate-parts.ts";
import { selectCommands } from "../pinned/selected-tests.ts";
import { withTestedWork } from "../pinned/tested-work.ts";
import type { BaseFaultStore, FaultOptions } from "../pinned/pinned-run.ts";
import { type ChecksOptions, createChecksGate } from "./checks-gate.ts";
import { withHiddenChecks } from "./hidden-checks.ts";
import type { CheckCommand } from "./run-check.ts";

export const checksGate: CreateGate = (settings, parts) =>
  parts.decideEnvironment((env, sandbox) => {
    const suite = { gate: "checks", commands: settings.gates.checks.commands } as const;
    const own = { ...parts, env, sandbox };
    return withHiddenSuite(suiteGate(settings, own, suite), settings, own, suite);
  });

interface Suite {
  /** The gate whose settings apply. */
  readonly gate: GateName;
  readonly commands: readonly CheckCommand[];
  /** Whether another part of the gate already requires a test for the work. */
  readonly isTestDemandedElsewhere?: boolean;
  /** Without planted faults, whatever the settings say. */
  readonly isPlain?: boolean;
}

/** Makes a gate that runs commands in a clean checkout, and also runs the base's tests on the work. */
export function suiteGate(
  { gates, environments, scope, oracle, product }: GateSettings,
  parts: GateParts & { readonly env: EnvironmentIn },
  { gate, commands, isTestDemandedElsewhere = false, isPlain = false }: Suite,
): Gate {
  const { evidence, clock, workspace, env, sandbox, flakes, experimentRunner, checkouts } = parts;
  const { reports, reruns, parallel, coverage, reset, faults = gates.checks.faults ?? "auto" } = gates[gate];
  const { testPaths } = scope;
  const optional = { ...(flakes === undefined ? {} : { flakes }), ...(coverage === undefined ? {} : { coverage }) };
  const resets = reset === undefined ? {} : { reset };
  const shared = { commands, environments, evidence, clock, workspace, env, sandbox, ...resets };
  const pinning = { workspace, testPaths, oracle, product, commands: commands.map(({ run }) => run) };
  const tested = withTestedWork(createChecksGate({ ...shared, reports, reruns, parallel, ...optional }), {
    selectTests(files, packageFile) {
      const selected = selectCommands(commands, files, packageFile);
      return selected.length === 0 ? null : createChecksGate({ ...shared, commands: selected, reruns });
    },
    ...pinning,
    evidence,
    experimentRunner,
    isTestDemandedElsewhere,
    ...(isPlain || faults === "off" ? {} : { faults: faultOptions(shared, parts) }),
  });
  return inCleanCheckout(tested, checkouts, { testPaths, oracle, product });
}

/** Adds the hidden checks to a gate that runs tests, if there are any. */
export function withHiddenSuite(
  judging: Gate,
  { gates, environments, scope, oracle, product }: GateSettings,
  parts: GateParts & { readonly env: EnvironmentIn },
  { commands }: Pick<Suite, "commands">,
): Gate {
  const { evidence, clock, workspace, env, checkouts, hidden = null } = parts;
  if (hidden === null || checkouts === null) return judging;
  const { hidden: own = [], reruns, reset } = gates.checks;
  const checks = { environments, evidence, clock, workspace, env, reruns, ...(reset === undefined ? {} : { reset }) };
  return withHiddenChecks(judging, {
    workspace,
    testPaths: scope.testPaths,
    oracle,
    product,
    commands: commands.map(({ run }) => run),
    checkouts,
    hidden,
    checks: { ...checks, commands: own.length === 0 ? commands : own },
  });
}

/** Returns the options for planted faults, which are tried once each, with the commands that ran tests. */
function faultOptions(shared: ChecksOptions, { clock, baseFaults }: GateParts): FaultOptions {
  return {
    clock,
    store: baseFaults ?? memoryStore(),
    checksFor(files, { packageFile, textOf, limitMs, ranTests }) {
      const selected = files.length === 0 ? [] : selectCommands(shared.commands, files, packageFile, textOf);
      const isSelected = selected.length > 0;
      const testing = shared.commands.filter(({ name }) =>
        ranTests.some((cell) => cell === name || cell.startsWith(`${name} in `)),
      );
      const some = isSelected ? selected : testing.length > 0 ? testing : shared.commands;
      const commands = some.map((each) => ({ ...each, timeoutMs: Math.min(each.timeoutMs ?? limitMs, limitMs) }));
      return { gate: createChecksGate({ ...shared, commands, reruns: 0 }), isSelected };
    },
  };
}

function memoryStore(): BaseFaultStore {
  const kept = new Map<string, unknown>();
  const keyOf = (base: string, tests: string): string => `${base}\n${tests}`;
  return {
    find: (base, tests) => Promise.resolve(kept.get(keyOf(base, tests)) ?? null),
    keep(base, tests, found) {
      kept.set(keyOf(base, tests), found);
      return Promise.resolve();
    },
  };
}
