import type { Config } from "../config/config.ts";
import type { GateName } from "../core/gates/gate.ts";
import { type Policy, roleOfReviewer } from "../core/events/policy.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { AgentClientName } from "../core/stories/agent-client.ts";

/** The agent that a role's config asks for, for a probe. Fields that its kind does not use are left out. */
export interface AgentSpec {
  readonly use: AgentClientName;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Names of the variables that the agent may see. */
  readonly env?: readonly string[] | undefined;
  readonly model?: string | undefined;
}

/** Names the agent of a role; `null` where neither the role nor its fallback has one. */
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

/** The roles whose agents a gate asks to review; empty for a gate that needs no agent. */
export function rolesOfGate({ roles, gates }: Pick<Policy, "roles" | "gates">, gate: GateName): readonly string[] {
  const { reviewer, hasStageReviewers, hasTddPhases } = GATE_REGISTRY[gate];
  const { stages } = gates[gate];
  // A TDD cycle is decided by programs and by the reviewers of its stages.
  if (reviewer === null && !(hasTddPhases && stages.length > 0)) return [];
  const usual = roleOfReviewer(roles, reviewer ?? "critic");
  if (reviewer !== null && (!hasStageReviewers || stages.length === 0)) return [usual];
  return [...new Set(stages.map((stage) => (Object.hasOwn(roles.stage, stage) ? roles.stage[stage]! : usual)))];
}
