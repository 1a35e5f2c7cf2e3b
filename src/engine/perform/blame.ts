import type { AttemptSummary } from "../../core/stories/attempt.ts";
import type { Blame, Suspect } from "../../core/blame/blame.ts";
import type { ChangedHunk } from "../../core/blame/change.ts";
import { outputOfLog } from "../../core/gates/check-output.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { stepOf } from "../../decide/blame/outcome.ts";
import type { ExperimentCheckout } from "../../ports/experiment-runner.ts";
import { readHunks } from "../../parse/code/failure-material.ts";
import { readGitDiff } from "../../parse/code/git-output.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { appendIfRunning, isStep } from "../ledger.ts";
import type { ProofOptions } from "../proof-runner.ts";
import { findBlame } from "../find-blame.ts";
import type { ContextOf } from "./command-context.ts";
import type { BlameSearch, EngineWorld } from "../world.ts";

/** Searches for the change that made a gate fail, and for the attempt that made it. */
export async function blameFailure({ command, ledger, world, signal }: ContextOf<"find-blame">): Promise<void> {
  const { story, gate } = command;
  const { blameSearch } = world;
  const before = ledger.story(story);
  const judgement = before.gates[gate]?.last ?? null;
  if (!(await ledger.append(story, [{ type: "step.started", step: "blame" }]))) return;
  const beganAt = world.clock.now();
  const found =
    blameSearch === null || judgement === null
      ? nothingKnown("blame is off")
      : (redAtBase(before, judgement) ??
        (await searchBlame(before, judgement, world, blameSearch, signal, (text) =>
          world.watcher.onOutput(command, text),
        )));
  if (signal.aborted) return;
  const blame = await addOrigins(before, asTarget(before, found), world);
  const durationMs = world.clock.now() - beganAt;
  await appendIfRunning(ledger, story, isStep("blame"), [{ type: "blame.found", gate, blame, durationMs }]);
}

/** Returns a blame without a search if the tests failed on the base too: no change of this story broke them. */
function redAtBase({ gates, preExisting }: StoryState, { gate, identities }: Judgement): Blame | null {
  // If the gate has passed before, failures are compared with that tree instead.
  if (gates[gate]?.lastPass || identities === undefined) return null;
  const { failing, unlisted } = identities;
  const red = new Set(preExisting);
  if (failing.length === 0 || unlisted > 0 || !failing.every((name) => red.has(name))) return null;
  const explanation = "The same tests failed on the base, before the work began.";
  return { ...nothingKnown(explanation), verdict: "pre-existing", confidence: 0.9 };
}

async function searchBlame(
  state: StoryState,
  judgement: Judgement,
  world: EngineWorld,
  blameSearch: BlameSearch,
  signal: AbortSignal,
  onRun: (text: string) => void,
): Promise<Blame> {
  const { id } = state.story;
  const beganAt = world.clock.now();
  const { path, base: start } = await world.workspace.prepare(id);
  const base = state.gates[judgement.gate]?.lastPass ?? start;
  const [log] = judgement.evidence;
  const output = log === undefined ? null : await world.evidence.read(log);
  if (output === null) return nothingKnown("the failed check left nothing to read");
  const diff = await world.workspace.diff(id, base, judgement.tree);
  if (diff === "") return nothingKnown("Nothing changed that could have caused it.");
  const open = (): Promise<ExperimentCheckout> => blameSearch.experimentRunner.open({ signal, tree: judgement.tree });
  const checkout = await open();
  try {
    const testPaths = state.policy?.scope.testPaths ?? [];
    const given = {
      output: outputOfLog(output),
      root: path,
      base,
      tree: judgement.tree,
      diff,
      isTest: (file: string) => matchesAnyGlob(file, testPaths),
    };
    const { blame } = await findBlame(given, {
      checkout,
      textBefore: (file) => world.workspace.fileAt(id, base, file),
      proof: provingOf(judgement, blameSearch, world.clock.now() - beganAt),
      signal,
      now: () => world.clock.now(),
      onRun,
      more: { count: blameSearch.experimentRunner.extraCheckouts?.() ?? 0, open },
    });
    return blame;
  } finally {
    await checkout.close();
  }
}

/**
 * Returns how to prove a cause by running. Only checks of this machine can run again; a failure elsewhere is only
 * ranked.
 */
function provingOf(
  { runs, durationMs }: Judgement,
  { trial, limits, environments }: BlameSearch,
  spentMs: number,
): ProofOptions | null {
  const failed = (runs ?? []).find((run) => run.result === "fail");
  if (trial === null || failed === undefined || environments.includes(failed.environment)) return null;
  const checkMs = failed.durationMs ?? durationMs;
  const mostMs = Math.min(limits.timeMs, Math.max(LEAST_SEARCH_MS, limits.suites * checkMs));
  const timeMs = mostMs - spentMs;
  return timeMs <= 0 ? null : { trial, command: failed.command, limits: { runs: limits.runs, timeMs }, checkMs };
}

/** The least time for a proof, even if the check failed quickly. */
const LEAST_SEARCH_MS = 10_000;

/**
 * Turns a failure that existed on the base and is not known into an unmet target of the story: the work is not done
 * yet.
 */
function asTarget({ gates, failing }: StoryState, blame: Blame): Blame {
  if (blame.verdict !== "pre-existing" || failing === null || gates[failing.gate]?.lastPass) return blame;
  return {
    ...blame,
    verdict: "unmet",
    explanation: `It failed before the work began, and still fails. ${blame.explanation}`,
  };
}

/** Adds the attempt to each suspect: the one that wrote the lines, or else the newest one that changed the file. */
async function addOrigins(state: StoryState, blame: Blame, world: EngineWorld): Promise<Blame> {
  if (blame.suspects.length === 0) return blame;
  const { id } = state.story;
  const { base } = await world.workspace.prepare(id);
  const came: { readonly attempt: AttemptSummary; readonly hunks: readonly ChangedHunk[] }[] = [];
  let from: string = base;
  for (const attempt of state.attempts) {
    if (attempt.tree === null || attempt.tree === from) continue;
    const diff = await world.workspace.diff(id, from, attempt.tree);
    came.push({ attempt, hunks: readHunks(readGitDiff(diff)) });
    from = attempt.tree;
  }
  const steps = came.map(({ hunks }) => hunks);
  const withAttempt = (suspect: Suspect): Suspect => {
    const at =
      stepOf(suspect, steps) ?? steps.findLastIndex((hunks) => hunks.some(({ file }) => file === suspect.file));
    const whose = came[at]?.attempt;
    if (whose === undefined) return suspect;
    return { ...suspect, story: id, attempt: whose.attempt, role: whose.role, phase: whose.phase };
  };
  return { ...blame, suspects: blame.suspects.map(withAttempt) };
}

function nothingKnown(explanation: string): Blame {
  return { verdict: "unknown", basis: "ranked", confidence: 0, suspects: [], explanation, testRuns: 0 };
}
