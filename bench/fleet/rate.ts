/** Throughput, and processor time per step. */
export interface Rate {
  readonly perSecond: number;
  readonly workerMs: number;
  readonly serverMs: number;
  readonly stepsOfStory: number;
}

export interface Meter {
  /** Of all workers together. */
  workersMs(): Promise<number>;
  serverMs(): Promise<number>;
}

export async function measureRate(stories: number, meter: Meter, work: () => Promise<number>): Promise<Rate> {
  const before = { workers: await meter.workersMs(), server: await meter.serverMs() };
  const begin = performance.now();
  const steps = await work();
  const seconds = (performance.now() - begin) / 1000;
  return {
    perSecond: steps / seconds,
    workerMs: ((await meter.workersMs()) - before.workers) / steps,
    serverMs: ((await meter.serverMs()) - before.server) / steps,
    stepsOfStory: steps / stories,
  };
}
