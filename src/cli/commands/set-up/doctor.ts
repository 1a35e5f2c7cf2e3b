import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../../config/config.ts";
import { countText } from "../../../stdx/plain-text.ts";
import type { Policy } from "../../../core/events/policy.ts";
import type { Problem } from "../../../core/events/error.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../../../app/command.ts";
import { type AgentSpec, rolesOfGate, whoPlays } from "../../../app/agent-spec.ts";
import type { Probe } from "../../../app/host.ts";
import { loadConfig, loadStories, storiesFolder } from "../../../app/load-config.ts";
import { glyphsFor, paintFor } from "../../terminal-kind.ts";
import { type GateName, commandsFor, gatesThat, isWithoutCommands } from "../../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../../core/gates/registry.ts";
import { AGENT_CLIENTS } from "../../../core/stories/agent-client.ts";

const EXAMPLES = `Examples:
  remand doctor                       what is missing here, and how to fix it
  remand doctor --run                 also: can the checks start, and which variables do they need?
  remand doctor --json                as a document for programs
  remand doctor --db postgres://…     a fleet's database: reach, version, rights, and who works (or REMAND_DB)

Exit code: 0 all is well, 1 something must be fixed.
`;

export const command: CliCommand = {
  name: "doctor",
  register(command, world, done) {
    command
      .option("--run", "also run the checks once on what is committed, in a checkout that is removed again")
      .option("--json", "print a document of the schema remand.doctor/1")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await doctor(world, options)));
  },
};

interface Options {
  readonly run?: boolean;
  readonly json?: boolean;
  readonly config?: string;
  readonly db?: string;
}

async function doctor(world: World, options: Options): Promise<ExitCode> {
  const isAway = (options.db ?? world.env["REMAND_DB"] ?? "") !== "" && !(await hasConfig(world, options.config));
  const probes = isAway
    ? await world.host.probe(world.cwd, [], { commands: [], env: [] })
    : [...(await probesOf(world, options.config)), ...(options.run === true ? await runProbes(world, options) : [])];
  if (options.json === true) world.out(`${JSON.stringify({ schema: "remand.doctor/1", probes }, null, 2)}\n`);
  else for (const probe of probes) world.out(probeText(world, probe));
  return probes.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

/** Probes what a first attempt would meet: whether the checks start, and how they end before any work. */
async function runProbes(world: World, { config: file }: Options): Promise<readonly Probe[]> {
  const { config, policy } = await loadConfig(world, { config: file });
  if (config === null || policy === null || config.gates.checks.commands.length === 0) return [];
  const { problems, summary } = await world.host.preflight(world.cwd, {
    config,
    policy,
    at: "commit",
    isRun: true,
    isFresh: true,
  });
  if (problems.length > 0) return problems;
  return [{ name: "checks at HEAD", ok: true, detail: summary, fix: "" }];
}

/** A fleet can be probed from any folder: where there is no project, no config is missing. */
async function hasConfig(world: World, config: string | undefined): Promise<boolean> {
  return config !== undefined || (await world.files.read(join(world.cwd, "remand.yaml"))) !== null;
}

/** Runs all probes. */
export async function probesOf(world: World, file: string | undefined): Promise<readonly Probe[]> {
  const { config, policy, problems } = await loadConfig(world, { config: file });
  const [stories, found, unusable] = await Promise.all([
    loadStories(world, storiesFolder(world, config)),
    world.host.probe(world.cwd, config === null ? [] : programsOf(config), checksOf(config)),
    config === null || policy === null ? [] : checkProbes(world, config, policy),
  ]);
  if (config !== null && !(await hasConfig(world, file)) && Object.keys(config.agents).length === 0)
    return [...found.map(withoutProgram), NO_CONFIG];
  const roles = config === null || policy === null ? [] : neededRoles(config, policy);
  const shown = found.map((each) => (config === null || each.ok ? each : withRoles(config, roles, each)));
  return [
    ...shown.map(withoutProgram),
    fileProbe(
      "config",
      problems,
      config === null ? "" : `preset ${config.preset}`,
      "remand config shows it with carets.",
    ),
    fileProbe("stories", stories.problems, `${stories.stories.length} read`, "remand stories shows them with carets."),
    ...(config === null ? [] : NEED_COMMANDS.flatMap((gate) => commandsProbe(config, gate))),
    ...unusable,
    ...(config === null || policy === null ? [] : agentProbes(config, policy, found)),
  ];
}

const withoutProgram = ({ program: _program, ...probe }: Probe): Probe => probe;

/** Reported once, because a missing config is the cause of every missing role and gate. */
const NO_CONFIG: Probe = {
  name: "config",
  ok: false,
  detail: "there is no remand.yaml here",
  fix: "remand init writes one. remand loop needs none.",
};

/** Reports checks whose command does not exist, or whose tests do not load, without running them. */
async function checkProbes(world: World, config: Config, policy: Policy): Promise<readonly Probe[]> {
  const plan = { config, policy, at: "commit", isRun: false, isLoaded: true } as const;
  const { problems } = await world.host.preflight(world.cwd, plan);
  return problems;
}

/** If checks run in another environment, the programs on this machine do not matter. */
function checksOf(config: Config | null): Parameters<World["host"]["probe"]>[2] {
  if (config === null || Object.keys(config.environments).length > 0)
    return { commands: [], env: config?.env ?? [], ...configIn(config) };
  const commands = RUN_TESTS.flatMap((gate) => config.gates[gate].commands).map((each) =>
    typeof each === "string" ? each : each.run,
  );
  return { commands, env: config.env, ...configIn(config) };
}

const configIn = (config: Config | null): { readonly config?: Config } => (config === null ? {} : { config });

const RUN_TESTS = gatesThat(({ runsTests }) => runsTests);

function probeText(world: World, { name, ok, detail, fix }: Probe): string {
  const { marks } = glyphsFor(world.env);
  const paint = paintFor(world.color);
  const sign = ok ? `${paint.good(marks.accepted)} ok     ` : `${paint.bad(marks.rejected)} problem`;
  return `${sign}  ${name}: ${detail}\n${fix === "" ? "" : `    ${fix}\n`}`;
}

function fileProbe(name: string, problems: readonly Problem[], detail: string, hint: string): Probe {
  const first = problems.find(({ severity }) => severity === "error");
  if (first === undefined) return { name, ok: true, detail, fix: "" };
  return {
    name,
    ok: false,
    detail: `${first.file}:${first.line}:${first.column}: ${first.message}`,
    fix: `${first.hint} ${hint}`.trim(),
  };
}

const NEED_COMMANDS = gatesThat(({ needs }) => needs !== null);

/** Reports a gate without a command: it proves nothing, and would report that only after the work. */
function commandsProbe({ phases, gates, forge }: Config, name: GateName): Probe[] {
  const judges = Object.values(phases).some((list) => list !== false && list.includes(name));
  const commands = judges ? commandsFor(name, gates) : gates[name].commands;
  if (!judges && commands.length === 0) return [];
  const deaf = commands
    .map((each) => (typeof each === "string" ? each : each.run))
    .find((run) => NEVER_FAILS.test(run));
  if (judges && deaf !== undefined)
    return [
      {
        name,
        ok: false,
        detail: `\`${deaf}\` ends well whatever happens in it`,
        fix: "Leave out what throws its exit code away: a check that cannot fail judges nothing.",
      },
    ];
  if (!judges || !isWithoutCommands(name, gates, forge.use !== "none"))
    return [
      { name, ok: true, detail: commands.length === 0 ? forge.use : countText(commands.length, "command"), fix: "" },
    ];
  const example = GATE_REGISTRY[name].needs?.example ?? "";
  const fix = `Say what judges the work: gates: { ${name}: { commands: [${example}] } }`;
  return [{ name, ok: false, detail: "no command is set", fix }];
}

const NEVER_FAILS = /(?:\|\||;)\s*(?:true|:|exit 0)\s*$/;

function reviewersIn(policy: Policy): string[] {
  const gates = [...new Set(policy.phases.flatMap((plan) => plan.gates))];
  return gates.flatMap((gate) => rolesOfGate(policy, gate));
}

/** The roles that work on a phase or review one, which need an agent; other roles fall back to a person. */
const neededRoles = (config: Config, policy: Policy): string[] => [
  ...new Set([...policy.phases.map(({ phase }) => config.roles.phase[phase]), ...reviewersIn(policy)]),
];

/** Reports a problem with an agent's program once, with all roles that need the program. */
function withRoles(config: Config, needed: readonly string[], probe: Probe): Probe {
  const roles = needed.filter((role) => isProbeOf(config, role, probe));
  if (roles.length === 0) return probe;
  const detail = probe.detail.startsWith(probe.name) ? probe.detail : `${probe.name}: ${probe.detail}`;
  return { ...probe, name: `agent ${roles.join(", ")}`, detail };
}

function agentProbes(config: Config, policy: Policy, found: readonly Probe[]): Probe[] {
  const { remediation, healthCheck, adjudicator } = config.roles;
  const spare = reviewersIn(policy).length === 0 ? [] : [remediation, healthCheck, adjudicator];
  const isMissing = (role: string): boolean => found.some((each) => !each.ok && isProbeOf(config, role, each));
  return [
    ...neededRoles(config, policy).flatMap((role) => (isMissing(role) ? [] : [roleProbe(config, role)])),
    ...spare.map((role) => {
      const detail = whoPlays(config, role) ?? "no agent plays this role: a person is asked instead";
      return { name: `agent ${role}`, ok: true, detail, fix: "" };
    }),
  ];
}

function roleProbe(config: Config, role: string): Probe {
  const agent = whoPlays(config, role);
  const writes = role === config.roles.phase.implement;
  if (
    writes &&
    Object.hasOwn(config.agents, role) &&
    !AGENT_CLIENTS[config.agents[role]!.use ?? "command"].changesFiles
  ) {
    const fix = `Give it to an agent that can work, and the model a review: agents: { ${role}: { use: claude } }`;
    return { name: `agent ${role}`, ok: false, detail: "a model by its API changes no files", fix };
  }
  if (agent !== null) return { name: `agent ${role}`, ok: true, detail: agent, fix: "" };
  const fix = `Say who plays it: agents: { ${role}: { use: command, command: ./my-agent.sh } }`;
  return { name: `agent ${role}`, ok: false, detail: "no agent plays this role", fix };
}

/** Whether a probe was made because of the agent of this role. */
function isProbeOf(config: Config, role: string, probe: Probe, seen: readonly string[] = []): boolean {
  const agent = Object.hasOwn(config.agents, role) ? config.agents[role] : undefined;
  if (agent === undefined || probe.program === undefined || seen.includes(role)) return false;
  if (agent.use === undefined && agent.command === undefined)
    return agent.fallback !== undefined && isProbeOf(config, agent.fallback, probe, [...seen, role]);
  return programFor(config, agent).some((each) => isDeepStrictEqual(each, probe.program));
}

/** The programs that the config would start. */
function programsOf(config: Config): (string | AgentSpec)[] {
  const named = Object.values(config.agents).flatMap((agent) => programFor(config, agent));
  // Roles with the same program are probed once.
  return [...new Map(named.map((each) => [JSON.stringify(each), each])).values()];
}

/** The program of one agent; empty where there is nothing to probe. */
function programFor({ env }: Config, agent: Config["agents"][string]): (string | AgentSpec)[] {
  const { use = "command", command } = agent;
  const { probed, commandHint } = AGENT_CLIENTS[use];
  if (command === undefined && commandHint !== null) return [];
  if (probed === "program") return [command!.trim().split(/\s+/)[0]!];
  const settings = { ...agent, env: [...env, ...(agent.env ?? [])] };
  return probed.length === 0 ? [] : [{ use, ...Object.fromEntries(probed.map((key) => [key, settings[key]])) }];
}
