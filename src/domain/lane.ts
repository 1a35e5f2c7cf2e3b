/**
 * Who does the next step. Each lane has its own limit of what may run at once; `engine` has none. They stand in the
 * order in which free hands are given out: what is in flight is finished before anything new begins (S2).
 */
export const LANES = ["engine", "critics", "auditors", "checks", "developers"] as const;
export type Lane = (typeof LANES)[number];
