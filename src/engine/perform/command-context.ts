import type { Command } from "../../core/stories/command.ts";
import type { Ledger } from "../ledger.ts";
import type { SpendingWatch } from "../spending-watch.ts";
import type { EngineWorld } from "../world.ts";

/** A running command with everything that it needs. */
export interface CommandContext<C extends Command = Command> {
  readonly command: C;
  readonly ledger: Ledger;
  readonly world: EngineWorld;
  /** Aborted when the engine stops, a person stops the story, or a budget is used up. */
  readonly signal: AbortSignal;
  readonly spending: SpendingWatch;
}

/** The context of one kind of command. */
export type ContextOf<T extends Command["type"]> = CommandContext<Extract<Command, { readonly type: T }>>;
