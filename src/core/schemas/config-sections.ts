import { z } from "zod";
import { FAILURE_CEILING } from "../stories/budget.ts";
import { byStopSetting } from "../stories/stop-rules.ts";
import { AGENT_CLIENT_NAMES } from "../stories/agent-client.ts";
import { SEVERITIES, type Severity } from "../gates/finding.ts";
import { equivalentMutantsSchema, globs, line, word } from "./scalars.ts";

/* The kinds of values in a config file. */

/** An optional key. Editors and `docs/guide/config-keys.md` show the description. */
export function setting<Schema extends z.ZodType>(description: string, schema: Schema): z.ZodOptional<Schema> {
  return schema.describe(description).optional();
}

export const count = (least: number, most = 1000) => z.int().min(least).max(most);

export const duration = z
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

const percent = z.number().min(0).max(100);

export const variable = line.regex(/^[A-Za-z_]\w*$/, "the name of an environment variable");

const command = z.strictObject({
  name: setting("The name under which results are shown. Without it, the command line.", line),
  run: line.describe("The command line, run by the shell in the folder of the project. Exit code 0 passes."),
  environments: setting("Names from `environments` in which it runs. Without them, all.", z.array(word)),
  timeout: setting("How long one run may take, such as `5m`. Without it, the time limit of the gate's role.", duration),
});
const commands = z.array(z.union([line, command]));

const failOn = z.strictObject(
  Object.fromEntries(
    SEVERITIES.map((severity) => [
      severity,
      setting(`The gate fails at this many findings of severity ${severity}. Without it, they do not count.`, count(1)),
    ]),
  ) as { [S in Severity]: z.ZodOptional<z.ZodInt> },
);

const coverage = z.strictObject({
  report: line.describe("Path of the report that a check writes: lcov, Cobertura, or the JSON summary of Istanbul."),
  lines: setting("Lines that must be covered, in percent.", percent),
  branches: setting("Branches that must be covered, in percent.", percent),
  mayFall: setting(
    "Percentage points by which coverage may be lower than in the best earlier round. Default: 0.",
    percent,
  ),
});

/** `gates.<name>`: how a gate decides. */
export const gateConfigSchema = z.strictObject({
  failures: setting(
    "Failures of this gate, per story, before a person is asked. Without it, `limits.failures`.",
    count(1, FAILURE_CEILING),
  ),
  failOn: setting(
    "How many findings of which severity fail the gate. It replaces the preset's map as a whole.",
    failOn,
  ),
  everyFinding: setting("`true`: every finding fails the gate, whatever its severity.", z.boolean()),
  affectedBy: setting(
    "Patterns of paths that can change this gate's result. After other changes an earlier pass still holds. Empty: all paths.",
    globs,
  ),
  unaffectedBy: setting(
    "Patterns of paths that cannot change this gate's result, even if `affectedBy` has them.",
    globs,
  ),
  stages: setting(
    "Parts of the review, one after the other; a failed stage ends it. Not together with `perspectives`.",
    z.array(word),
  ),
  perspectives: setting("Parts of the review that run side by side. Not together with `stages`.", z.array(word)),
  blame: setting("Whether to search for the cause of a failure before rework.", z.boolean()),
  onUnexplained: setting(
    "After a failure that blame cannot explain: ask a person (escalate), or send the work back without a cause (send-back).",
    z.enum(["escalate", "send-back"]),
  ),
  commands: setting("The commands to run, in order: command lines, or maps with more settings.", commands),
  practices: setting(
    "The project's own rules for reviewers: sentences, or files that hold them.",
    z.array(
      z.union([
        z.string().min(1),
        z.strictObject({ file: line.describe("Path of a file with rules, from the top folder.") }),
      ]),
    ),
  ),
  reports: setting(
    "Checks: patterns of the report files that commands write (JUnit, SARIF, TAP, JSON of runners), read besides their output.",
    globs,
  ),
  reruns: setting("Checks: times a failed test run is repeated on the same files, to tell a flaky test.", count(0, 10)),
  parallel: setting("Checks: how many commands run at once in one folder.", count(1, 64)),
  baseWait: setting(
    "Checks: how long the first attempt waits for the checks of the base; after that they go on beside it. Default: 60s.",
    duration,
  ),
  reset: setting(
    "Checks: a command that runs before each run of a check, to reset what checks share, such as a test database.",
    line,
  ),
  faults: setting(
    "Checks: whether to plant small faults in a copy of the work, to see that its tests can fail. Default: `auto`.",
    z.enum(["auto", "off"]),
  ),
  hidden: setting(
    "Checks: commands that run with the files of `remand hide`, which agents never see. Without them, the gate's own commands.",
    commands,
  ),
  coverage: setting("Checks: what the coverage report must show.", coverage),
  fix: setting("CI: a command that corrects formatting and lint errors. It runs once, before an agent is asked.", line),
  rules: setting(
    "Integrity: the severity of a rule, by its name; `off` leaves the rule out. Names: docs/guide/integrity-rules.md.",
    z.record(word, z.enum([...SEVERITIES, "off"])),
  ),
  report: setting(
    "Mutation: path of the report that the command writes, in the mutation-testing schema. Default: `reports/mutation/mutation.json`.",
    line,
  ),
  threshold: setting("Mutation: killed mutants needed to pass, in percent.", percent),
  equivalent: equivalentMutantsSchema.optional(),
});

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
  inconclusives: setting("Inconclusive results of a gate before a person is asked.", count(1)),
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

/** `agents.<role>`: the program that plays a role. */
export const agentConfigSchema = z.strictObject({
  use: setting(
    "The client that runs the agent: claude and codex by their own programs, acp for any agent that speaks the Agent Client Protocol, model for an API without tools (reviewers only), command for any command line, scripted for a file of recorded replies.",
    z.enum(AGENT_CLIENT_NAMES),
  ),
  model: setting(
    "The model to ask for, by the client's name for it. Without it, that of the role file, else the client's own choice.",
    line,
  ),
  command: setting(
    "command: the command line, which gets the prompt on its standard input. acp: the program that speaks the protocol. scripted: the file of replies. claude and codex: another path of the program.",
    line,
  ),
  args: setting("Further arguments for the client, after those of Remand.", z.array(line)),
  access: setting(
    "What a developer's client may do: `edit` changes files of the worktree and runs commands in the client's own sandbox; `full` runs every command without that sandbox.",
    z.enum(["edit", "full"]),
  ),
  file: setting("Path of the role file (front matter and prompt), where it is not `.claude/agents/<role>.md`.", line),
  stronger: setting(
    "Another model for work that keeps failing.",
    z.strictObject({
      model: line.describe("The model that takes over."),
      after: setting("Failures in one phase after which it takes over. Default: 2.", count(1, 100)),
    }),
  ),
  freshAfter: setting(
    "Failures in one conversation after which the next attempt starts a new conversation. Without it, a conversation goes on.",
    count(1, 100),
  ),
  fallback: setting("The role that takes over when this role has no agent, or its agent is not installed.", word),
  env: setting(
    "Names of environment variables that this agent and its commands may see, besides the usual few. A name may end with `*`.",
    z.array(line),
  ),
});

const roleThat = (work: string) => setting(`Name of the role that ${work}.`, word);

/** `roles`: which role does what. */
export const rolesConfigSchema = z.strictObject({
  phase: setting(
    "The role that does the work of each phase.",
    z.strictObject({
      refine: roleThat("refines the story's text and criteria"),
      research: roleThat("looks up what the story needs to know"),
      plan: roleThat("writes the plan"),
      implement: roleThat("writes code and tests"),
    }),
  ),
  stage: setting(
    "The role that reviews each stage or perspective, by the stage's name. Without one, the critic does.",
    z.record(word, word),
  ),
  critic: roleThat("reviews the diff in the review gate"),
  auditor: roleThat("checks each acceptance criterion in the audit gate"),
  oracle: roleThat("says in the oracle gate whether the goal is reached"),
  remediation: roleThat("repairs the infrastructure when a gate is blocked"),
  healthCheck: roleThat("says whether the infrastructure works again"),
  adjudicator: roleThat("decides about a finding that the developer disputes"),
  ciIntegration: roleThat("fixes a CI run that failed by its configuration"),
});
