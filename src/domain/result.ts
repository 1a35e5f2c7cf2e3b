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
