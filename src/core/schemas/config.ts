import { z } from "zod";
import { FAILURE_CEILING } from "../stories/budget.ts";
import { GATES, byGate } from "../gates/gate.ts";
import { NOTIFICATION_KINDS } from "../events/notification.ts";
import { AUTONOMIES, PRESETS } from "../events/policy.ts";
import { SEVERITIES, type Severity } from "../gates/finding.ts";
import { AGENT_CLIENT_NAMES } from "../stories/agent-client.ts";
import { byStopSetting } from "../stories/stop-rules.ts";
import { equivalentMutantsSchema, globs, line, peopleSchema, specialistSchema, word } from "./scalars.ts";
import { scopeExceptionsSchema } from "./story.ts";

const sandboxMode = z.enum(["auto", "required", "off"]);
/**
 * What a config file may hold. Every key may be left out: a file is a preset plus changes. Unknown keys are
 * errors, because a misspelt limit that is silently ignored is no limit.
 */
const count = (least: number, most = 1000) => z.int().min(least).max(most);
const duration = z
  .string()
  .max(50)
  .regex(/^(?:\d{1,12}(?:\.\d{1,6})?(?:ms|s|m|h|d)\s*)+$/, "a length of time such as `90s`, `5m` or `1h30m`");
const size = z.union([
  z.int().min(1),
  z
    .string()
    .max(20)
    .regex(/^\d{1,9}(?:\.\d{1,3})?\s*[kKmM]$/, "a number such as `200000`, `200k` or `2M`"),
]);
const money = z.number().positive().max(1_000_000);

const agent = z.strictObject({
  use: z.enum(AGENT_CLIENT_NAMES).optional(),
  model: line.optional(),
  command: line.optional(),
  args: z.array(line).optional(),
  access: z.enum(["edit", "full"]).optional(),
  file: line.optional(),
  stronger: z.strictObject({ model: line, after: count(1, 100).optional() }).optional(),
  freshAfter: count(1, 100).optional(),
  fallback: word.optional(),
  env: z.array(line).optional(),
});

const roles = z.strictObject({
  phase: z
    .strictObject({
      refine: word.optional(),
      research: word.optional(),
      plan: word.optional(),
      implement: word.optional(),
    })
    .optional(),
  stage: z.record(word, word).optional(),
  critic: word.optional(),
  auditor: word.optional(),
  remediation: word.optional(),
  healthCheck: word.optional(),
  adjudicator: word.optional(),
  ciIntegration: word.optional(),
});

const command = z.strictObject({
  name: line.optional(),
  run: line,
  environments: z.array(word).optional(),
  timeout: duration.optional(),
});
const commands = z.array(z.union([line, command])).optional();

const failOn = z.strictObject(
  Object.fromEntries(SEVERITIES.map((severity) => [severity, count(1).optional()])) as {
    [S in Severity]: z.ZodOptional<z.ZodInt>;
  },
);

const percent = z.number().min(0).max(100);
const coverage = z.strictObject({
  report: line,
  lines: percent.optional(),
  branches: percent.optional(),
  mayFall: percent.optional(),
});

const gate = z.strictObject({
  failures: count(1, FAILURE_CEILING).optional(),
  failOn: failOn.optional(),
  everyFinding: z.boolean().optional(),
  affectedBy: globs.optional(),
  unaffectedBy: globs.optional(),
  stages: z.array(word).optional(),
  perspectives: z.array(word).optional(),
  blame: z.boolean().optional(),
  onUnexplained: z.enum(["escalate", "send-back"]).optional(),
  commands,
  practices: z.array(z.union([z.string().min(1), z.strictObject({ file: line })])).optional(),
  reports: globs.optional(),
  reruns: count(0, 10).optional(),
  parallel: count(1, 64).optional(),
  baseWait: duration
    .describe("How long the first attempt waits for the checks of the base; after that they go on beside it. 60s.")
    .optional(),
  reset: line
    .describe("A command that runs before each run of a check, to reset what checks share, such as a test database.")
    .optional(),
  faults: z
    .enum(["auto", "off"])
    .describe("Are small faults planted in a copy of the work, to see that its tests can fail? auto | off.")
    .optional(),
  hidden: commands.describe("Commands that run with the files of `remand hide`, which agents never see."),
  coverage: coverage.optional(),
  fix: line.optional(),
  rules: z.record(word, z.enum([...SEVERITIES, "off"])).optional(),
  report: line.optional(),
  threshold: percent.optional(),
  equivalent: equivalentMutantsSchema.optional(),
});
const gateList = z.array(z.enum(GATES)).min(1);
const skippable = z.union([gateList, z.literal(false)]).optional();
const spend = {
  costUsd: money.nullable().optional(),
  tokens: size.nullable().optional(),
  time: duration.nullable().optional(),
};

const limits = z.strictObject({
  failures: count(1, FAILURE_CEILING).nullable().optional(),
  iterations: count(1, 100).optional(),
  perLocation: count(1, 100).optional(),
  errors: count(1).optional(),
  inconclusives: count(1).optional(),
  blocked: count(1).optional(),
  agentFailures: count(1).optional(),
  timeouts: count(1).optional(),
  rateLimits: count(1).optional(),
  refusals: count(1).optional(),
  dependencyWaits: count(1).optional(),
  targetMoves: count(1)
    .describe("Times a story's target may move while its finished work is being delivered, before a person is asked.")
    .optional(),
  clarifications: count(0).optional(),
  ciRetries: count(0, 10).optional(),
  remediations: count(1, 10).optional(),
  transientRetries: count(0).optional(),
  backoff: duration.optional(),
  timeout: z
    .strictObject({
      developer: duration.optional(),
      critic: duration.optional(),
      auditor: duration.optional(),
      remediation: duration.optional(),
    })
    .optional(),
  ...spend,
  run: z.strictObject(spend).optional(),
});

const variable = line.regex(/^[A-Za-z_]\w*$/, "the name of an environment variable");

const notify = z.strictObject({
  use: z.enum(["desktop", "webhook", "slack", "command"]),
  url: line.regex(/^https?:\/\/[^\s]+$/, "an address such as `https://example.org/hook`").optional(),
  urlFrom: variable.optional(),
  secretFrom: variable.optional(),
  run: line.optional(),
  on: z.array(z.enum(NOTIFICATION_KINDS)).min(1).optional(),
});

const rate = z.number().min(0).max(1_000_000);
const price = z.strictObject({ input: rate, output: rate, cached: rate.optional() });

export const configFileSchema = z.strictObject({
  version: z.literal(1).optional(),
  preset: z.enum(PRESETS).optional(),
  autonomy: z.enum(AUTONOMIES).optional(),
  stories: line.optional(),
  trail: line.optional(),
  agents: z.record(word, agent).optional(),
  roles: roles.optional(),
  environments: z
    .record(word, z.strictObject({ run: line.optional(), setup: line.optional(), probe: line.optional() }))
    .optional(),
  phases: z
    .strictObject({ refine: skippable, research: skippable, plan: skippable, implement: gateList.optional() })
    .optional(),
  gates: z.strictObject(byGate(() => gate.optional())).optional(),
  workspace: z
    .strictObject({
      setup: line.nullable().optional(),
      share: z.array(line).nullable().optional(),
      env: z
        .array(line)
        .describe("Names of environment variables that `setup` alone sees, such as the login of a registry.")
        .optional(),
      inputs: z
        .array(line)
        .describe(
          "Patterns of the files that decide what `setup` installs, besides lockfiles and manifests: [scripts/install/**]. With them its product is kept and used again for the same inputs.",
        )
        .optional(),
      carry: z
        .array(line)
        .describe("Ignored files that checks need, copied from your checkout into each clean checkout: [.env.test]")
        .optional(),
    })
    .optional(),
  forge: z
    .strictObject({
      use: z.enum(["github", "none"]).optional(),
      repository: line
        .regex(/^[\w.-]+\/[\w.-]+$/, "a repository as `owner/name`")
        .nullable()
        .optional(),
      api: line.regex(/^https?:\/\/[^\s]+$/, "an address such as `https://api.github.com`").optional(),
      remote: word.optional(),
      tokenFrom: variable.optional(),
      patience: duration.optional(),
    })
    .optional(),
  blame: z
    .strictObject({ prove: z.boolean().optional(), runs: count(1, 500).optional(), time: duration.optional() })
    .optional(),
  limits: limits.optional(),
  concurrency: z
    .strictObject({
      developers: count(1).optional(),
      critics: count(1).optional(),
      auditors: count(1).optional(),
      checks: count(1).optional(),
      stories: count(1).nullable().optional(),
    })
    .optional(),
  stall: z
    .strictObject({
      ...byStopSetting({ count: count(0).optional(), flag: z.boolean().optional() }),
      grace: count(0, 10).optional(),
    })
    .optional(),
  specialists: z.array(specialistSchema).optional(),
  scope: z
    .strictObject({
      exceptions: scopeExceptionsSchema.optional(),
      outside: z.enum(["send-back", "revert"]).optional(),
      testPaths: globs.optional(),
      typePaths: globs.optional(),
    })
    .optional(),
  knownFailures: z.array(z.strictObject({ test: line, reason: line })).optional(),
  oracle: globs.optional(),
  product: globs.optional(),
  requireTest: z.boolean().optional(),
  onExhausted: z.enum(["manual", "error", "skip"]).optional(),
  enableCircuitBreaker: z.boolean().optional(),
  deliver: z.enum(["branch", "merge", "pull-request"]).optional(),
  merge: z.enum(["manual", "auto"]).optional(),
  notify: z.array(z.union([line, notify])).optional(),
  prices: z.record(line, price).optional(),
  people: peopleSchema,
  env: z
    .array(line)
    .describe("Names of environment variables that checks, `workspace.setup` and agents see in any case.")
    .optional(),
  redact: z.array(line).optional(),
  sandbox: z
    .union([
      sandboxMode,
      z.strictObject({
        mode: sandboxMode.optional(),
        use: z.enum(["bubblewrap", "container", "sandbox-exec"]).optional(),
        image: line.describe("The image of the container, with everything that agents and checks need.").optional(),
        network: z
          .enum(["shared", "none"])
          .describe("`none`: checks reach only what they start themselves. Agents and `setup` keep the network.")
          .optional(),
        docker: z
          .boolean()
          .describe("Lets agents and checks use docker or podman, and so the whole machine.")
          .optional(),
        read: z.array(line).describe("Further folders that may be read, such as one below /tmp.").optional(),
        write: z.array(line).describe("Further folders that may be written, such as ~/.gemini.").optional(),
      }),
    ])
    .describe("Where agents and checks run. Only your own config can loosen it; remand.yaml may require it.")
    .optional(),
});
