import type { ConfigPart } from "../config.ts";

/**
 * S4: a story goes through four phases, each reviewed before the next, and ends in a pull request. Its "three
 * reworks" are four failures.
 */
export const story: ConfigPart = {
  // A project that has only the two usual roles can begin with this preset.
  agents: {
    refiner: { fallback: "developer" },
    researcher: { fallback: "developer" },
    planner: { fallback: "developer" },
    "security-reviewer": { fallback: "critic" },
    "product-owner": { fallback: "critic" },
    "code-reviewer": { fallback: "critic" },
  },
  roles: {
    stage: { security: "security-reviewer", "product-owner": "product-owner", code: "code-reviewer" },
  },
  phases: {
    refine: ["integrity", "review"],
    research: ["integrity", "review"],
    plan: ["integrity", "review"],
    implement: ["integrity", "checks", "review"],
  },
  gates: { review: { stages: [], perspectives: ["security", "product-owner", "code"] } },
  // A place may fail as often as a gate may: three would stop the third rework that S4 promises.
  limits: { failures: 4, perLocation: 4 },
  deliver: "pull-request",
};
