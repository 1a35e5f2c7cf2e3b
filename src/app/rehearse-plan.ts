import type { RehearsalPart } from "../core/schemas/agent-script.ts";

/** A command that is run with a scripted model instead of a provider. */
export interface RehearsePlan {
  readonly parts: readonly RehearsalPart[];
  /** Its first word `remand` is this program; `{codexArgs}` in a word becomes the arguments that Codex needs. */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  onLine(line: string, stream: "stdout" | "stderr"): void;
}

export interface RehearsalReport {
  /** Of the command; `null`: it was ended. */
  readonly exitCode: number | null;
  readonly requests: number;
  /** Requests that the script has no reply for, or that no protocol knows. */
  readonly unexpected: readonly string[];
  /** Replies that were not asked for. */
  readonly left: number;
}
