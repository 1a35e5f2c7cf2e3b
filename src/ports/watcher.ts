import type { Command } from "../core/stories/command.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoredEvent } from "./journal.ts";

/** Observes the engine while it works, as a reporter or notifier does. It changes nothing. */
export interface Watcher {
  /** Lines the journal took, and the state after them. */
  onLines(lines: readonly StoredEvent[], state: RunState): void;
  /** A line that an agent or a gate printed. */
  onOutput(command: Command, line: string): void;
}
