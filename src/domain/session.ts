/** A conversation with an agent that can be gone on with. Opaque to everyone but the adapter that made it. */
export interface AgentSession {
  readonly agent: string;
  readonly id: string;
  /** The worker on whose machine it is kept: another one cannot go on with it. Without it there is one machine only. */
  readonly host?: string;
  /** What the whole conversation has used so far, where the agent counts it so. */
  readonly totals?: {
    readonly tokens: number;
    readonly costUsd?: number;
    /** Of the tokens, the input; and of that, what was read from a cache. */
    readonly input?: number;
    readonly cached?: number;
  };
}
