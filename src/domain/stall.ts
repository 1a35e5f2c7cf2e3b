/** No progress, by rule. Each rule ends a loop inside its budget. */
export const STALLS = [
  "same-failure",
  "no-change",
  "oscillation",
  "plateau",
  "regression-cascade",
  "trouble-spot",
] as const;
export type Stall = (typeof STALLS)[number];
