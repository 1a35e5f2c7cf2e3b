/** How fast people may speak: some words at once, then one after the other. A page gone wild is stopped by it. */
export interface WriteLimit {
  /** `0`: go on. Else how many seconds to wait. */
  take(): number;
}

export function createWriteLimit(now: () => number, burst = 10, perSecond = 0.5): WriteLimit {
  let left = burst;
  let at = now();
  return {
    take: () => {
      const time = now();
      left = Math.min(burst, left + ((time - at) / 1000) * perSecond);
      at = time;
      if (left >= 1) {
        left -= 1;
        return 0;
      }
      return Math.ceil((1 - left) / perSecond);
    },
  };
}
