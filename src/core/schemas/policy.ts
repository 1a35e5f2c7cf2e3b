import { z } from "zod";
import { GATES, byGate } from "../gates/gate.ts";
import { GATE_REGISTRY } from "../gates/registry.ts";
import { byStopSetting } from "../stories/stop-rules.ts";
import { PHASES } from "../stories/story.ts";
import { AUTONOMIES, PRESETS } from "../events/policy.ts";
import { SEVERITIES } from "../gates/severity.ts";
import { amount, byName, count, roleNameSchema, scopeExceptionsSchema, text, texts } from "./scalars.ts";

export const deliverySchema = z.enum(["branch", "merge", "pull-request"]);

const spendLimits = z.strictObject({
  costUsd: amount.nullable(),
  tokens: amount.nullable(),
  timeMs: amount.nullable(),
});

const limits = z.strictObject({
  failures: byGateOr(count.nullable(), null),
  iterations: count,
  perLocation: count,
  errors: count,
  inconclusives: count,
  blocked: count,
  agentFailures: count,
  timeouts: count,
  rateLimits: count,
  refusals: count,
  dependencyWaits: count,
  targetMoves: count.exactOptional(),
  clarifications: count,
  ciRetries: count,
  remediations: count,
  transientRetries: count,
  backoffMs: amount,
  timeoutMs: z.strictObject({ developer: amount, critic: amount, auditor: amount, remediation: amount }),
  story: spendLimits,
  run: spendLimits,
});

/** How one gate judges. */
export const gateRulesSchema = z.strictObject({
  failOn: z.strictObject(each(SEVERITIES, count.exactOptional())),
  everyFinding: z.boolean(),
  affectedBy: texts,
  unaffectedBy: texts,
  stages: texts,
  stageOrder: z.enum(["in-order", "side-by-side"]),
  blame: z.boolean(),
  onUnexplained: z.enum(["escalate", "send-back"]),
});

/** Of a gate that was added after the policy was stored: no phase of that policy has it. */
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

/** A failure of the base that a person knows about. */
export const knownFailureSchema = z.strictObject({ test: text, reason: text, by: text.exactOptional() });

const rolesByName = byName(text, roleNameSchema);

const roles = z.strictObject({
  phase: z.strictObject(each(PHASES, roleNameSchema)),
  stage: rolesByName,
  critic: roleNameSchema,
  auditor: roleNameSchema,
  remediation: roleNameSchema,
  healthCheck: roleNameSchema,
  adjudicator: roleNameSchema,
  ciIntegration: roleNameSchema,
  fallback: rolesByName,
  reinforcement: z
    .array(
      z.strictObject({
        role: roleNameSchema,
        stronger: z.strictObject({ model: text, after: count }).exactOptional(),
        freshAfter: count.exactOptional(),
      }),
    )
    .exactOptional(),
});

/** The rules a story runs under, with every value there: what it started with is read back, never guessed again. */
export const policySchema = z.strictObject({
  preset: z.enum(PRESETS),
  autonomy: z.enum(AUTONOMIES),
  phases: z.array(z.strictObject({ phase: z.enum(PHASES), gates: z.array(z.enum(GATES)) })),
  limits,
  stall: z.strictObject({
    ...byStopSetting({ count, flag: z.boolean() }),
    grace: count,
  }),
  gates: byGateOr(gateRulesSchema, RULES_OF_UNKNOWN_GATE),
  roles,
  specialists: z.array(
    z.strictObject({
      role: roleNameSchema,
      languages: texts.exactOptional(),
      paths: texts.exactOptional(),
      categories: texts.exactOptional(),
    }),
  ),
  concurrency: z.strictObject({
    developers: count,
    critics: count,
    auditors: count,
    checks: count,
    stories: count.nullable(),
  }),
  onExhausted: z.enum(["manual", "error", "skip"]),
  circuitBreaker: z.boolean(),
  deliver: deliverySchema,
  merge: z.enum(["manual", "auto"]),
  scope: z.strictObject({
    exceptions: scopeExceptionsSchema,
    outside: z.enum(["send-back", "revert"]),
    testPaths: texts,
    typePaths: texts,
  }),
  knownFailures: z.array(knownFailureSchema).exactOptional(),
  requireTest: z.boolean().exactOptional(),
});

/** The same schema under each of the names. */
function each<Name extends string, Schema>(names: readonly Name[], schema: Schema): Record<Name, Schema> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/** The schema for each gate. For a gate that an older policy lacks, this value is read. */
function byGateOr<Schema extends z.ZodType>(schema: Schema, older: z.output<Schema>) {
  const withDefault = schema.default(older as never) as unknown as Schema;
  return z.strictObject(byGate((gate) => (GATE_REGISTRY[gate].isInEveryPolicy ? schema : withDefault)));
}
