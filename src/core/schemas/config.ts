import { z } from "zod";
import { GATES, byGate } from "../gates/gate.ts";
import { GATE_REGISTRY } from "../gates/registry.ts";
import { NOTIFICATION_KINDS } from "../events/notification.ts";
import { AUTONOMIES, PRESETS } from "../events/policy.ts";
import {
  gateConfigSchema,
  concurrencyConfigSchema,
  limitsConfigSchema,
  stallConfigSchema,
  agentConfigSchema,
  rolesConfigSchema,
  count,
  duration,
  setting,
  variable,
} from "./config-sections.ts";
import { globs, line, peopleSchema, specialistSchema, word } from "./scalars.ts";
import { scopeExceptionsSchema } from "./story.ts";

const gateList = z.array(z.enum(GATES)).min(1);
const phaseGates = (work: string) =>
  setting(
    `Gates of the phase that ${work}, in order; \`false\` leaves the phase out.`,
    z.union([gateList, z.literal(false)]),
  );

const environment = z.strictObject({
  run: setting(
    "Put in front of each check's command, such as `npx -y -p node@24 --`. `{checkout}` is the folder of the clean checkout. Without it, commands run as they are.",
    line,
  ),
  setup: setting("A command that runs inside once for each tree, before the first check.", line),
  probe: setting("A command that shows that the environment works. It runs inside first, for at most 1 minute.", line),
});

const workspace = z.strictObject({
  setup: setting(
    "The command that installs dependencies in a worktree and in each clean checkout, such as `npm ci`. Empty: found by the lockfile.",
    line.nullable(),
  ),
  share: setting(
    "Folders of your checkout that worktrees use by a link, such as [node_modules]. Empty: found by the lockfile.",
    z.array(line).nullable(),
  ),
  env: setting(
    "Names of environment variables that `setup` alone sees, such as the login of a registry.",
    z.array(line),
  ),
  inputs: setting(
    "Patterns of the files that decide what `setup` installs, besides lockfiles and manifests: [scripts/install/**]. With them its product is kept and used again for the same inputs.",
    z.array(line),
  ),
  carry: setting(
    "Ignored files that checks need, copied from your checkout into each clean checkout: [.env.test].",
    z.array(line),
  ),
});

const forge = z.strictObject({
  use: setting("Where pull requests and CI runs are: github, or none.", z.enum(["github", "none"])),
  repository: setting(
    "The repository as `owner/name`. Empty: read from the remote's address.",
    line.regex(/^[\w.-]+\/[\w.-]+$/, "a repository as `owner/name`").nullable(),
  ),
  api: setting(
    "Address of the API; GitHub Enterprise has its own.",
    line.regex(/^https?:\/\/[^\s]+$/, "an address such as `https://api.github.com`"),
  ),
  remote: setting("The git remote that branches are pushed to.", word),
  tokenFrom: setting("Name of the environment variable that holds the access token.", variable),
  patience: setting("How long a CI run may take before its result counts as unknown, such as `1h`.", duration),
});

const blame = z.strictObject({
  prove: setting("Is the cause proven by running the failing tests without parts of the change?", z.boolean()),
  runs: setting("The most test runs for one proof.", count(1, 500)),
  time: setting("The longest that one proof may take, such as `5m`.", duration),
  suites: setting(
    "In `run`, `loop` and hooks, the longest that one proof may take, in lengths of the failed check (10 s at least).",
    z.number().min(0).max(100),
  ),
});

const scope = z.strictObject({
  exceptions: scopeExceptionsSchema.optional(),
  outside: setting(
    "Changes beyond the scope of a rework: send the work back (send-back), or put those files back and go on (revert).",
    z.enum(["send-back", "revert"]),
  ),
  testPaths: setting("Patterns of the paths that are tests.", globs),
  typePaths: setting("Patterns of the paths that hold types. A brief names them when the types are at fault.", globs),
});

const knownFailure = z.strictObject({
  test: line.describe("Name of the test, its file, or a pattern of either."),
  reason: line.describe("Why it fails, such as the number of a ticket."),
});

const notify = z.strictObject({
  use: z.enum(["desktop", "webhook", "slack", "command"]).describe("The channel."),
  url: setting(
    "webhook, slack: the address to send to.",
    line.regex(/^https?:\/\/[^\s]+$/, "an address such as `https://example.org/hook`"),
  ),
  urlFrom: setting("webhook, slack: name of the environment variable that holds the address.", variable),
  secretFrom: setting(
    "webhook: name of the environment variable that holds the secret the body is signed with.",
    variable,
  ),
  run: setting("command: the command line. It gets the notification as JSON and has 10 seconds.", line),
  on: setting("Which notifications are sent here. Without it, all.", z.array(z.enum(NOTIFICATION_KINDS)).min(1)),
});

const rate = z.number().min(0).max(1_000_000);
const price = z.strictObject({
  input: rate.describe("US dollars for 1 million input tokens."),
  output: rate.describe("US dollars for 1 million output tokens."),
  cached: setting("US dollars for 1 million input tokens read from the cache. Without it, the input price.", rate),
});

const sandboxMode = z.enum(["auto", "required", "off"]);
const sandbox = z.strictObject({
  mode: setting(
    "auto: the best sandbox of this machine, or none. required: nothing runs without one. off: none.",
    sandboxMode,
  ),
  use: setting(
    "The kind of sandbox. Without it, the one that fits this machine.",
    z.enum(["bubblewrap", "container", "sandbox-exec"]),
  ),
  image: setting("The image of the container, with everything that agents and checks need.", line),
  network: setting(
    "`none`: checks reach only what they start themselves. Agents and `setup` keep the network.",
    z.enum(["shared", "none"]),
  ),
  docker: setting("Lets agents and checks use docker or podman, and so the whole machine.", z.boolean()),
  read: setting("Further folders that may be read, such as one below /tmp.", z.array(line)),
  write: setting("Further folders that may be written, such as ~/.gemini.", z.array(line)),
});

/**
 * The keys of a config file. Every key is optional: a file is a preset plus changes. Unknown keys are errors, because a
 * misspelled limit that is silently ignored is no limit.
 */
export const configFileSchema = z.strictObject({
  version: setting("Version of this file's format.", z.literal(1)),
  preset: setting(
    "The set of values that this file changes: which phases, gates and limits a story has.",
    z.enum(PRESETS),
  ),
  autonomy: setting(
    "How much happens without a person. conservative: one story at a time, and each rework and CI rerun is approved. full: three stories at a time, and `merge: auto` is allowed.",
    z.enum(AUTONOMIES),
  ),
  stories: setting("Folder of the story files.", line),
  trail: setting("Folder that the record is exported to after each run.", line),
  agents: setting("The agents, by the role that they play.", z.record(word, agentConfigSchema)),
  roles: setting("Which role does which work.", rolesConfigSchema),
  environments: setting(
    "Environments in which checks run, by name. A check runs once in each.",
    z.record(word, environment),
  ),
  phases: setting(
    "The phases of a story, and the gates that its work must pass in each.",
    z.strictObject({
      refine: phaseGates("refines the story"),
      research: phaseGates("researches"),
      plan: phaseGates("plans"),
      implement: setting("Gates of the phase that writes the code, in order.", gateList),
    }),
  ),
  gates: setting(
    "Settings of each gate.",
    z.strictObject(byGate((gate) => setting(GATE_REGISTRY[gate].purpose, gateConfigSchema))),
  ),
  workspace: setting("How worktrees and clean checkouts are prepared.", workspace),
  forge: setting("The service that hosts the repository, for pull requests and CI.", forge),
  blame: setting("How the change that caused a failure is looked for.", blame),
  limits: setting("Where each loop ends, and a person is asked.", limitsConfigSchema),
  concurrency: setting("How many run at the same time.", concurrencyConfigSchema),
  stall: setting(
    "When a loop without progress ends before its limits. 0 and `false` switch a rule off.",
    stallConfigSchema,
  ),
  specialists: setting(
    "Roles that get a failure instead of the developer. The first that fits is taken; every condition given must hold.",
    z.array(specialistSchema),
  ),
  scope: setting("What a rework may change.", scope),
  knownFailures: setting(
    "Tests that fail before any work: neither the work's target nor its fault.",
    z.array(knownFailure),
  ),
  oracle: setting("Patterns of further files that only tests use. The base's version of them counts.", globs),
  product: setting("Patterns of files that look like tests and belong to the product.", globs),
  requireTest: setting("`true`: work that no test shows is refused; `false`: it is noted.", z.boolean()),
  onExhausted: setting(
    "When a limit is reached: ask a person (manual), fail the story (error), or set it aside (skip).",
    z.enum(["manual", "error", "skip"]),
  ),
  enableCircuitBreaker: setting(
    "`false`: `limits.failures` and the rules of `stall` do not apply; each gate still ends after 10 failures.",
    z.boolean(),
  ),
  deliver: setting(
    "What happens to accepted work: it stays on its branch, it is merged, or a pull request is opened.",
    z.enum(["branch", "merge", "pull-request"]),
  ),
  merge: setting(
    "Who merges: a person approves (manual), or Remand does it alone (auto, which needs `autonomy: full`).",
    z.enum(["manual", "auto"]),
  ),
  notify: setting(
    "Where notifications go: `desktop`, an address, a command line, or a map with more settings.",
    z.array(z.union([line, notify])),
  ),
  prices: setting(
    "Prices of models by name, for agents that report tokens and no cost. An entry replaces the whole default of that model.",
    z.record(line, price),
  ),
  people: peopleSchema,
  env: setting(
    "Names of environment variables that checks, `workspace.setup` and agents see in any case.",
    z.array(line),
  ),
  redact: setting(
    "Regular expressions of secrets. What they match is removed before anything is stored, printed or sent.",
    z.array(line),
  ),
  sandbox: setting(
    "Where agents and checks run: a mode, or a map with more settings. Only your own config can loosen it; remand.yaml may require it.",
    z.union([sandboxMode, sandbox]),
  ),
});
