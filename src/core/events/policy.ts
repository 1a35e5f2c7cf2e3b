import type { gateRulesSchema, policySchema } from "../schemas/policy.ts";
import { type RoleName, roleName } from "./ids.ts";
import type { Stored } from "../schemas/scalars.ts";

/** The rules of a story, with every value resolved. */
export type Policy = Stored<typeof policySchema>;

export type PhasePlan = Policy["phases"][number];
export type Limits = Policy["limits"];
export type SpendLimits = Limits["story"];
export type GateRules = Stored<typeof gateRulesSchema>;
export type Roles = Policy["roles"];
export type Reinforcement = NonNullable<Roles["reinforcement"]>[number];
export type Specialist = Policy["specialists"][number];

export const PRESETS = ["critic-audit", "factory", "goal", "story"] as const;
export type PresetName = (typeof PRESETS)[number];

export const AUTONOMIES = ["conservative", "standard", "full"] as const;
export type Autonomy = (typeof AUTONOMIES)[number];

/** The role that says whether a goal is reached, if no role is named. */
export const DEFAULT_ORACLE = roleName("oracle");

export const roleOfReviewer = (roles: Roles, reviewer: "critic" | "auditor" | "oracle"): RoleName =>
  roles[reviewer] ?? DEFAULT_ORACLE;

export const DEFAULT_TARGET_MOVES = 10;
