import { failureFingerprint, identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import {
  MUTANT_STATUSES,
  type Mutant,
  type MutantStatus,
  readMutationReport,
} from "../../parse/tests/mutation-report.ts";
import { isCodeFile } from "../../parse/code/symbols-mask.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { type EnvironmentIn, checkEnvironment, environmentIn } from "../../adapters/process/environment.ts";
import { type ProcessResult, runProcess } from "../../adapters/process/run-process.ts";
import { type ReportBaseline, fileAt, isWrittenSince, momentOf, shownPaths, textOf } from "../checks/read-reports.ts";
import { countText } from "../../stdx/plain-text.ts";
import { inCleanCheckout } from "../clean-gate.ts";
import type { CreateGate, EquivalentMutant } from "../gate-parts.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { NO_SANDBOX } from "../../adapters/process/launch.ts";

export interface MutationOptions {
  /** `{files}` is replaced by the story's files; REMAND_FILES has them too, separated by commas. */
  readonly command: string | null;
  /** The report file that the command writes, relative to the story's folder. */
  readonly report: string;
  /** The required share of killed mutants, in percent of those that can be killed. */
  readonly threshold: number;
  /** People's decisions about single mutants; default: none. */
  readonly equivalent?: readonly EquivalentMutant[];
  readonly testPaths: readonly string[];
  readonly workspace: Workspace;
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly env: EnvironmentIn;
  /** The sandbox of the command; default: none. */
  readonly sandbox?: Sandbox;
}

/**
 * Tests the tests: the tool makes small changes in the story's files, which tests must detect. The scope is everything
 * that the story changed since its base, so that a rework which adds tests is judged over the same files.
 */
export function createMutationGate(options: MutationOptions): Gate {
  const { clock, command, evidence } = options;
  return {
    name: "mutation",
    criteria: () => (command === null ? [] : [`${command}, ${options.threshold} % of the mutants killed`]),
    async run(request, control) {
      const beganAt = clock.now();
      const mutated = await runMutation(options, request, control);
      const kept = mutated.log === "" ? [] : [await evidence.keep(mutated.log)];
      return { ...mutated.judgement, evidence: kept, durationMs: clock.now() - beganAt };
    },
  };
}

export const mutationGate: CreateGate = ({ gates, scope }, { workspace, evidence, clock, env, sandbox, checkouts }) => {
  const { commands, report = "reports/mutation/mutation.json", threshold = 100, equivalent = [] } = gates.mutation;
  const command = commands[0]?.run ?? null;
  const { testPaths } = scope;
  const parts = { workspace, evidence, clock, env, sandbox };
  const gate = createMutationGate({ command, report, threshold, equivalent, testPaths, ...parts });
  return inCleanCheckout(gate, checkouts);
};

interface MutationOutcome {
  readonly judgement: Omit<Judgement, "durationMs" | "evidence">;
  readonly log: string;
}

async function runMutation(
  options: MutationOptions,
  request: GateRequest,
  { signal, onOutput }: Parameters<Gate["run"]>[1],
): Promise<MutationOutcome> {
  if (options.command === null) return nothing(request, "inconclusive", "no command is set: gates.mutation.commands");
  const files = await storyFiles(options, request);
  if (files.length === 0) return nothing(request, "inconclusive", "the story changed no file that could be mutated");
  const env = checkEnvironment(await environmentIn(options.env, request.path));
  const before = await fileAt(request.path, options.report);
  const began = momentOf(before === null ? [] : [before]);
  const list = files.join(",");
  const shown = shownPaths(request);
  const command = options.command.replaceAll("{files}", shellQuote(list));
  const ran = await runProcess(
    {
      command,
      cwd: request.path,
      env: { ...env, REMAND_FILES: list },
      sandbox: options.sandbox ?? NO_SANDBOX,
      timeoutMs: request.timeoutMs,
    },
    { signal, onLine: shown.lines(onOutput) },
  );
  const ended = shown.ended(ran);
  const log = `$ ${command}\n${ended.output}`;
  if (ended.status !== "exited") return { ...nothing(request, "error", endOf(ended)), log };
  const report = await freshReport(request.path, options.report, began);
  if ("problem" in report)
    return { ...nothing(request, "inconclusive", `${options.report} ${report.problem} (${endOf(ended)})`), log };
  const read = readMutationReport(report.text);
  if (!read.ok)
    return { ...nothing(request, "inconclusive", `${options.report} cannot be used: ${read.problem}`), log };
  const untold = files.filter((file) => !read.files.includes(file));
  if (untold.length > 0)
    return {
      ...nothing(request, "inconclusive", `${options.report} says nothing of ${untold.slice(0, 5).join(", ")}`),
      log,
    };
  const own = read.mutants.filter((mutant) => files.includes(mutant.file));
  return { judgement: judgementOf(options, request, own), log };
}

function judgementOf(
  { threshold, equivalent = [] }: MutationOptions,
  request: GateRequest,
  all: readonly Mutant[],
): Omit<Judgement, "durationMs" | "evidence"> {
  const excused = survivors(all).flatMap((mutant) => {
    const entry = equivalent.find(({ file, mutation }) => file === mutant.file && mutation === mutationText(mutant));
    return entry === undefined ? [] : [{ mutant, entry }];
  });
  const mutants = all.filter((mutant) => !excused.some((each) => each.mutant === mutant));
  const counted = mutationScore(mutants);
  const { score, counts } = counted;
  const words = excused.length === 0 ? counted.words : `${counted.words}, ${excused.length} equivalent`;
  const notes = excused.map(
    ({ mutant, entry }) =>
      `equivalent mutant, says ${entry.by}: ${mutant.file}:${mutant.line} ${entry.mutation} (${entry.reason})`,
  );
  const shared = { gate: "mutation", tree: request.tree, ...(notes.length === 0 ? {} : { notes }) } as const;
  if (counts.pending > 0 || score === null)
    return {
      ...shared,
      result: "inconclusive",
      findings: [],
      blocking: [],
      summary: `mutation: inconclusive (${words})`,
    };
  const unique = survivorFindings(survivors(mutants));
  if (score >= threshold)
    return { ...shared, result: "pass", findings: unique, blocking: [], summary: `mutation: pass (${words})` };
  const summary = `mutation: fail (${words}; ${threshold} % wanted)`;
  return {
    ...shared,
    result: "fail",
    findings: unique,
    blocking: unique.map(({ id }) => id),
    summary,
    failure: failureFingerprint(unique, summary),
  };
}

/** Returns the code files, without tests, that the story changed and still has. */
async function storyFiles(
  { workspace, testPaths }: MutationOptions,
  { story, base, tree }: GateRequest,
): Promise<readonly string[]> {
  const changed = await workspace.changedPaths(story.id, base, tree);
  const files: string[] = [];
  for (const path of changed) {
    if (!isCodeFile(path) || matchesAnyGlob(path, testPaths) || /["',\n]/.test(path)) continue;
    if ((await workspace.fileAt(story.id, tree, path)) !== null) files.push(path);
  }
  return files;
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Reads the report. A report that existed before this run proves nothing, whatever its date. */
async function freshReport(
  root: string,
  path: string,
  began: ReportBaseline,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const file = await fileAt(root, path);
  if (file === null) return { problem: "is not there" };
  if (!isWrittenSince(file, began)) return { problem: "is older than this run" };
  const text = await textOf(root, file, MOST_BYTES);
  return typeof text === "string" ? { text } : { problem: `cannot be read: ${text.problem}` };
}

/** Large, because the report contains the text of every mutated file. */
const MOST_BYTES = 96 * 1024 * 1024;

function nothing(request: GateRequest, result: "inconclusive" | "error", why: string): MutationOutcome {
  const summary = `mutation: ${result} (${why})`;
  return { judgement: { gate: "mutation", tree: request.tree, result, findings: [], blocking: [], summary }, log: "" };
}

function endOf({ status, exitCode, signal, failure }: ProcessResult): string {
  if (status === "exited") return signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;
  if (status === "failed-to-start") return failure?.message ?? "it could not be started";
  return status === "timeout" ? "it ran out of time" : "it was stopped";
}

/**
 * Returns the share of killed mutants among those that tests could kill. Timeouts are counted separately, because a
 * clock stopped those mutants and not a test. Ignored and invalid mutants are not counted.
 */
export function mutationScore(mutants: readonly Mutant[]): {
  /** In percent; `null` if nothing could be killed. */
  readonly score: number | null;
  readonly counts: Readonly<Record<MutantStatus, number>>;
  readonly words: string;
} {
  const counts = Object.fromEntries(
    MUTANT_STATUSES.map((status) => [status, mutants.filter((mutant) => mutant.status === status).length]),
  ) as Record<MutantStatus, number>;
  const killable = counts.killed + counts.survived + counts["no-coverage"];
  // Rounded down, so that 999 of 1000 is not 100 %.
  const score = killable === 0 ? null : Math.floor((counts.killed / killable) * 1000) / 10;
  const apart = (["timeout", "ignored", "invalid", "pending"] as const)
    .filter((status) => counts[status] > 0)
    .map((status) => `${counts[status]} ${APART[status]}`);
  const main =
    score === null
      ? "nothing could be killed"
      : `${counts.killed} of ${countText(killable, "mutant")} killed, ${score} %`;
  return { score, counts, words: [main, ...apart].join(", ") };
}

const APART = {
  timeout: "timed out",
  ignored: "ignored",
  invalid: "that could not run",
  pending: "never tried",
} as const;

export function survivors(mutants: readonly Mutant[]): readonly Mutant[] {
  return mutants.filter(({ status }) => status === "survived" || status === "no-coverage");
}

/** Returns the findings. The same undetected change in several places of a file is one finding that names them all. */
function survivorFindings(mutants: readonly Mutant[]): readonly Finding[] {
  const known = new Map<string, Finding>();
  for (const finding of mutants.map(survivorFinding)) {
    const same = known.get(finding.id);
    if (same === undefined) known.set(finding.id, finding);
    else if (same.line !== finding.line)
      known.set(finding.id, { ...same, detail: `${same.detail ?? ""} The same at line ${finding.line}.`.trim() });
  }
  return [...known.values()];
}

export function survivorFinding(mutant: Mutant): Finding {
  const from = short(mutant.original);
  const to = short(mutant.replacement);
  return identifyFinding({
    severity: "critical",
    category: "mutation-survivor",
    message: `no test notices it when ${from === "" ? mutator(mutant) : `\`${from}\``} becomes ${to === "" ? "nothing" : `\`${to}\``}`,
    detail: mutant.status === "no-coverage" ? "No test runs this code at all." : `Mutator: ${mutator(mutant)}`,
    source: "mutation",
    file: mutant.file,
    line: mutant.line,
    suggestedFix: recommendedTest(mutant),
  });
}

/** The wording of S1.45: `replaced > with >=`. */
const mutationText = ({ original, replacement }: Mutant): string =>
  `replaced ${short(original) || "nothing"} with ${short(replacement) || "nothing"}`;

const mutator = ({ mutator: name }: Mutant): string => (name === "" ? "a small change" : name);
const short = (code: string): string => code.replaceAll(/\s+/g, " ").replaceAll("`", "'").trim().slice(0, 80);

/** Returns what a test must do to detect the change, by its kind. */
function recommendedTest({ mutator: kind, original, replacement, file, line }: Mutant): string {
  const at = `${file}:${line}`;
  const known = RECOMMENDED.find(({ fits }) => fits.test(kind))?.test;
  const what = known ?? `Add a test whose result differs between \`${short(original)}\` and \`${short(replacement)}\``;
  return `${what} (${at}).`;
}

const RECOMMENDED: readonly { readonly fits: RegExp; readonly test: string }[] = [
  {
    fits: /Equality|Conditionals?Boundary|Relational/i,
    test: "Add a test at the boundary itself: the value where the comparison just holds, and the one where it just does not",
  },
  { fits: /Conditional|If|Boolean/i, test: "Add a test that takes the other branch, and expects another result there" },
  { fits: /Logical/i, test: "Add a test in which exactly one side of the condition holds" },
  {
    fits: /Arithmetic|Math|Assignment|Update|Unary/i,
    test: "Add a test that expects the exact number, with operands other than 0 and 1",
  },
  { fits: /String|Template|Regex/i, test: "Add a test that expects the exact text" },
  { fits: /Array|Object|Collection/i, test: "Add a test that expects what is in it, not only that it is there" },
  {
    fits: /Block|Statement|Call|Void|Method/i,
    test: "Add a test that sees the effect of this code: without it the test must fail",
  },
  { fits: /Optional|Null/i, test: "Add a test with the value missing" },
];
