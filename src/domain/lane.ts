/** Who does the next step. Each lane has its own limit of what may run at once; `engine` has none. */
export const LANES = ["engine", "developers", "critics", "auditors", "checks"] as const;
export type Lane = (typeof LANES)[number];
