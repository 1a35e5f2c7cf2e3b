import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunPlan } from "../../app/host.ts";
import type { AgentConfig } from "../../config/config.ts";
import type { AgentFile } from "../../core/stories/prompt.ts";
import { RemandError } from "../../core/events/error.ts";
import { readAgentFile } from "../../parse/agent/agent-file.ts";
import type {
  Agent,
  AgentControl,
  AgentEvent,
  AgentRequest,
  AgentResult,
  RoleAgent,
  RoleRegistry,
} from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import { createCommandAgent } from "../../agents/command/command-agent.ts";
import type { OwnPython } from "../../adapters/git/python/own-python.ts";
import { allowedEnvironment } from "../../adapters/process/environment.ts";
import type { SupervisedAgents } from "../../adapters/process/agent-processes.ts";
import { COOKIE_VARIABLE } from "../../adapters/process/leftovers.ts";
import { createLineRedactor, ownRedactor } from "../../adapters/process/own-secrets.ts";
import { problemText } from "../../write/reports/problem-text.ts";
import { withPythonImports } from "../checks/own-python.ts";
import { type Prices, costAt, priceOf } from "../../core/events/event-cost.ts";
import { AGENT_CLIENTS } from "../../core/stories/agent-client.ts";
import { AGENT_REGISTRY } from "../../agents/registry.ts";
import { instructionsOf, reportingAgent } from "./client-agents.ts";
import type { Sandboxes } from "../../adapters/sandbox/open-sandboxes.ts";

interface RoleParts {
  /** Runs the agents that outlive the engine; absent: no agent does. */
  readonly agentRuns?: SupervisedAgents | undefined;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: OwnPython;
  readonly sandboxes: Sandboxes;
}

/** The agents by role. Secrets are removed from their output before it is read. */
export async function roleRegistryOf(root: string, plan: RunPlan, parts: RoleParts): Promise<RoleRegistry> {
  return redactedRoles(await plannedRoles(root, plan, parts));
}

/** The loop's one command, else the agents that the caller passed, else those of the config. */
async function plannedRoles(root: string, plan: RunPlan, parts: RoleParts): Promise<RoleRegistry> {
  const { agentCommand, config } = plan;
  if (agentCommand !== null) {
    const [program = "", ...args] = agentCommand;
    const environment = { source: parts.env, sees: "everything" } as const;
    const role = config.roles.phase.implement;
    const started = createCommandAgent({
      name: program,
      command: [program, ...args],
      environment,
      sandbox: parts.sandboxes.agents,
      processes: parts.agentRuns?.forRole(role, JSON.stringify(agentCommand)),
    });
    const agent = withPythonImports(started, parts.python, parts.env["PYTHONPATH"]);
    return createRoleRegistry({
      agents: { [role]: { agent, model: null, reports: "exit", env: {} } },
      roleFiles: {},
    });
  }
  const brought = plan.agents ?? {};
  const agents: Record<string, RoleAssignment> = {};
  const roleFiles: Record<string, string> = {};
  for (const [role, own] of Object.entries(brought)) {
    const agent = withPythonImports(own, parts.python, undefined);
    agents[role] = { agent, model: null, reports: "exit", env: {} };
  }
  for (const [role, agent] of Object.entries(config.agents)) {
    if (Object.hasOwn(brought, role)) continue;
    const file = await roleFile(root, role, agent);
    roleFiles[role] = file?.prompt ?? "";
    // A role that only names a fallback has no agent of its own; the fallback gets this role's prompt.
    const isPlayed = agent.use !== undefined || agent.command !== undefined;
    if (!isPlayed) continue;
    const { PYTHONPATH } = allowedEnvironment(parts.env, [...config.env, ...(agent.env ?? [])]);
    const started = withPythonImports(await agentOf(root, role, agent, config.env, parts), parts.python, PYTHONPATH);
    agents[role] = {
      agent: contentWith(pricedAgent(started, config.prices), file?.tools),
      // The config is the project's own, so its model wins; a role file may come from elsewhere.
      model: agent.model ?? file?.model ?? null,
      reports: "exit",
      env: {},
    };
  }
  return createRoleRegistry({ agents, roleFiles });
}

/** Limits an agent to the tools of its role file. */
function contentWith(agent: Agent, tools: readonly string[] | undefined): Agent {
  if (tools === undefined || tools.includes("*")) return agent;
  return { ...agent, run: (request, control) => agent.run({ ...request, tools }, control) };
}

async function agentOf(
  root: string,
  role: string,
  config: AgentConfig,
  env: readonly string[],
  parts: RoleParts,
): Promise<Agent> {
  const { use = "command", command } = config;
  const { commandHint } = AGENT_CLIENTS[use];
  if (command === undefined && commandHint !== null)
    throw new RemandError("config-invalid", `agents.${role} has no command`, commandHint);
  const { create, instructions, takesTools } = AGENT_REGISTRY[use];
  const agent = await create({
    role,
    root,
    command: command ?? "",
    args: config.args,
    edits: config.access,
    environment: { source: parts.env, sees: [...env, ...(config.env ?? []), COOKIE_VARIABLE] },
    instructions: await instructionsOf(root, instructions),
    clock: parts.clock,
    sandbox: parts.sandboxes.agents,
    processes: parts.agentRuns?.forRole(role, JSON.stringify([use, command, config.args])),
  });
  return takesTools ? reportingAgent(agent, parts.agentRuns?.reportsOf(role)) : agent;
}

/**
 * Reads the role file: the project's, else the shipped one of that name; any other role has only its assignment. A file
 * that cannot be read is an error, because the role would silently get another prompt.
 */
async function roleFile(root: string, role: string, config: AgentConfig): Promise<AgentFile | null> {
  const own = config.file === undefined ? join(root, ".claude", "agents", `${role}.md`) : resolve(root, config.file);
  const text = await textOf(own);
  if (text === null && config.file !== undefined)
    throw new RemandError("file-missing", `there is no role file ${own}`, `Fix \`agents.${role}.file\`.`);
  if (text === null) return defaultRole(role);
  const { agent, problems } = readAgentFile(own, text);
  if (agent !== null) return agent;
  throw new RemandError(
    "config-invalid",
    problems.map((problem) => problemText(problem, { color: false })).join("\n"),
    "Fix the role file.",
  );
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new RemandError(
      "file-unreadable",
      `${file} cannot be read: ${(error as Error).message}`,
      "Check its permissions.",
      { cause: error },
    );
  }
}

/** The shipped role file; `null` where there is none of that name. */
export async function defaultRole(role: string): Promise<AgentFile | null> {
  if (!NAME.test(role)) return null;
  const path = fileURLToPath(new URL(`../../../plugin/roles/${role}.md`, import.meta.url));
  try {
    return readAgentFile(path, await readFile(path, "utf8")).agent;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A role's name is user input and becomes part of a path here. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Prices the tokens of an agent that does not report its cost. If the table lacks a price, or the kinds of tokens are
 * not known, the cost stays unknown and is reported as unknown: a wrong sum would make the budget wrong.
 */
export function pricedAgent(agent: Agent, prices: Prices): Agent {
  return {
    ...agent,
    async run(request, control) {
      const onEvent = (event: AgentEvent): void => control.onEvent(pricedEvent(event, request, prices));
      return withPrice(await agent.run(request, { ...control, onEvent }), request, prices, control);
    },
  };
}

/** The cost of an agent so far; unknown without a price for each model that it used. */
function pricedEvent(event: AgentEvent, { model: wanted }: AgentRequest, prices: Prices): AgentEvent {
  if (event.type !== "usage" || event.costUsd !== null || event.parts === undefined) return event;
  let costUsd = 0;
  for (const {
    model = wanted,
    inputTokens: input = 0,
    outputTokens: output = 0,
    cachedTokens: cached = 0,
  } of event.parts) {
    const price = model === null ? null : priceOf(prices, model);
    if (price === null) return event;
    costUsd += costAt(price, { input, output, cached });
  }
  return { ...event, costUsd };
}

function withPrice(result: AgentResult, request: AgentRequest, prices: Prices, control: AgentControl): AgentResult {
  const { costUsd, tokens, usage } = result;
  if (costUsd !== null || tokens === null || tokens === 0) return result;
  const unknown = (why: string): AgentResult => {
    control.onEvent({ type: "output", line: `cost unknown: ${why}` });
    return result;
  };
  const model = usage?.model ?? request.model;
  if (model === null) return unknown("the agent did not say which model it used; name one: agents.<role>.model");
  const price = priceOf(prices, model);
  if (price === null) return unknown(`there is no price for ${model}; give one under prices in remand.yaml`);
  const { inputTokens: input, outputTokens: output, cachedTokens: cached = 0 } = usage ?? {};
  if (input === undefined || output === undefined || input + output !== tokens)
    return unknown("the agent did not say how many of its tokens were input");
  const dollars = costAt(price, { input, output, cached });
  control.onEvent({ type: "output", line: `cost $${dollars.toFixed(4)} by the price of ${model}` });
  return { ...result, costUsd: dollars };
}

/** The agent of a role, as configured. */
export interface RoleAssignment {
  readonly agent: Agent;
  readonly model: string | null;
  readonly reports: RoleAgent["reports"];
  readonly env: Readonly<Record<string, string>>;
}

export interface RoleRegistryOptions {
  readonly agents: Readonly<Record<string, RoleAssignment>>;
  /** The role files' texts, by role; a role without one has only its assignment. */
  readonly roleFiles: Readonly<Record<string, string>>;
  /** The agent of every role that has no agent of its own. */
  readonly fallbackAgent?: RoleAssignment;
}

export function createRoleRegistry({ agents, roleFiles, fallbackAgent }: RoleRegistryOptions): RoleRegistry {
  // Roles are chosen by people, so a role may have the name of a property of every object.
  const own = <T>(record: Readonly<Record<string, T>>, role: string): T | undefined =>
    Object.hasOwn(record, role) ? record[role] : undefined;
  return {
    agentFor(role, standingInFor = role) {
      const casting = own(agents, role) ?? fallbackAgent;
      const prompt = own(roleFiles, standingInFor) || own(roleFiles, role) || "";
      return Promise.resolve(casting === undefined ? null : { ...casting, prompt });
    },
  };
}

/**
 * Removes secrets from agents' output before it is read. After cutting or parsing, a part of a secret could be left,
 * which no redactor recognizes.
 */
export function redactedRoles({ agentFor }: RoleRegistry): RoleRegistry {
  return {
    agentFor: async (role, standingInFor) => {
      const found = await agentFor(role, standingInFor);
      return found === null ? null : redactedRole(found);
    },
  };
}

export const redactedRole = (role: RoleAgent): RoleAgent => ({ ...role, agent: redactedAgent(role.agent) });

function redactedAgent(agent: Agent): Agent {
  return {
    ...agent,
    run: async (request, control) => {
      const redactLine = createLineRedactor();
      const onEvent = (event: AgentEvent): void =>
        control.onEvent(event.type === "output" ? { ...event, line: redactLine(event.line) } : event);
      return redactedResult(await agent.run(request, { ...control, onEvent }));
    },
  };
}

function redactedResult(result: AgentResult): AgentResult {
  const { texts, text } = ownRedactor();
  return {
    ...result,
    text: text(result.text),
    output: texts(result.output),
    denied: texts(result.denied),
    error: texts(result.error),
    ...(result.usage === undefined ? {} : { usage: texts(result.usage) }),
  };
}
