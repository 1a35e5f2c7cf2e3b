import { z } from "zod";
import { FAILURE_CEILING } from "../stories/budget.ts";
import { byStopSetting } from "../stories/stop-rules.ts";
import { count, duration, money, setting, size } from "./config-values.ts";

const spendOf = (whole: string) => ({
  costUsd: setting(`US dollars that ${whole} may cost; empty: no limit.`, money.nullable()),
  tokens: setting(`Tokens that ${whole} may use, such as \`200k\` or \`2M\`; empty: no limit.`, size.nullable()),
  time: setting(`Working time that ${whole} may take, such as \`2h\`; empty: no limit.`, duration.nullable()),
});

const timeoutOf = (work: string) => setting(`The longest that ${work} may take, such as \`15m\`.`, duration);

/** `limits`: where each loop ends. */
export const limitsConfigSchema = z.strictObject({
  failures: setting(
    "Failures of one gate, per story, before a person is asked; reworks are one less. Empty: only `iterations` limits them.",
    count(1, FAILURE_CEILING).nullable(),
  ),
  iterations: setting("Attempts of one story, over all gates and phases.", count(1, 100)),
  perLocation: setting(
    "Failures blamed on one location of the code, without a pass between them, before a person is asked.",
    count(1, 100),
  ),
  errors: setting("Times a gate may break (not fail) before a person is asked.", count(1)),
  inconclusives: setting("Results of a gate that decide nothing before a person is asked.", count(1)),
  blocked: setting(
    "Times a story may be blocked by its environment, each after a repair, before a person is asked.",
    count(1),
  ),
  agentFailures: setting("Attempts in a row that end without a usable result before a person is asked.", count(1)),
  timeouts: setting("Attempts of one story that run out of time before a person is asked.", count(1)),
  rateLimits: setting("Waits for a provider's rate limit, per story, before a person is asked.", count(1)),
  refusals: setting("Times an agent may refuse the work before a person is asked.", count(1)),
  dependencyWaits: setting(
    "Times an agent may say that it waits for another story before a person is asked.",
    count(1),
  ),
  targetMoves: setting(
    "Times a story's target may move while its finished work is being delivered, before a person is asked.",
    count(1),
  ),
  clarifications: setting("Times an agent is asked again after a reply that cannot be read.", count(0)),
  ciRetries: setting("Reruns of an outside CI run that failed for a reason of its own.", count(0, 10)),
  remediations: setting("Repairs of the infrastructure that are tried before a person is asked.", count(1, 10)),
  transientRetries: count(0)
    .meta({ description: "Has no effect. It is read so that files that set it stay valid.", deprecated: true })
    .optional(),
  backoff: setting("The first wait before a retry, such as `1s`; each further wait is twice as long.", duration),
  timeout: setting(
    "The longest that one call may take, by role.",
    z.strictObject({
      developer: timeoutOf("one attempt of a developer"),
      critic: timeoutOf("one review, and one run of checks,"),
      auditor: timeoutOf("one audit"),
      remediation: timeoutOf("one repair of the infrastructure"),
    }),
  ),
  ...spendOf("one story"),
  run: setting(
    "Limits of the whole run, over all stories.",
    z.strictObject({
      ...spendOf("the whole run"),
      actions: setting(
        "Attempts and gate runs of all stories together; then a person is asked; empty: no limit.",
        count(1, 1_000_000).nullable(),
      ),
    }),
  ),
});

/** `stall`: when a loop without progress ends before its limits. */
export const stallConfigSchema = z.strictObject({
  ...byStopSetting({
    count: (description) => setting(description, count(0)),
    flag: (description) => setting(description, z.boolean()),
  }),
  grace: setting(
    "Further rounds beyond a gate's limit for work in which every round was better than the one before.",
    count(0, 10),
  ),
});

const atOnce = (what: string) => setting(`${what} at the same time.`, count(1));

/** `concurrency`: how much runs at once. */
export const concurrencyConfigSchema = z.strictObject({
  developers: atOnce("Developers that work"),
  critics: atOnce("Critics that review"),
  auditors: atOnce("Auditors that work"),
  checks: atOnce("Stories whose checks and other programs run"),
  stories: setting("Stories that are in progress at the same time; empty: no limit of its own.", count(1).nullable()),
});
