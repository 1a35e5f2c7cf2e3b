import type { ConfigPart } from "../config.ts";

/** S0 and S2: a developer, the checks in every environment, one critic, one auditor; every listed issue is fixed. */
export const criticAudit: ConfigPart = {
  phases: { implement: ["integrity", "checks", "review", "audit"] },
  gates: { review: { everyFinding: true }, audit: { everyFinding: true } },
  limits: { failures: 3 },
};
