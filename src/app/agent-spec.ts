import type { Config } from "../config/config.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";

/** An agent, as a role's config wants it, to be looked for. */
export type AgentSpec = ClientSpec | AcpSpec | ModelSpec;

/** An agent that is talked to by the Agent Client Protocol. */
export interface AcpSpec {
  readonly use: "acp";
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env: readonly string[];
}

/** A model by its provider's API; `null` where none is named. */
export interface ModelSpec {
  readonly use: "model";
  readonly model: string | null;
}

/** A provider's client, as a role's config wants it. */
export interface ClientSpec {
  readonly use: "claude" | "codex";
  readonly command?: string | undefined;
  readonly args: readonly string[];
  /** Names of variables that it may see. */
  readonly env: readonly string[];
}

/** The agent of a role, in a few words; `null` where neither the role nor its fallback has one. */
export function whoPlays(
  { agents }: Pick<Config, "agents">,
  role: string,
  seen: readonly string[] = [],
): string | null {
  const agent = Object.hasOwn(agents, role) ? agents[role] : undefined;
  if (agent === undefined || seen.includes(role)) return null;
  if (agent.use !== undefined || agent.command !== undefined)
    return `${agent.use ?? "command"} ${agent.command ?? ""}`.trim();
  return agent.fallback === undefined ? null : whoPlays({ agents }, agent.fallback, [...seen, role]);
}

/** The roles that a gate asks to judge; empty for one that needs no agent. */
export function rolesOfGate({ roles, gates }: Pick<Policy, "roles" | "gates">, gate: GateName): readonly string[] {
  const { reviewer, hasStageReviewers } = GATE_REGISTRY[gate];
  if (reviewer === null) return [];
  const { stages } = gates[gate];
  if (!hasStageReviewers || stages.length === 0) return [roles[reviewer]];
  return [
    ...new Set(stages.map((stage) => (Object.hasOwn(roles.stage, stage) ? roles.stage[stage]! : roles[reviewer]))),
  ];
}
