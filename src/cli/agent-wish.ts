/** An agent, as a role's config wants it, to be looked for. */
export type AgentWish = ClientWish | AcpWish | ModelWish;

/** An agent that is talked to by the Agent Client Protocol. */
export interface AcpWish {
  readonly use: "acp";
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env: readonly string[];
}

/** A model by its provider's API; `null` where none is named. */
export interface ModelWish {
  readonly use: "model";
  readonly model: string | null;
}

/** A provider's client, as a role's config wants it. */
export interface ClientWish {
  readonly use: "claude" | "codex";
  readonly command?: string | undefined;
  readonly args: readonly string[];
  /** Names of variables that it may see. */
  readonly env: readonly string[];
}
