import type { ConfigPart } from "../config.ts";

/** S3: one goal, its checks, and blame; bounded by the whole loop and by each place in the code. */
export const goal: ConfigPart = {
  phases: { implement: ["integrity", "checks"] },
  gates: { checks: { blame: true, onUnexplained: "escalate" } },
  // The whole loop is what is bounded here, so a gate has no limit of its own.
  limits: { failures: null, iterations: 15, perLocation: 3, costUsd: 10, time: "2h" },
  stall: { grace: 1 },
};
