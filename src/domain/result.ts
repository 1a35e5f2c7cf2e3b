/**
 * What a gate says. Only `pass` opens it.
 *
 * - `fail`: the work is not good enough.
 * - `blocked`: the surroundings are broken, the work could not be judged.
 * - `error`: the gate itself broke: its reviewer crashed, timed out, said nothing readable.
 * - `inconclusive`: it ran and proved nothing: zero tests, an empty scope, a missing report, a flake.
 */
export const RESULTS = ["pass", "fail", "blocked", "error", "inconclusive"] as const;
export type Result = (typeof RESULTS)[number];

/** Gravest first. A failure of the work is something to act on; then comes what kept a gate from judging. */
const BY_WEIGHT: readonly Result[] = ["fail", "blocked", "error", "inconclusive", "pass"];

/** For sorting: the gravest first. */
export const byWeight = (a: Result, b: Result): number => BY_WEIGHT.indexOf(a) - BY_WEIGHT.indexOf(b);

/** The one result of several. Where nothing was said, nothing was proven. */
export const worstResult = (results: readonly Result[]): Result =>
  BY_WEIGHT.find((result) => results.includes(result)) ?? "inconclusive";
