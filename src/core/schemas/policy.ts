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

/** `null` is no limit. */
const spendLimits = z.strictObject({
  costUsd: amount.nullable(),
  tokens: amount.nullable(),
  timeMs: amount.nullable(),
});

/** Every loop has its own bound; only `failures` (and `iterations`, `perLocation`) count rework. */
const limits = z.strictObject({
  /** The N-th failed judgement of a gate escalates instead of sending back. `null`: `iterations` is the bound. */
  failures: byGateOr(count.nullable(), null),
  /** Attempts of a whole story. */
  iterations: count,
  /** Failures blamed on one place without a pass between them. */
  perLocation: count,
  /** A gate that breaks, again and again. */
  errors: count,
  inconclusives: count,
  /** `blocked` judgements of one story, each after infrastructure was called healthy again. */
  blocked: count,
  /** Dispatches in a row that ended in nothing usable. */
  agentFailures: count,
  /** Timeouts of one story, over its whole life. */
  timeouts: count,
  rateLimits: count,
  refusals: count,
  dependencyWaits: count,
  /**
   * Times the target may move under finished work before a person is asked; rules stored without it:
   * `DEFAULT_TARGET_MOVES`.
   */
  targetMoves: count.exactOptional(),
  /** Times an agent is asked to say it again before its attempt counts as unclear. */
  clarifications: count,
  /** Retries of an outside CI run that failed for reasons of its own. */
  ciRetries: count,
  remediations: count,
  transientRetries: count,
  /** First wait before a retry; each further one doubles it. */
  backoffMs: amount,
  timeoutMs: z.strictObject({ developer: amount, critic: amount, auditor: amount, remediation: amount }),
  story: spendLimits,
  /** `actions`: attempts and gate runs of all stories together; rules stored without it have no such limit. */
  run: spendLimits.extend({ actions: count.nullable().exactOptional() }),
});

/** How one gate judges. */
export const gateRulesSchema = z.strictObject({
  failOn: z.strictObject(each(SEVERITIES, count.exactOptional())),
  /** Every finding must be fixed, whatever its severity (S0.13). */
  everyFinding: z.boolean(),
  /** Paths that can change this gate's evidence; empty means all. */
  affectedBy: texts,
  /** Paths that cannot, even if the above says so. */
  unaffectedBy: texts,
  /** Ordered stages, or perspectives looked at side by side; empty for a gate without parts. */
  stages: texts,
  stageOrder: z.enum(["in-order", "side-by-side"]),
  /** Is the change that caused a failure looked for before the work goes back? */
  blame: z.boolean(),
  /** What happens after a failure that blame cannot explain. */
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

/** A failure that a person knows about: it was there before the work, and is neither its target nor its fault. */
export const knownFailureSchema = z.strictObject({
  /** The name of a test, its file, or a pattern of either. */
  test: text,
  reason: text,
  /** Who said so in answer to a question; without it, the configuration did. */
  by: text.exactOptional(),
});

const rolesByName = byName(text, roleNameSchema);

const roles = z.strictObject({
  phase: z.strictObject(each(PHASES, roleNameSchema)),
  stage: rolesByName,
  critic: roleNameSchema,
  auditor: roleNameSchema,
  /** Rules stored without it: `DEFAULT_ORACLE`. */
  oracle: roleNameSchema.exactOptional(),
  remediation: roleNameSchema,
  healthCheck: roleNameSchema,
  adjudicator: roleNameSchema,
  ciIntegration: roleNameSchema,
  fallback: rolesByName,
  /** What changes about a role whose work keeps failing; without it, nothing. */
  reinforcement: z
    .array(
      z.strictObject({
        role: roleNameSchema,
        /** Another model, from the attempt after that many failures in one phase on. */
        stronger: z.strictObject({ model: text, after: count }).exactOptional(),
        /** After that many failures in one conversation the next attempt begins a new one. */
        freshAfter: count.exactOptional(),
      }),
    )
    .exactOptional(),
});

/**
 * The rules a story runs under, resolved: every value is there. A story keeps the policy it started with. Config (files,
 * presets, flags) is turned into one of these before anything is decided.
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
    /** Extra rounds for work that got strictly better each time. */
    grace: count,
  }),
  gates: byGateOr(gateRulesSchema, RULES_OF_UNKNOWN_GATE),
  roles,
  /** Every condition that is given must hold. The first specialist that fits is taken. */
  specialists: z.array(
    z.strictObject({
      role: roleNameSchema,
      languages: texts.exactOptional(),
      paths: texts.exactOptional(),
      categories: texts.exactOptional(),
    }),
  ),
  /** How many may work at once. */
  concurrency: z.strictObject({
    developers: count,
    critics: count,
    auditors: count,
    checks: count,
    /** Stories in flight; `null` is no limit of its own. */
    stories: count.nullable(),
  }),
  onExhausted: z.enum(["manual", "error", "skip"]),
  circuitBreaker: z.boolean(),
  /** What is done with work that passed all gates. */
  deliver: deliverySchema,
  merge: z.enum(["manual", "auto"]),
  scope: z.strictObject({
    exceptions: scopeExceptionsSchema,
    /** What is done with changes beyond the scope that no reason excuses. */
    outside: z.enum(["send-back", "revert"]),
    testPaths: texts,
    typePaths: texts,
  }),
  /** Failures of the base that people know about; without it, none. */
  knownFailures: z.array(knownFailureSchema).exactOptional(),
  /** Is work refused that no test shows? Without it, no. */
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
