import type { Command } from "../core/stories/command.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Stored } from "./journal.ts";

/** Whoever looks on while the engine works: a reporter, a notifier. It changes nothing. */
export interface Watcher {
  /** Lines the journal took, and the state after them. */
  onLines(lines: readonly Stored[], state: RunState): void;
  /** A line that an agent or a gate printed. */
  onOutput(command: Command, line: string): void;
}
