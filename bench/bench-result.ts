/** One thing that was measured, beside what it is compared with: a floor or a peer, measured in the same run. */
export interface BenchResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** `value` over the value of `against`, or whatever ratio the limit is about. */
  readonly ratio: number;
  readonly against: string;
  /** The ratio may not be above this; `null` where the figure is shown for information only. */
  readonly limit: number | null;
}

/** What every file of this folder but the runner's own exports. */
export interface BenchModule {
  /** It is handed what was typed as `--name value`. */
  run(options: ReadonlyMap<string, string>): Promise<readonly BenchResult[]> | readonly BenchResult[];
}

/** What a benchmark was given cannot be measured; the message says why, and what to do. */
export class Unusable extends Error {}

export const isOver = ({ ratio, limit }: BenchResult): boolean => limit !== null && !(ratio <= limit);

/** The middle one of an odd number of measurements, the mean of the two in the middle of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
