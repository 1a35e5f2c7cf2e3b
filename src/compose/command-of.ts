import type { CommandConfig } from "../config/config.ts";
import { knownDurationMs } from "../config/duration.ts";

/** A command as people write it, short or long, with everything filled in. */
export function commandOf(command: string | CommandConfig): {
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
