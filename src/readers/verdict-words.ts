import { RESULT_OF_SIGNAL, SIGNALS, type ReadingResult } from "../domain/signal.ts";
import { isRecord } from "../stdx/is-record.ts";
import { listOf, pick, textOf, type Fields } from "./data-fields.ts";

/**
 * What an object says about the work, by every key that may say it. `null`: it is no verdict at all. Keys that say
 * different things, and words that nobody knows, make the verdict unknown.
 */
export function spokenResult(
  fields: Fields,
): { readonly result: ReadingResult; readonly problem: string | null } | null {
  const said = new Map<ReadingResult, string>();
  for (const [key, result] of sayings(fields)) if (!said.has(result)) said.set(result, key);
  if (said.size === 0) return null;
  const [[result, key]] = [...said] as [[ReadingResult, string]];
  if (said.size > 1) {
    return {
      result: "unknown",
      problem: `The verdict contradicts itself: ${[...said.values()].join(" and ")} disagree.`,
    };
  }
  return {
    result,
    problem: result === "unknown" ? `The verdict's "${key}" is not a word that says pass or fail.` : null,
  };
}

function* sayings(fields: Fields): Generator<readonly [string, ReadingResult]> {
  for (const key of ["passed", "approved", "converged"]) {
    const value = pick(fields, key);
    if (value === true || value === "true") yield [key, "pass"];
    if (value === false || value === "false") yield [key, "fail"];
  }
  // These two are about verdicts and nothing else, so a word that is not known still makes the object one.
  for (const key of ["verdict", "decision"]) {
    const word = textOf(pick(fields, key));
    if (word !== null) yield [key, key === "decision" ? decisionOf(word) : (wordResult(word) ?? "unknown")];
  }
  for (const key of ["signal", "result", "overall", "gate_verdict"]) {
    const result = wordResult(textOf(pick(fields, key)));
    if (result !== undefined) yield [key, result];
  }
  // Everything has a status; a verdict has one beside its issues.
  const result =
    pick(fields, "issues", "findings") === undefined ? undefined : wordResult(textOf(pick(fields, "status")));
  if (result !== undefined) yield ["status", result];
  const stages = stagesResult(pick(fields, "stages"));
  if (stages !== undefined) yield ["stages", stages];
}

/** S4: a decision FAILED or RECOVERY is the reviewer's own breakdown, and says nothing about the work. */
function decisionOf(word: string): ReadingResult {
  return /^(?:failed|recovery)$/i.test(word) ? "unknown" : (wordResult(word) ?? "unknown");
}

/** S1: a review is as good as the worst of its stages. */
function stagesResult(stages: unknown): ReadingResult | undefined {
  const results = (isRecord(stages) ? Object.values(stages) : listOf(stages))
    .filter(isRecord)
    .map((stage) => wordResult(textOf(pick(stage, "verdict", "result"))));
  if (results.length === 0 || results.includes(undefined)) return undefined;
  return results.find((result) => result !== "pass") ?? "pass";
}

export function wordResult(word: string | null): ReadingResult | undefined {
  if (word === null || word.length > 40) return undefined;
  return WORDS.get(word.toLowerCase().replace(/[\s_-]+/g, " "));
}

const WORDS: ReadonlyMap<string, ReadingResult> = new Map<string, ReadingResult>([
  ...SIGNALS.map((signal) => [signal.toLowerCase().replaceAll("_", " "), RESULT_OF_SIGNAL[signal]] as const),
  ...["pass", "passed", "approve", "approved", "accept", "accepted", "converged"].map((w) => [w, "pass"] as const),
  ...["fail", "failed", "reject", "rejected", "partial", "not approved", "not passed"].map((w) => [w, "fail"] as const),
  ...["changes required", "changes requested", "request changes", "needs work"].map((w) => [w, "fail"] as const),
  ...["needs revision", "needs rework", "needs changes", "not converged"].map((w) => [w, "fail"] as const),
  ["blocked", "blocked"],
  ["incomplete", "incomplete"],
  ["ready", "ready"],
]);
