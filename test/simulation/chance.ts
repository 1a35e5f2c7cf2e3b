import { createHash } from "node:crypto";

/** Chance that can be told again: a number from 0 to 1 for a seed and whatever it is about. */
export function chance(...about: readonly (string | number)[]): number {
  return createHash("sha1").update(about.join("\n")).digest().readUInt32BE(0) / 2 ** 32;
}

/** One of several, by weight. */
export function pick<T>(at: number, weighted: readonly (readonly [number, T])[]): T {
  const sum = weighted.reduce((total, [weight]) => total + weight, 0);
  let left = at * sum;
  for (const [weight, value] of weighted) {
    left -= weight;
    if (left < 0) return value;
  }
  return weighted[weighted.length - 1]![1];
}
