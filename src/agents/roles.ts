import type { Agent } from "../ports/agent.ts";
import type { RoleAgent, RoleRegistry } from "../ports/roles.ts";

/** Who plays a role, as it was configured. */
export interface RoleAssignment {
  readonly agent: Agent;
  readonly model: string | null;
  readonly reports: RoleAgent["reports"];
  readonly env: Readonly<Record<string, string>>;
}

export interface RoleRegistryOptions {
  readonly agents: Readonly<Record<string, RoleAssignment>>;
  /** The role files' texts, by role; a role without one is told what to do by its assignment alone. */
  readonly roleFiles: Readonly<Record<string, string>>;
  /** Plays every role that nobody else plays. */
  readonly fallbackAgent?: RoleAssignment;
}

export function createRoleRegistry({ agents, roleFiles, fallbackAgent }: RoleRegistryOptions): RoleRegistry {
  // Roles are names that people choose, so one may be called like something every object has.
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
