import { identifyFinding } from "../../core/gates/finding-identity.ts";
import { normalisedMessage } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { ExperimentCheckout } from "../../ports/experiment-runner.ts";
import { type Fault, faultsIn, withFault } from "../../parse/code/plant-faults.ts";
import type { TestedJudgement } from "../checks/checks-gate.ts";
import { LEAST_RUN_MS, productRule } from "../faults/fault-bench.ts";
import { type PinnedContext, inCheckout, refuseJudgement } from "./pinned-run.ts";
import { openPinned, pinnedTree, setPinned, testFilesAtBase } from "./pinned-tree.ts";

/** How many faults are tried at the base. */
const MOST_TRIES = 4;

/**
 * Verifies a check that names no tests and is the target, by its exit code and output. A fault on a line that the work
 * did not change must change the check's output at the base; with the work, the check must then fail. A check that
 * still passes no longer tests anything: the work ends it early or makes its exit code constant.
 */
export async function heldToExit(work: PinnedContext, ran: TestedJudgement, judged: Judgement): Promise<Judgement> {
  const { options, request, control } = work;
  const [target] = request.atBase.targets.filter((name) => !name.includes(" > "));
  const isOpen =
    judged.result === "pass" && ran.tests.passed.size === 0 && target !== undefined && !control.signal.aborted;
  if (!isOpen || options.faults === undefined || options.experimentRunner === null) return judged;
  // A fault may make the check run without end.
  const limitMs = Math.min(request.timeoutMs, LEAST_RUN_MS + 2 * ran.judgement.durationMs);
  const noticed = await noticedAtBase(work, limitMs);
  if (noticed === null || control.signal.aborted) return judged;
  const passed = await passesWith(work, noticed, limitMs);
  if (passed === null) return judged;
  const { path, line, before, after } = noticed;
  const finding = identifyFinding({
    severity: "critical",
    category: "tests",
    source: "checks",
    message: `${target} can no longer fail: it passes with a fault in ${path} that it noticed at the base`,
    detail: `Planted in ${path}, line ${line}: \`${before.trim()}\` became \`${after.trim()}\`.`,
    suggestedFix: "Take out what ends the check early or sets its exit code, and change the code so that it passes.",
  });
  return refuseJudgement(judged, [finding], passed.evidence);
}

/**
 * Returns a fault in a changed file, on a line that both versions have, with which the check's output differs at the
 * base.
 */
async function noticedAtBase(work: PinnedContext, limitMs: number): Promise<Fault | null> {
  const { options, request, control, changed } = work;
  const { story, base, tree } = request;
  const faults: Fault[] = [];
  for (const path of changed.filter(productRule(options))) {
    const [before, now] = [
      await options.workspace.fileAt(story.id, base, path),
      await options.workspace.fileAt(story.id, tree, path),
    ];
    const kept = new Set((now ?? "").split("\n"));
    if (before !== null) faults.push(...faultsIn(path, before, (line) => kept.has(line)));
  }
  if (faults.length === 0) return null;
  const checkout = await options.experimentRunner!.open({ signal: control.signal, commit: base, base });
  try {
    const says = async (texts: ReadonlyMap<string, string>): Promise<string | null> => {
      const limit = texts.size === 0 ? request.timeoutMs : limitMs;
      const { judgement } = await judge(work, checkout, await checkout.set(base, texts), limit);
      const [finding] = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
      return judgement.result === "fail" && finding !== undefined ? normalisedMessage(finding.message) : null;
    };
    const plain = await says(new Map());
    // If two plain runs of the base differ, a third run shows nothing.
    if (plain === null || plain !== (await says(new Map()))) return null;
    for (const fault of faults.slice(0, MOST_TRIES)) {
      const text = withFault((await options.workspace.fileAt(story.id, base, fault.path)) ?? "", fault);
      const said = text === null || control.signal.aborted ? null : await says(new Map([[fault.path, text]]));
      if (said !== null && said !== plain) return fault;
    }
    return null;
  } finally {
    await checkout.close();
  }
}

/** Runs the work with the fault. Returns the judgement if it passes; `null` if it fails, as it should. */
async function passesWith(work: PinnedContext, fault: Fault, limitMs: number): Promise<Judgement | null> {
  const { options, request, control, changed } = work;
  const { story, base, commit, tree } = request;
  const pinned = await pinnedTree(options, request, changed, await testFilesAtBase(options.evidence, request));
  const runner = options.experimentRunner!;
  const wanted = { signal: control.signal, commit: commit === "" ? base : commit, tree, base };
  const checkout = await (pinned === null ? runner.open(wanted) : openPinned(runner, request, pinned, control.signal));
  try {
    const text = withFault((await options.workspace.fileAt(story.id, tree, fault.path)) ?? "", fault);
    if (text === null) return null;
    const { taken, texts } = pinned ?? { taken: [], texts: new Map<string, string>() };
    const set = await setPinned(checkout, request, { taken, texts: new Map([...texts, [fault.path, text]]) });
    const { judgement } = await judge(work, checkout, set, limitMs);
    return judgement.result === "pass" ? judgement : null;
  } finally {
    await checkout.close();
  }
}

function judge(
  { options, request, control }: PinnedContext,
  checkout: ExperimentCheckout,
  tree: Awaited<ReturnType<ExperimentCheckout["set"]>>,
  limitMs: number,
): Promise<TestedJudgement> {
  const ranTests = request.baseRun?.ranTests ?? [];
  const { gate } = options.faults!.checksFor([], { packageFile: null, textOf: () => null, limitMs, ranTests });
  return gate.judgeTests(inCheckout(request, checkout, tree), { signal: control.signal, onOutput: () => undefined });
}
