import type { Autonomy, Policy, PresetName } from "../core/events/policy.ts";
import type { Config, ConfigPart } from "./config.ts";
import { DEFAULTS } from "./defaults.ts";
import { type TreeMap, overlay } from "./layer.ts";
import { policyOf } from "./policy-of.ts";

/** S0.24 and S2.1: a developer, the checks in every environment, one critic, one auditor; every listed issue is fixed. */
const criticAudit: ConfigPart = {
  phases: { implement: ["integrity", "checks", "review", "audit"] },
  gates: { review: { everyFinding: true }, audit: { everyFinding: true } },
  limits: { failures: 3 },
};

/** A TDD pair and a pipeline of gates, up to the merge. IMPORTANT findings require action, too (S1.11). */
const factory: ConfigPart = {
  // A project that has only the two usual roles can start with this preset.
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
      domain: "domain-reviewer",
      "spec-compliance": "spec-reviewer",
      "code-quality": "code-reviewer",
      "domain-integrity": "domain-reviewer",
    },
  },
  phases: { implement: ["integrity", "tdd", "review", "mutation", "ci", "merge"] },
  gates: {
    // S1.2: the cycle ends with a review of the types; an unresolved concern fails it.
    tdd: { stages: ["domain"], failOn: { blocker: 1, critical: 1, major: 1 } },
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

/**
 * S3.30: one goal, its checks, and blame; limited for the whole loop and for each code location. Its three reworks of
 * one location are four failures.
 */
const goal: ConfigPart = {
  phases: { implement: ["integrity", "checks"] },
  gates: { checks: { blame: true, onUnexplained: "escalate" } },
  // The whole loop is limited, so gates have no limit of their own.
  limits: { failures: null, iterations: 15, perLocation: 4, costUsd: 10, time: "2h" },
  stall: { grace: 1, sameFailure: 4, plateau: 3 },
};

/**
 * S4.28: a story goes through four phases and ends in a pull request. Three reviewers look at the implementation
 * (S4.32); their findings send back research, plan or code (S4.56). Its "three reworks" are four failures.
 */
const story: ConfigPart = {
  // A project that has only the two usual roles can start with this preset.
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
    refine: ["integrity"],
    research: ["integrity"],
    plan: ["integrity"],
    implement: ["integrity", "checks", "review"],
  },
  gates: { review: { stages: [], perspectives: ["security", "product-owner", "code"] } },
  // A location may fail as often as a gate: a limit of three would prevent the third rework that S4.69 promises.
  limits: { failures: 4, perLocation: 4 },
  deliver: "pull-request",
};

/** The settings of each preset that differ from the defaults. */
export const PRESET_PARTS: { readonly [N in PresetName]: ConfigPart } = {
  "critic-audit": criticAudit,
  factory,
  goal,
  story,
};

/** The policy of a preset, without any file of a person. */
export function presetPolicy(name: PresetName): Policy {
  return policyOf(presetConfig(name));
}

export function presetConfig(name: PresetName): Config {
  const layers: ConfigPart[] = [AUTONOMY_PARTS[DEFAULTS.autonomy], PRESET_PARTS[name], { preset: name }];
  let config = DEFAULTS as unknown as TreeMap;
  for (const layer of layers) config = overlay(config, layer as unknown as TreeMap);
  return config as unknown as Config;
}

/** The autonomy level changes these defaults; explicit settings win. */
export const AUTONOMY_PARTS: { readonly [A in Autonomy]: ConfigPart } = {
  conservative: { concurrency: { stories: 1 } },
  standard: {},
  full: { concurrency: { stories: 3 }, merge: "auto" },
};
