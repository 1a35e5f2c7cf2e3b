/** Runs that may be under way side by side, and such as must be made alone. */
export interface Company {
  /** Makes a run, and says whether another was under way at any time of it. */
  among<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly hadCompany: boolean }>;
  /** Makes a run when all others are over, and lets none begin before it is. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export function createCompany(): Company {
  const under = new Set<{ hadCompany: boolean }>();
  /** Whoever waits looks again whenever something is over. */
  let waiting: (() => void)[] = [];
  let reserved = 0;
  const change = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const over = (): void => {
    const all = waiting;
    waiting = [];
    for (const look of all) look();
  };
  return {
    async among(work) {
      while (reserved > 0) await change();
      const own = { hadCompany: under.size > 0 };
      for (const other of under) other.hadCompany = true;
      under.add(own);
      try {
        return { result: await work(), hadCompany: own.hadCompany };
      } finally {
        under.delete(own);
        over();
      }
    },
    async alone(work) {
      reserved++;
      while (under.size > 0) await change();
      const own = { hadCompany: false };
      under.add(own);
      try {
        return await work();
      } finally {
        under.delete(own);
        reserved--;
        over();
      }
    },
  };
}
