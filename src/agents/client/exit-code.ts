import { plainText } from "../../stdx/plain-text.ts";
import type { AgentError, AgentResult } from "../../ports/agent.ts";

/**
 * What a program's exit code says: 0 it went well, 75 try again later, 77 it may not (no login), 64 and 78 it was
 * called or set up wrongly, 126 and 127 it could not be started. These are the meanings that `sysexits.h` and the
 * shell gave them. Any other code is a crash.
 */
export function exitError(name: string, exitCode: number, output: string): AgentError | null {
  if (exitCode === 0) return null;
  const said = lastWords(output);
  const message = `${name} ended with exit code ${exitCode}${said === "" ? "" : `: ${said}`}`;
  switch (exitCode) {
    case 75:
      return { kind: "overloaded", message };
    case 77:
      return {
        kind: "auth",
        message,
        fix: `log in for ${name}, or give it the key it asks for, then send the story back`,
      };
    case 64:
    case 78:
      return {
        kind: "bad-request",
        message,
        fix: `correct the command or the set-up of ${name}, then send the story back`,
      };
    case 126:
    case 127:
      return { kind: "launch", message, fix: `install ${name}, or correct its command` };
    default:
      return { kind: "crash", message };
  }
}

const LONGEST_WORDS = 300;

export function lastWords(output: string): string {
  const lines = plainText(output.slice(-4000))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.slice(-3).join(" / ").slice(-LONGEST_WORDS);
}

/** The result of a dispatch that came to nothing before the agent could say a word. */
export function failedResult(error: AgentError, durationMs: number): AgentResult {
  return {
    status: "failed",
    session: null,
    text: "",
    output: null,
    tokens: null,
    costUsd: null,
    denied: [],
    error,
    durationMs,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
