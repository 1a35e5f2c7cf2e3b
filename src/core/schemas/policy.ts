import { z } from "zod";
import { GATES, byGate } from "../gates/gate.ts";
import { GATE_REGISTRY } from "../gates/registry.ts";
import { byStopSetting } from "../stories/stop-rules.ts";
import { PHASES } from "../stories/story.ts";
import { AUTONOMIES, PRESETS } from "../events/policy.ts";
import { SEVERITIES } from "../gates/finding.ts";
import { amount, byName, count, roleNameSchema, text, texts } from "./scalars.ts";
import { scopeExceptionsSchema } from "./story.ts";

export const deliverySchema = z.enum(["branch", "merge", "pull-request"]);

/** `null`: no limit. */
const spendLimits = z.strictObject({
  costUsd: amount.nullable(),
  tokens: amount.nullable(),
  timeMs: amount.nullable(),
});

/** The bounds of all loops. Only `failures`, `iterations` and `perLocation` count rework. */
const limits = z.strictObject({
  /** The N-th failed judgement of a gate raises an escalation. `null`: only `iterations` limits rework. */
  failures: byGateOr(count.nullable(), null),
  /** Attempts of a whole story. */
  iterations: count,
  /** Failures blamed on one location without a pass between them. */
  perLocation: count,
  /** Errors of a gate in a row. */
  errors: count,
  inconclusives: count,
  /** `blocked` judgements of one story, each after infrastructure was reported healthy again. */
  blocked: count,
  /** Dispatches in a row without a usable result. */
  agentFailures: count,
  /** Timeouts of one story, never reset. */
  timeouts: count,
  rateLimits: count,
  refusals: count,
  dependencyWaits: count,
  /** How often the target may move before a person is asked; absent in older policies: `DEFAULT_TARGET_MOVES`. */
  targetMoves: count.exactOptional(),
  /** How often an agent is asked to repeat its reply before its attempt counts as unclear. */
  clarifications: count,
  /** Retries of an outside CI run whose failure the work did not cause. */
  ciRetries: count,
  remediations: count,
  transientRetries: count,
  /** The wait before the first retry; each further wait doubles it. */
  backoffMs: amount,
  timeoutMs: z.strictObject({ developer: amount, critic: amount, auditor: amount, remediation: amount }),
  story: spendLimits,
  /** `actions`: attempts and gate runs of all stories together; absent in older policies: no limit. */
  run: spendLimits.extend({ actions: count.nullable().exactOptional() }),
});

/** How one gate judges. */
export const gateRulesSchema = z.strictObject({
  failOn: z.strictObject(each(SEVERITIES, count.exactOptional())),
  /** Every finding must be fixed, whatever its severity (S0.13). */
  everyFinding: z.boolean(),
  /** Paths that can change this gate's evidence; empty: all paths. */
  affectedBy: texts,
  /** Paths that cannot change it, even if `affectedBy` matches them. */
  unaffectedBy: texts,
  /** Ordered stages, or perspectives that run side by side; empty for a gate without parts. */
  stages: texts,
  stageOrder: z.enum(["in-order", "side-by-side"]),
  /** Whether blame searches for the change that caused a failure before the work is sent back. */
  blame: z.boolean(),
  /** What happens after a failure that blame cannot explain. */
  onUnexplained: z.enum(["escalate", "send-back"]),
});

/** Rules of a gate that was added after the policy was stored: no phase of that policy has it. */
const RULES_OF_UNKNOWN_GATE: z.output<typeof gateRulesSchema> = {
  failOn: {},
  everyFinding: false,
  affectedBy: [],
  unaffectedBy: [],
  stages: [],
  stageOrder: "in-order",
  blame: false,
  onUnexplained: "send-back",
};

/** A failure that a person knows about: it existed before the work, and the work neither caused it nor must fix it. */
export const knownFailureSchema = z.strictObject({
  /** The name of a test, its file, or a pattern of either. */
  test: text,
  reason: text,
  /** The person who said so when answering a question; absent: the configuration says so. */
  by: text.exactOptional(),
});

const rolesByName = byName(text, roleNameSchema);

const roles = z.strictObject({
  phase: z.strictObject(each(PHASES, roleNameSchema)),
  stage: rolesByName,
  critic: roleNameSchema,
  auditor: roleNameSchema,
  /** Absent in older policies: `DEFAULT_ORACLE`. */
  oracle: roleNameSchema.exactOptional(),
  remediation: roleNameSchema,
  healthCheck: roleNameSchema,
  adjudicator: roleNameSchema,
  ciIntegration: roleNameSchema,
  fallback: rolesByName,
  /** What changes for a role whose work keeps failing; absent: nothing. */
  reinforcement: z
    .array(
      z.strictObject({
        role: roleNameSchema,
        /** Another model, once this many attempts in one phase have failed. */
        stronger: z.strictObject({ model: text, after: count }).exactOptional(),
        /** After this many failures in one conversation, the next attempt begins a new one. */
        freshAfter: count.exactOptional(),
      }),
    )
    .exactOptional(),
});

/**
 * The rules of a story, with every value resolved. A story keeps the policy it started with. Config (files, presets,
 * flags) becomes a policy before anything is decided.
 */
export const policySchema = z.strictObject({
  preset: z.enum(PRESETS),
  autonomy: z.enum(AUTONOMIES),
  /** The gates of each phase, in the order in which they run. */
  phases: z.array(z.strictObject({ phase: z.enum(PHASES), gates: z.array(z.enum(GATES)) })),
  limits,
  /** Zero switches a rule off. */
  stall: z.strictObject({
    ...byStopSetting({ count: () => count, flag: () => z.boolean() }),
    /** Extra rounds for work that improved in every round. */
    grace: count,
  }),
  gates: byGateOr(gateRulesSchema, RULES_OF_UNKNOWN_GATE),
  roles,
  /** All given conditions must hold. The first specialist that matches is chosen. */
  specialists: z.array(
    z.strictObject({
      role: roleNameSchema,
      languages: texts.exactOptional(),
      paths: texts.exactOptional(),
      categories: texts.exactOptional(),
    }),
  ),
  /** How many of each may run at once. */
  concurrency: z.strictObject({
    developers: count,
    critics: count,
    auditors: count,
    checks: count,
    /** Stories in progress; `null`: no limit of its own. */
    stories: count.nullable(),
  }),
  onExhausted: z.enum(["manual", "error", "skip"]),
  circuitBreaker: z.boolean(),
  /** How work that passed all gates is delivered. */
  deliver: deliverySchema,
  merge: z.enum(["manual", "auto"]),
  scope: z.strictObject({
    exceptions: scopeExceptionsSchema,
    /** What happens to changes outside the scope that no reason excuses. */
    outside: z.enum(["send-back", "revert"]),
    testPaths: texts,
    typePaths: texts,
  }),
  /** Failures at the base that people know about; absent: none. */
  knownFailures: z.array(knownFailureSchema).exactOptional(),
  /** Whether work is rejected if no test covers it; absent: no. */
  requireTest: z.boolean().exactOptional(),
});

/** Returns an object with the same schema under each name. */
function each<Name extends string, Schema>(names: readonly Name[], schema: Schema): Record<Name, Schema> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/** Returns an object with the schema for each gate. `older` is the value for a gate that an older policy lacks. */
function byGateOr<Schema extends z.ZodType>(schema: Schema, older: z.output<Schema>) {
  const withDefault = schema.default(older as never) as unknown as Schema;
  return z.strictObject(byGate((gate) => (GATE_REGISTRY[gate].isInEveryPolicy ? schema : withDefault)));
}
