import type { Command } from "../domain/command.ts";
import type { Ledger } from "./ledger.ts";
import type { EngineWorld } from "./world.ts";

/** A command that is being done, and what it is done with. */
export interface Performing<C extends Command = Command> {
  readonly command: C;
  readonly ledger: Ledger;
  readonly world: EngineWorld;
  readonly signal: AbortSignal;
}

/** The same, for one kind of command. */
export type PerformingOf<T extends Command["type"]> = Performing<Extract<Command, { readonly type: T }>>;
