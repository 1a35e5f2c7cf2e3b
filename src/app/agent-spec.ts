import type { Config } from "../config/config.ts";
import type { GateName } from "../core/gates/gate.ts";
import { type Policy, roleOfReviewer } from "../core/events/policy.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { AgentClientName } from "../core/stories/agent-client.ts";

/** An agent, as a role's config wants it, to be looked for. What its kind does not go by is left out. */
export interface AgentSpec {
  readonly use: AgentClientName;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Names of variables that it may see. */
  readonly env?: readonly string[] | undefined;
  readonly model?: string | undefined;
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
  const { reviewer, hasStageReviewers, hasTddPhases } = GATE_REGISTRY[gate];
  const { stages } = gates[gate];
  // Programs decide a TDD cycle, and the reviewers of its stages.
  if (reviewer === null && !(hasTddPhases && stages.length > 0)) return [];
  const usual = roleOfReviewer(roles, reviewer ?? "critic");
  if (reviewer !== null && (!hasStageReviewers || stages.length === 0)) return [usual];
  return [...new Set(stages.map((stage) => (Object.hasOwn(roles.stage, stage) ? roles.stage[stage]! : usual)))];
}
