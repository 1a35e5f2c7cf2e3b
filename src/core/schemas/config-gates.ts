import { z } from "zod";
import { FAILURE_CEILING } from "../stories/budget.ts";
import { SEVERITIES, type Severity } from "../gates/finding.ts";
import { count, duration, percent, setting } from "./config-values.ts";
import { equivalentMutantsSchema, globs, line, word } from "./scalars.ts";

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
    "Percentage points by which coverage may be lower than in the best earlier round. 0 where this is left out.",
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
  blame: setting("Is the change that caused a failure looked for before the work goes back?", z.boolean()),
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
    "Checks: how long the first attempt waits for the checks of the base; after that they go on beside it. 60s where this is left out.",
    duration,
  ),
  reset: setting(
    "Checks: a command that runs before each run of a check, to reset what checks share, such as a test database.",
    line,
  ),
  faults: setting(
    "Checks: are small faults planted in a copy of the work, to see that its tests can fail? `auto` where this is left out.",
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
    "Mutation: path of the report that the command writes, in the mutation-testing schema. `reports/mutation/mutation.json` where this is left out.",
    line,
  ),
  threshold: setting("Mutation: killed mutants needed to pass, in percent.", percent),
  equivalent: equivalentMutantsSchema.optional(),
});
