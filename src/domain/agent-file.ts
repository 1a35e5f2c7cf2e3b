import type { RoleName } from "./ids.ts";

/** A role, as the file that people already have for it defines it (`.claude/agents/<role>.md`). */
export interface AgentFile {
  readonly role: RoleName;
  readonly description: string;
  readonly model?: string;
  /** The tools it may use; not given means all that the agent has. */
  readonly tools?: readonly string[];
  /** The text below the front matter, put in front of every assignment. */
  readonly prompt: string;
  readonly path: string;
}
