import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { RunPlan } from "../../app/host.ts";
import type { Config } from "../../config/config.ts";
import { knownDurationMs } from "../../config/duration.ts";
import { RemandError } from "../../core/events/error.ts";
import { GATES, type GateName, byGate } from "../../core/gates/gate.ts";
import { judge } from "../../decide/verdict.ts";
import type { ExperimentRunner } from "../../ports/experiment-runner.ts";
import type { Gate } from "../../ports/gate.ts";
import type { HiddenParts } from "../../gates/checks/hidden-checks.ts";
import type { DeliveryParts, GateParts, GateSettings, ReviewerParts } from "../../gates/gate-parts.ts";
import { GATE_CREATORS } from "../../gates/registry.ts";
import type { WorkStarter } from "../../adapters/git/dependencies/work-start.ts";
import type { OwnPython } from "../../adapters/git/python/own-python.ts";
import type { Environment, EnvironmentIn } from "../../adapters/process/environment.ts";
import { userStateFolder } from "../../adapters/git/repository.ts";
import { checksAtBase, checksKey, createKeptBaseFaults } from "./base-runs.ts";
import { checkVariablesOf, compareWithRealHome } from "./check-variables.ts";
import { normalizeCommand } from "../../config/normalize-command.ts";
import { environmentWith } from "./own-python.ts";
import type { Sandboxes } from "../../adapters/sandbox/open-sandboxes.ts";
import { NO_SANDBOX } from "../../adapters/process/launch.ts";

interface Parts extends Pick<GateParts, "evidence" | "clock" | "workspace" | "flakes"> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sandboxes: Sandboxes;
  /** Without it, Python imports installed packages, even if those are files of another checkout. */
  readonly python?: OwnPython;
  /** Runs the base's tests with the work; without it, no test is compared with the base. */
  readonly experimentRunner?: ExperimentRunner;
  /** Where gates run code; absent: where experiments run, or else in the author's own folder. */
  readonly checkouts?: ExperimentRunner;
  /** The state before an agent worked: with it, checks get a private HOME. */
  readonly start?: WorkStarter;
  /** With it, work that passed is also run with files that its author never saw. */
  readonly hidden?: HiddenParts | null;
  /** Remand's own folder. With it, a red base is also tried with the withheld variables. */
  readonly state?: string;
  /** Absent: only gates that need no reviewer are created. */
  readonly reviewers?: Omit<ReviewerParts, "judge">;
  /** Absent: only gates that need no delivery are created. */
  readonly delivery?: DeliveryParts;
}

/** The gates, as configured. */
export function gatesOf(
  { config, force }: Pick<RunPlan, "config" | "force">,
  parts: Parts,
): ReadonlyMap<GateName, Gate> {
  const {
    evidence,
    clock,
    workspace,
    env,
    sandboxes,
    python,
    flakes,
    experimentRunner = null,
    start,
    reviewers,
    delivery,
    hidden = null,
  } = parts;
  const { checkouts = experimentRunner } = parts;
  const { checks: sandbox } = sandboxes;
  const isRequired = config.sandbox.mode === "required";
  const variables = checkVariablesOf(env, config);
  const withPython = (own: Environment, home?: "real"): EnvironmentIn =>
    python === undefined ? own : environmentWith(own, python, start, home);
  const seen = withPython(variables.seen);
  return createGates(settingsOf(config), {
    evidence,
    clock,
    workspace,
    env: seen,
    sandbox,
    flakes,
    hidden,
    baseFaults: createKeptBaseFaults(userStateFolder(env), checksKey(config, env)),
    experimentRunner,
    checkouts,
    reviewers: reviewers === undefined ? null : { ...reviewers, judge },
    delivery: delivery ?? null,
    decideEnvironment: (gateIn) =>
      decidedChecks(config, {
        plain: gateIn(seen, sandbox),
        withVariables: (names) =>
          gateIn(withPython(checkVariablesOf(env, { env: [...config.env, ...names] }).seen), sandbox),
        withRealHome: gateIn(withPython(variables.seen, "real"), isRequired ? sandbox : NO_SANDBOX),
        env,
        start,
        leavesSandbox: sandbox.level.kind !== "none" && !isRequired,
        state: force === true ? null : (parts.state ?? null),
      }),
  });
}

/** Creates the gates that can run here, in the order of the registry. */
function createGates(settings: GateSettings, parts: Omit<GateParts, "gate">): ReadonlyMap<GateName, Gate> {
  const gates = new Map<GateName, Gate>();
  for (const name of GATES) {
    const gate = GATE_CREATORS[name](settings, { ...parts, gate: (other) => gates.get(other) });
    if (gate !== null) gates.set(name, gate);
  }
  return gates;
}

function settingsOf(config: Config): GateSettings {
  const gates = byGate((gate) => ({
    ...config.gates[gate],
    commands: config.gates[gate].commands.map(normalizeCommand),
    hidden: (config.gates[gate].hidden ?? []).map(normalizeCommand),
  }));
  return { ...config, gates, ciPatienceMs: knownDurationMs(config.forge.patience) };
}

/** The checks with what is decided on the base: the HOME and the variables that they need. */
function decidedChecks(
  config: Config,
  {
    plain,
    withVariables,
    withRealHome,
    env,
    start,
    leavesSandbox,
    state,
  }: {
    readonly plain: Gate;
    withVariables(names: readonly string[]): Gate;
    readonly withRealHome: Gate;
    readonly env: Parts["env"];
    readonly start: WorkStarter | undefined;
    readonly leavesSandbox: boolean;
    /** `null`: work starts whatever the base shows. */
    readonly state: string | null;
  },
): Gate {
  const commands = config.gates.checks.commands.map((each) => normalizeCommand(each).run);
  const inHome =
    start === undefined || state === null
      ? plain
      : compareWithRealHome(plain, { start, withRealHome, commands, leavesSandbox });
  return checksAtBase(inHome, { config, env, checksWith: withVariables, state });
}

/** Reads the project's own rules for reviewers. A missing file is an error. */
export async function practicesOf(root: string, { gates }: Config): Promise<readonly string[]> {
  return Promise.all(
    gates.review.practices.map(async (practice) => {
      if (typeof practice === "string") return practice;
      try {
        return await readFile(resolve(root, practice.file), "utf8");
      } catch (error) {
        throw new RemandError(
          "file-missing",
          `the practices in ${practice.file} cannot be read: ${(error as Error).message}`,
          "Fix `gates.review.practices` in remand.yaml.",
          { cause: error },
        );
      }
    }),
  );
}
