import type { ScopeException } from "../domain/scope.ts";
import { plainText } from "../stdx/plain-text.ts";

/**
 * The lines `Scope exception: <file>: <reason>` of an agent's message. They only say what the agent claims: whether
 * an exception is granted is for the rules, and what was changed is asked of git.
 */
export function readScopeExceptions(text: string): ScopeException[] {
  const exceptions = new Map<string, ScopeException>();
  for (const line of plainText(text.slice(-LONGEST_READ)).split("\n")) {
    const [, path, rationale] = EXCEPTION.exec(line) ?? [];
    if (path === undefined || rationale === undefined) continue;
    if (exceptions.size < MOST) exceptions.set(path, { path, rationale: rationale.slice(0, LONGEST_REASON) });
  }
  return [...exceptions.values()];
}

const EXCEPTION = /^(?:[-*] )?`?Scope exception: `?([^\s:`][^:`]{0,500})`?: (\S.*?)`?\s*$/i;
const LONGEST_READ = 100_000;
const LONGEST_REASON = 1000;
const MOST = 100;
