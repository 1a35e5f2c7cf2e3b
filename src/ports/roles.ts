import type { RoleName } from "../core/events/ids.ts";
import type { Agent } from "./agent.ts";

/** Says which agent fills which role. */
export interface RoleRegistry {
  /**
   * `null`: no agent is configured or installed for it. `standingInFor`: the role that this one replaces; it gets the
   * prompt of that role.
   */
  agentFor(role: RoleName, standingInFor?: RoleName): Promise<RoleAgent | null>;
}

export interface RoleAgent {
  readonly agent: Agent;
  readonly model: string | null;
  /** The role file's own text. */
  readonly prompt: string;
  /**
   * How it says that it is done: by a signal in its last message, or (a plain command) by its exit code alone. A
   * signal that is there is read in both cases. `stop`: a conversation in a person's own client, whose wish to stop
   * means that its work is ready, whatever it says.
   */
  readonly reports: "signal" | "exit" | "stop";
  /** How long a brief may be for it; absent: as long as briefs may be. */
  readonly maxBriefChars?: number;
  readonly env: Readonly<Record<string, string>>;
}
