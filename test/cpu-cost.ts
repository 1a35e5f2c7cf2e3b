import { expect } from "vitest";

/** Four times the input may cost eight times as much: between the four of linear work and the sixteen of quadratic. */
const GROWTH = 4;
const MOST_GROWTH = 8;
/** Below this, compiling the code costs more than running it, and a ratio says nothing. */
const LEAST_MS = 15;
const TRIES = 4;

/** Processor time that the work took, in ms. Unlike wall time it does not grow with what else the machine does. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return msOf(process.cpuUsage(before));
}

/**
 * Asserts that the cost of the work grows with its input and not with the square of it. `make` builds the input, which
 * is not measured, and gives the work; `size` is the large one of the two sizes that are compared.
 */
export function expectLinearCost(size: number, make: (size: number) => () => unknown): void {
  let growth = Infinity;
  for (let tries = 0; tries < TRIES && growth > MOST_GROWTH; tries++)
    growth = Math.min(growth, growthOf(cpuMsOf(make(Math.ceil(size / GROWTH))), cpuMsOf(make(size))));
  expectLinear(growth);
}

/** The same of work that waits in between. */
export async function expectLinearCostOf(size: number, work: (size: number) => Promise<unknown>): Promise<void> {
  const cost = async (n: number): Promise<number> => {
    const before = process.cpuUsage();
    await work(n);
    return msOf(process.cpuUsage(before));
  };
  let growth = Infinity;
  for (let tries = 0; tries < TRIES && growth > MOST_GROWTH; tries++)
    growth = Math.min(growth, growthOf(await cost(Math.ceil(size / GROWTH)), await cost(size)));
  expectLinear(growth);
}

const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;
const growthOf = (small: number, large: number): number => large / Math.max(LEAST_MS, small);

function expectLinear(growth: number): void {
  expect(growth, `cost of ${GROWTH} times the input, divided by that of the input`).toBeLessThanOrEqual(MOST_GROWTH);
}
