import { failureFingerprint } from "../../domain/finding.ts";
import type { Judgement } from "../../domain/gate.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { readMutationReport, type Mutant } from "../../readers/mutation-report.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { checkEnvironment, environmentIn, type EnvironmentIn } from "../process/environment.ts";
import { runProcess, type ProcessResult } from "../process/run-process.ts";
import { mutationScore, survivorFindings, survivors } from "./mutation-score.ts";
import { fileAt, isWrittenSince, momentOf, textOf, type Moment } from "./read-reports.ts";
import { shownPaths } from "./shown-paths.ts";

export interface MutationOptions {
  /** `{files}` becomes the files of the story; they are in REMAND_FILES too, with commas between them. */
  readonly command: string | null;
  /** Where the command leaves its report, from the place of the story. */
  readonly report: string;
  /** The share of killable mutants that must be killed, in per cent. */
  readonly threshold: number;
  readonly testPaths: readonly string[];
  readonly workspace: Workspace;
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly env: EnvironmentIn;
}

/**
 * Are the tests worth their green? The tool changes the story's files in small ways, and the tests must notice. The
 * scope is what the story changed since its base, so a rework that adds tests is judged over the same files.
 */
export function createMutationGate(options: MutationOptions): Gate {
  const { clock, command, evidence } = options;
  return {
    name: "mutation",
    judgedBy: () => (command === null ? [] : [`${command}, ${options.threshold} % of the mutants killed`]),
    async judge(request, control) {
      const beganAt = clock.now();
      const told = await judged(options, request, control);
      const kept = told.log === "" ? [] : [await evidence.keep(told.log)];
      return { ...told.judgement, evidence: kept, durationMs: clock.now() - beganAt };
    },
  };
}

interface Told {
  readonly judgement: Omit<Judgement, "durationMs" | "evidence">;
  readonly log: string;
}

async function judged(
  options: MutationOptions,
  request: GateRequest,
  { signal, onOutput }: Parameters<Gate["judge"]>[1],
): Promise<Told> {
  if (options.command === null) return nothing(request, "inconclusive", "no command is set: gates.mutation.commands");
  const files = await storyFiles(options, request);
  if (files.length === 0) return nothing(request, "inconclusive", "the story changed no file that could be mutated");
  const env = checkEnvironment(await environmentIn(options.env, request.path));
  const before = await fileAt(request.path, options.report);
  const began = momentOf(before === null ? [] : [before]);
  const list = files.join(",");
  const shown = shownPaths(request);
  const ran = await runProcess(
    {
      command: options.command.replaceAll("{files}", quoted(list)),
      cwd: request.path,
      env: { ...env, REMAND_FILES: list },
      timeoutMs: request.timeoutMs,
    },
    { signal, onLine: (line) => onOutput(shown.text(line)) },
  );
  const ended = shown.ended(ran);
  const log = `$ ${options.command}\n${ended.output}`;
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
  { threshold }: MutationOptions,
  request: GateRequest,
  mutants: readonly Mutant[],
): Omit<Judgement, "durationMs" | "evidence"> {
  const { score, counts, words } = mutationScore(mutants);
  const shared = { gate: "mutation", tree: request.tree } as const;
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

/** What the story changed, and still has, that is code and no test. */
async function storyFiles(
  { workspace, testPaths }: MutationOptions,
  { story, base, tree }: GateRequest,
): Promise<readonly string[]> {
  const changed = await workspace.changed(story.id, base, tree);
  const files: string[] = [];
  for (const path of changed) {
    if (!CODE.test(path) || NO_CODE.test(path) || matchesAnyGlob(path, testPaths) || /["',\n]/.test(path)) continue;
    if ((await workspace.fileAt(story.id, tree, path)) !== null) files.push(path);
  }
  return files;
}

const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|java|kt|kts|scala|cs|rb|php|swift|c|cc|cpp|h|hpp)$/;
/** Types and settings hold nothing that a test could notice. */
const NO_CODE = /\.d\.[cm]?ts$|(?:^|\/)[\w.-]+\.(?:config|conf)\.[cm]?[jt]s$/;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A report that was there before proves nothing of this run, whatever its date. */
async function freshReport(
  root: string,
  path: string,
  began: Moment,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const file = await fileAt(root, path);
  if (file === null) return { problem: "is not there" };
  if (!isWrittenSince(file, began)) return { problem: "is older than this run" };
  const text = await textOf(root, file, MOST_BYTES);
  return typeof text === "string" ? { text } : { problem: `cannot be read: ${text.problem}` };
}

/** It holds the text of every file that was changed. */
const MOST_BYTES = 96 * 1024 * 1024;

function nothing(request: GateRequest, result: "inconclusive" | "error", why: string): Told {
  const summary = `mutation: ${result} (${why})`;
  return { judgement: { gate: "mutation", tree: request.tree, result, findings: [], blocking: [], summary }, log: "" };
}

function endOf({ status, exitCode, signal, failure }: ProcessResult): string {
  if (status === "exited") return signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;
  if (status === "failed-to-start") return failure?.message ?? "it could not be started";
  return status === "timeout" ? "it ran out of time" : "it was stopped";
}
