import { byGate } from "../core/gates/gate.ts";
import { roleName, type RoleName } from "../core/events/ids.ts";
import { LANGUAGES } from "../core/stories/language.ts";
import { PHASES } from "../core/stories/story.ts";
import type {
  GateRules,
  Limits,
  PhasePlan,
  Policy,
  Reinforcement,
  Roles,
  Specialist,
  SpendLimits,
} from "../core/events/policy.ts";
import type { Problem } from "../core/events/error.ts";
import type { Config, GateConfig, SpecialistConfig, SpendConfig, SandboxConfig } from "./config.ts";
import { knownDurationMs, sizeOf } from "./duration.ts";
import { DEFAULTS } from "./defaults.ts";
import { type PlainLayer, isMap } from "./layer.ts";

/** Builds the policy for the engine from a config. */
export function policyOf(config: Config): Policy {
  return {
    preset: config.preset,
    autonomy: config.autonomy,
    phases: phasePlans(config),
    limits: limitsOf(config),
    stall: config.stall,
    gates: byGate((gate) => gateRules(config.gates[gate])),
    roles: rolesOf(config),
    specialists: [...config.specialists, ...specialistsByName(config)].map(specialistOf),
    concurrency: config.concurrency,
    onExhausted: config.onExhausted,
    circuitBreaker: config.enableCircuitBreaker,
    deliver: config.deliver,
    merge: config.merge,
    scope: config.scope,
    ...(config.knownFailures.length === 0 ? {} : { knownFailures: config.knownFailures }),
    ...(config.requireTest ? { requireTest: true } : {}),
  };
}

function phasePlans(config: Config): PhasePlan[] {
  return PHASES.flatMap((phase) => {
    const gates = config.phases[phase];
    return gates === false ? [] : [{ phase, gates }];
  });
}

function limitsOf(config: Config): Limits {
  const { failures, backoff, timeout, costUsd, tokens, time, run, ...counts } = config.limits;
  return {
    ...counts,
    failures: byGate((gate) => config.gates[gate].failures ?? failures),
    backoffMs: knownDurationMs(backoff),
    timeoutMs: {
      developer: knownDurationMs(timeout.developer),
      critic: knownDurationMs(timeout.critic),
      auditor: knownDurationMs(timeout.auditor),
      remediation: knownDurationMs(timeout.remediation),
    },
    story: spendLimits({ costUsd, tokens, time }),
    run: { ...spendLimits(run), actions: run.actions },
  };
}

function spendLimits({ costUsd, tokens, time }: SpendConfig): SpendLimits {
  return {
    costUsd,
    tokens: tokens === null ? null : sizeOf(tokens),
    timeMs: time === null ? null : knownDurationMs(time),
  };
}

function gateRules(gate: GateConfig): GateRules {
  const sideBySide = gate.perspectives.length > 0;
  return {
    failOn: gate.failOn,
    everyFinding: gate.everyFinding,
    affectedBy: gate.affectedBy,
    unaffectedBy: gate.unaffectedBy,
    stages: sideBySide ? gate.perspectives : gate.stages,
    stageOrder: sideBySide ? "side-by-side" : "in-order",
    blame: gate.blame,
    onUnexplained: gate.onUnexplained,
  };
}

function rolesOf(config: Config): Roles {
  const { phase, stage, ...rest } = config.roles;
  const fallback = Object.entries(config.agents).flatMap(([role, agent]): [string, RoleName][] =>
    agent.fallback === undefined ? [] : [[role, roleName(agent.fallback)]],
  );
  return {
    phase: {
      refine: roleName(phase.refine),
      research: roleName(phase.research),
      plan: roleName(phase.plan),
      implement: roleName(phase.implement),
    },
    stage: Object.fromEntries(Object.entries(stage).map(([name, role]) => [name, roleName(role)])),
    critic: roleName(rest.critic),
    auditor: roleName(rest.auditor),
    oracle: roleName(rest.oracle),
    remediation: roleName(rest.remediation),
    healthCheck: roleName(rest.healthCheck),
    adjudicator: roleName(rest.adjudicator),
    ciIntegration: roleName(rest.ciIntegration),
    fallback: Object.fromEntries(fallback),
    ...reinforcementOf(config.agents),
  };
}

function reinforcementOf(agents: Config["agents"]): Pick<Roles, "reinforcement"> {
  const rules = Object.entries(agents).flatMap(([role, { stronger, freshAfter }]): Reinforcement[] => {
    if (stronger === undefined && freshAfter === undefined) return [];
    const { model = "", after = FAILURES_BEFORE_STRONGER } = stronger ?? {};
    return [
      {
        role: roleName(role),
        ...(stronger === undefined ? {} : { stronger: { model, after } }),
        ...(freshAfter === undefined ? {} : { freshAfter }),
      },
    ];
  });
  return rules.length === 0 ? {} : { reinforcement: rules };
}

/** One failure may be chance; two show the limit of the usual model. */
const FAILURES_BEFORE_STRONGER = 2;

/**
 * S3.8: an agent named after a language gets the failures in files of that language: `typescript-engineer`,
 * `python-reviewer`. An agent that reviews a stage, or that `specialists` lists, keeps its own conditions.
 */
function specialistsByName({ agents, roles, specialists }: Config): readonly SpecialistConfig[] {
  const taken = new Set([...specialists.map(({ role }) => role), ...Object.values(roles.stage)]);
  return LANGUAGES.flatMap((language) =>
    ["engineer", "reviewer"].flatMap((job) => {
      const role = `${language}-${job}`;
      return role in agents && !taken.has(role) ? [{ role, languages: [language] }] : [];
    }),
  );
}

function specialistOf(specialist: SpecialistConfig): Specialist {
  return { ...specialist, role: roleName(specialist.role) };
}

/**
 * Resolves where agents and checks run. The user decides, by flags or the user's own file. A project may only require a
 * sandbox or disable the network: a file that agents can write must not loosen what verifies their work.
 */
export function resolveSandbox(people: readonly PlainLayer[], problems: Problem[]): SandboxConfig {
  let sandbox: SandboxConfig = DEFAULTS.sandbox;
  for (const name of ["user", "project", "set"] as const) {
    for (const layer of people.filter((each) => each.name === name)) {
      const part = partIn(layer);
      if (name === "project") sandbox = tighten(sandbox, part, layer, problems);
      else sandbox = { ...sandbox, ...part };
    }
  }
  return sandbox;
}

/** Expands the short form: `sandbox: off` means `sandbox: { mode: off }`. */
function partIn({ value }: PlainLayer): Partial<SandboxConfig> {
  const given = value["sandbox"];
  if (given === undefined) return {};
  return isMap(given) ? given : ({ mode: given } as Partial<SandboxConfig>);
}

function tighten(
  sandbox: SandboxConfig,
  part: Partial<SandboxConfig>,
  layer: PlainLayer,
  problems: Problem[],
): SandboxConfig {
  const { mode, network, ...rest } = part;
  const loose = [
    ...(mode === "off" ? ["mode: off"] : []),
    ...Object.keys(rest).map((key) => (key === "docker" && rest.docker === false ? "" : key)),
  ].filter((key) => key !== "");
  if (loose.length > 0)
    problems.push({
      ...layer.keyPlace(["sandbox"]),
      severity: "error",
      message: `a project cannot loosen the sandbox: ${loose.join(", ")}`,
      hint: "Write it into your own config, ~/.config/remand/config.yaml.",
    });
  return {
    ...sandbox,
    ...(mode === "required" ? { mode } : {}),
    ...(network === "none" ? { network } : {}),
    ...(rest.docker === false ? { docker: false } : {}),
  };
}
