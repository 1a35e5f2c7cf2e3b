/** One measured figure, with what it is compared with: a floor or a peer, measured in the same run. */
export interface BenchResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** `value` divided by the value of `against`, or another ratio that the limit applies to. */
  readonly ratio: number;
  readonly against: string;
  /** The maximum ratio; `null` for a figure that is only informative. */
  readonly limit: number | null;
}

/** The exports of every file in this folder except the runner's own. */
export interface BenchModule {
  /** `options` has the arguments that were typed as `--name value`. */
  run(options: ReadonlyMap<string, string>): Promise<readonly BenchResult[]> | readonly BenchResult[];
}

/** The given input cannot be measured; the message says why, and what to do. */
export class Unusable extends Error {}

export const isOver = ({ ratio, limit }: BenchResult): boolean => limit !== null && !(ratio <= limit);

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
