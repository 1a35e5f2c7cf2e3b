import type { ConfigPart } from "../config.ts";

/** S1: a TDD pair and a pipeline of gates, up to the merge. IMPORTANT findings require action too. */
export const factory: ConfigPart = {
  // A project that has only the two usual roles can begin with this preset.
  agents: {
    "tdd-pair": { fallback: "developer" },
    "spec-reviewer": { fallback: "critic" },
    "code-reviewer": { fallback: "critic" },
    "domain-reviewer": { fallback: "critic" },
    "ci-integration": { fallback: "developer" },
  },
  roles: {
    phase: { implement: "tdd-pair" },
    stage: {
      "spec-compliance": "spec-reviewer",
      "code-quality": "code-reviewer",
      "domain-integrity": "domain-reviewer",
    },
  },
  phases: { implement: ["integrity", "tdd", "review", "mutation", "ci", "merge"] },
  gates: {
    review: {
      stages: ["spec-compliance", "code-quality", "domain-integrity"],
      perspectives: [],
      failOn: { blocker: 1, critical: 1, major: 1 },
    },
  },
  requireTest: true,
  limits: { failures: 3 },
  deliver: "merge",
};
