import type { BlameMaterial, ChangedHunk, LineCoverage } from "../core/blame/change.ts";
import { keyOf, type RunOutcome } from "../decide/blame/experiments.ts";
import { boundBy, filesWithout } from "../decide/blame/files-without.ts";
import { groupsOf, type FailureGroup } from "../decide/blame/failure-groups.ts";
import { isBroken, outcomeOf, type ExperimentRun } from "../decide/blame/outcome.ts";
import { withParts } from "../decide/blame/parts.ts";
import { prepareProof } from "../decide/blame/prepare-proof.ts";
import type { ProofAnswer } from "../decide/blame/prove-blame.ts";
import { rankBlame, type RankedBlame, type RankedHunk } from "../decide/blame/rank-blame.ts";
import { joinRounds } from "../decide/blame/rounds.ts";
import { readFailure } from "../parse/code/failure.ts";
import { pathIndex } from "../parse/code/imports.ts";
import { countText } from "../stdx/plain-text.ts";
import { narrowedCommand } from "../write/edits/narrow-command.ts";
import { askUntilAnswered, learnFailures, newSetup, type ProofSetup } from "./ask-proof.ts";
import {
  proofRunner,
  type ProofRunnerOptions,
  type BlameCase,
  type BlameTools,
  type ProofOptions,
} from "./proof-runner.ts";

/** A failure that was read, and the texts of the changed files. */
export interface ReadChange {
  readonly material: BlameMaterial;
  readonly ranked: RankedBlame;
  /** All changes, including those found to be a cause already. */
  readonly hunks: readonly ChangedHunk[];
  readonly paths: readonly string[];
  readonly texts: {
    textOf(path: string): string | null;
    textBefore(path: string): string | null;
  };
  /** Reads another output of the same change. */
  read(output: string, root: string): BlameMaterial;
}

export interface ProofFound {
  readonly answer: ProofAnswer;
  readonly parts: readonly RankedHunk[];
  /** The ranking, updated by the first run: which tests executed which of the changed lines. */
  readonly ranked: RankedBlame;
}

interface RoundFound extends ProofFound {
  /** The output of the check without the cause, if other failures are left. */
  readonly left: { readonly output: string; readonly root: string } | null;
}

/** One build error hides other mistakes: how often the search is repeated without what was found. */
const MOST_ROUNDS = 3;

/** Proves by runs what caused a failure, and then what caused the failures that are left without that cause. */
export async function runProof(
  given: BlameCase,
  tools: BlameTools,
  options: ProofOptions,
  change: ReadChange,
): Promise<ProofFound | null> {
  const until = tools.now() + options.limits.timeMs;
  const first = await proofRound(given, tools, options, change, []);
  if (first === null) return null;
  let { answer, left } = first;
  const parts = [...first.parts];
  const out = [...(answer.cure ?? [])];
  for (let round = 1; round < MOST_ROUNDS && left !== null; round++) {
    const limits = { runs: options.limits.runs - answer.runs, timeMs: until - tools.now() };
    if (limits.runs <= 0 || limits.timeMs <= 0) break;
    await tools.checkout.set(given.tree, new Map());
    const read = change.read(left.output, left.root);
    const material = { ...read, hunks: read.hunks.filter(({ id }) => !out.includes(id)) };
    const ranked = rankBlame(material);
    const next = await proofRound(given, tools, { ...options, limits }, { ...change, material, ranked }, out);
    if (next === null) break;
    answer = joinRounds(answer, next.answer);
    parts.push(...next.parts);
    left = next.left;
    out.push(...(next.answer.cure ?? []));
  }
  return { answer, parts, ranked: first.ranked };
}

/** The untouched tree, the base, and one reverted change: fewer runs show nothing. */
const LEAST_RUNS = 3;

/** The most lines that are counted. */
const MOST_COUNTED = 20_000;

/** Returns the changed lines by file; for removed lines, those around them. */
function changedLines(hunks: readonly ChangedHunk[]): ReadonlyMap<string, readonly number[]> {
  const lines = new Map<string, number[]>();
  let count = 0;
  for (const { file, start, end, added } of hunks) {
    const own = lines.get(file) ?? [];
    lines.set(file, own);
    for (let line = added.length === 0 ? start - 1 : start; line <= end && count < MOST_COUNTED; line++, count++)
      if (line > 0) own.push(line);
  }
  return lines;
}

const LATE: RunOutcome = { outcomes: [], tookMs: 0, isLate: true };

function byExitCode({ passed, timedOut, tookMs }: ExperimentRun): RunOutcome {
  return { outcomes: [timedOut ? "cannot-apply" : passed ? "pass" : "fail-same"], tookMs };
}

/** A state of the files: the changes with their parts, and those that are reverted. */
interface TestedTree {
  readonly own: readonly ChangedHunk[];
  readonly without: ReadonlySet<number>;
}

function testedTree(
  hunks: readonly ChangedHunk[],
  parts: ReadonlyMap<number, readonly ChangedHunk[]>,
  without: ReadonlySet<number>,
): TestedTree {
  return { own: withParts(hunks, parts, without), without };
}

async function proofRound(
  given: BlameCase,
  tools: BlameTools,
  { trial, command: whole, limits, checkMs = 0 }: ProofOptions,
  { material, ranked, hunks, paths, texts }: ReadChange,
  out: readonly number[],
): Promise<RoundFound | null> {
  const { checkout, signal, now, onRun } = tools;
  const [setup, index] = [newSetup(groupsOf(material.failure)), pathIndex(paths)];
  const commands = commandsFor(whole, checkMs * LEAST_RUNS > limits.timeMs, material, texts);
  if (commands === null) return null;
  const ranking = rankingOf(material, ranked, limits);
  const { parts, renames } = ranking.prepared();
  const counted = changedLines(material.hunks);
  const printed = new Map<string, { output: string; root: string }>();
  const until = now() + limits.timeMs;
  const treeOf = (ids: readonly number[]): TestedTree => testedTree(hunks, parts, new Set([...ids, ...out]));
  const run: ProofRunnerOptions["run"] = async (path, control, { without, repeat }) => {
    const beganAt = now();
    const timeoutMs = until - beganAt;
    if (timeoutMs <= 0) return LATE;
    const isFirst = without.length === 0 && repeat === 0;
    const command = setup.mode.isWhole ? whole : commands.narrow;
    const request = { command, path, timeoutMs, isBare: setup.mode.isBare, ...(isFirst ? { counted } : {}) };
    const { passed, timedOut, output, tests, coverage = [] } = await trial.run(request, control);
    if (timedOut && now() >= until) return LATE;
    ranking.learn(coverage);
    if (!passed) printed.set(keyOf(without), { output, root: path });
    const reading = { ...readFailure(output, { root: path, paths: index }), ...(tests === undefined ? {} : { tests }) };
    const ended = { passed, timedOut, reading, tookMs: now() - beganAt };
    if (setup.groups.length === 0) return byExitCode(ended);
    if (without.length === 0 && !passed) learnFailures(setup, reading.failures);
    return outcomeOfTree(setup.groups, ended, treeOf(without), given);
  };
  const runner = proofRunner({
    checkout,
    ...(tools.more === undefined ? {} : { more: tools.more }),
    tree: given.tree,
    filesWithout(ids) {
      const { own, without } = treeOf(ids);
      return filesWithout(own, without, texts.textOf, texts.textBefore, renames);
    },
    run,
    onRun: ({ without, purpose }) => onRun?.(`${purpose}: ${treeWords(without.length + out.length, hunks.length)}`),
    signal,
  });
  try {
    const answer = await askUntilAnswered({ runner, setup, signal, hasWhole: commands.hasWhole, ranking });
    if (answer === null) return null;
    return {
      answer: answerOfRound(answer, out, setup),
      ranked: ranking.ranked(),
      parts: ranking.prepared().rankedParts.filter(({ hunk }) => answer.parts?.includes(hunk.id)),
      left:
        answer.isPartial === true && setup.groups.length > 0 ? (printed.get(keyOf(answer.cure ?? [])) ?? null) : null,
    };
  } finally {
    await runner.close();
  }
}

function answerOfRound(answer: ProofAnswer, out: readonly number[], { groups }: ProofSetup): ProofAnswer {
  const experiments = (answer.experiments ?? []).map((each) => ({ ...each, without: [...out, ...each.without] }));
  // If the output has no content, different failures cannot be told apart: that is not a proof.
  return { ...answer, experiments, ...(groups.length === 0 ? { proven: false } : {}) };
}

/** Returns the outcome of a tree's run, with the changes that the messages of a broken build are about. */
function outcomeOfTree(
  groups: readonly FailureGroup[],
  run: ExperimentRun,
  { own, without }: TestedTree,
  { isTest }: BlameCase,
): RunOutcome {
  const lacksTests = own.some(({ id, file }) => without.has(id) && isTest(file));
  const messages = run.reading.failures.filter(isBroken).flatMap(({ frames, file, line, message }) => {
    const at = frames[0] ?? { file, line };
    return at.file === null || at.line === null ? [] : [{ file: at.file, line: at.line, message }];
  });
  const bound = boundBy(own, without, messages);
  return { ...outcomeOf(groups, { ...run, lacksTests }), ...(bound === null ? {} : { bound }) };
}

/** The commands for the failing tests; `null` if each run would take as long as the check, so too few runs are possible. */
function commandsFor(
  whole: string,
  isTooLong: boolean,
  material: BlameMaterial,
  texts: ReadChange["texts"],
): { readonly narrow: string; readonly hasWhole: boolean } | null {
  const narrow = failingTests(whole, material, texts);
  if (narrow === whole && isTooLong) return null;
  return { narrow, hasWhole: narrow !== whole && !isTooLong };
}

/** Returns a command for only the failing tests, if all of them are known. */
function failingTests(command: string, { failure }: BlameMaterial, { textOf }: ReadChange["texts"]): string {
  if (failure.isTruncated) return command;
  return narrowedCommand(command, { failures: failure.failures, packageFile: textOf("package.json"), textOf });
}

const treeWords = (without: number, all: number): string =>
  without === 0 ? "as it is" : `without ${without} of ${countText(all, "change")}`;

/** Holds the ranking, and updates it once it is known which tests executed which of the changed lines. */
function rankingOf(material: BlameMaterial, ranked: RankedBlame, limits: ProofOptions["limits"]) {
  let isCounted = false;
  let [rankedNow, prepared] = [ranked, prepareProof(material, ranked, limits)];
  return {
    ranked: () => rankedNow,
    prepared: () => prepared,
    /** Whether a run counted lines. */
    isCounted: () => isCounted,
    learn(coverage: readonly LineCoverage[]): void {
      isCounted ||= coverage.length > 0;
      if (!coverage.some(({ failed }) => failed > 0)) return;
      const known = { ...material, coverage };
      rankedNow = rankBlame(known);
      prepared = prepareProof(known, rankedNow, limits);
    },
  };
}
