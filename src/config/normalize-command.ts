import type { CommandConfig } from "./config.ts";
import { knownDurationMs } from "./duration.ts";

/** Returns a command in its short or long form, with all fields filled in. */
export function normalizeCommand(command: string | CommandConfig): {
  name: string;
  run: string;
  environments?: readonly string[];
  timeoutMs?: number;
} {
  if (typeof command === "string") return { name: command, run: command };
  return {
    name: command.name ?? command.run,
    run: command.run,
    ...(command.environments === undefined ? {} : { environments: command.environments }),
    ...(command.timeout === undefined ? {} : { timeoutMs: knownDurationMs(command.timeout) }),
  };
}
