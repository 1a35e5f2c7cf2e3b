import { failureKinds, placeOfFailure } from "../../core/gates/base-failures.ts";
import { judgeBaseTests, type BaseTestVerdict, mayChange } from "../../core/gates/base-tests.ts";
import { contestedSummary } from "../../core/gates/contested-test.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { ExperimentCheckout } from "../../ports/experiment-runner.ts";
import type { TestedJudgement } from "../checks/checks-gate.ts";
import { failuresIn, inCheckout, namesOf, withNote, type PinnedContext, type TestedWorkOptions } from "./pinned-run.ts";
import { pinnedTree, setPinned, type PinnedTree } from "./pinned-tree.ts";
import { renamedTests } from "./match-tests.ts";
import { runSelected } from "./selected-tests.ts";
import { missingTarget } from "./base-test-findings.ts";

/**
 * Verifies the work with tests that the story itself added or changed and that a passed gate or a person has seen. If
 * the work changed them since, the seen version is run: tests that fail or are gone are contested, like tests of the
 * base.
 */
export async function heldToSeen(work: PinnedContext, ran: TestedJudgement, judged: Judgement): Promise<Judgement> {
  const { options, request, control } = work;
  const { experimentRunner } = options;
  const { seenTree } = request;
  if (judged.result !== "pass" || experimentRunner === null || seenTree === undefined || control.signal.aborted)
    return judged;
  const seen = { ...request, base: seenTree };
  const changes = await changesSinceSeen(work, seen);
  if (changes === null) return judged;
  const checkout = await experimentRunner.open({
    signal: control.signal,
    commit: request.commit === "" ? request.base : request.commit,
    tree: request.tree,
    base: request.base,
  });
  try {
    const own = await runSeen(work, seen, changes, checkout);
    if (control.signal.aborted) return judged;
    return withSeen(judged, await seenVerdict(work, seen, changes, ran, own), own);
  } finally {
    await checkout.close();
  }
}

interface SeenChanges {
  /** What restores the tests as they were seen. */
  readonly pinned: PinnedTree;
  /** All paths that differ from the seen tree. */
  readonly since: readonly string[];
  /** The pinned files that are the story's own work. */
  readonly files: readonly string[];
}

/**
 * Returns the changes since the tests were seen; `null` if the story's own tests are unchanged. The base's tests are
 * verified separately.
 */
async function changesSinceSeen({ options, request }: PinnedContext, seen: GateRequest): Promise<SeenChanges | null> {
  const { workspace } = options;
  const { story, base, tree } = request;
  const since = await workspace.changedPaths(story.id, seen.base, tree);
  const ofStory = new Set(since.length === 0 ? [] : await workspace.changedPaths(story.id, base, seen.base));
  if (!since.some((path) => ofStory.has(path))) return null;
  const pinned = await pinnedTree(options, seen, since);
  if (pinned === null) return null;
  const files: string[] = [];
  for (const path of [...pinned.taken, ...pinned.texts.keys()])
    if (ofStory.has(path) && (await workspace.fileAt(story.id, seen.base, path)) !== null) files.push(path);
  return files.length === 0 ? null : { pinned, since, files };
}

/** Runs these files alone if the runner supports that, otherwise everything. */
async function runSeen(
  { checks, options, control }: PinnedContext,
  seen: GateRequest,
  { pinned, files }: SeenChanges,
  checkout: ExperimentCheckout,
): Promise<TestedJudgement> {
  const request = inCheckout(seen, checkout, await setPinned(checkout, seen, pinned));
  const textAt = (path: string): string | null => checkout.text(path);
  const selected = await runSelected(options.selectTests, files, request, control, textAt);
  return selected ?? checks.judgeTests(request, control);
}

/** Compares with the seen tests: each that passes in the seen version must still run. */
async function seenVerdict(
  { options, request }: PinnedContext,
  seen: GateRequest,
  { since }: SeenChanges,
  ran: TestedJudgement,
  own: TestedJudgement,
): Promise<BaseTestVerdict> {
  const kindOf = failureKinds(request.atBase);
  const isRenamed = await renamedTests(options, seen, since, ran.tests);
  return judgeBaseTests({
    base: own.tests,
    candidate: ran.tests,
    pinned: { results: own.tests, failures: failuresIn(own, null) },
    isExcused: (test) => kindOf(test) !== "new",
    isRenamed,
    licensed: request.licensed,
  });
}

function withSeen(judged: Judgement, verdict: BaseTestVerdict, own: TestedJudgement): Judgement {
  const known = new Set((judged.contested ?? []).map(({ test }) => test));
  const more = verdict.contested
    .filter(({ test }) => !known.has(test))
    .map((each) => ({ ...each, isOfStory: true as const }));
  const { licensed } = verdict;
  const evidence = [...new Set([...judged.evidence, ...own.judgement.evidence])];
  const allowed = `${countText(licensed.length, "test")} changed as allowed: ${namesOf(licensed)}`;
  const held = licensed.length === 0 ? { ...judged, evidence } : withNote({ ...judged, evidence }, allowed);
  if (more.length === 0) return held;
  const summary = `${held.summary}; ${contestedSummary(more)}`;
  return { ...held, contested: [...(judged.contested ?? []), ...more], summary };
}

/**
 * Returns targets that a run without failures does not name, although it names its tests. If the number of tests fell
 * too, the run proves nothing; but a target that did not run is not met, and the author must fix that.
 */
export async function missingTargets(
  { workspace }: Pick<TestedWorkOptions, "workspace">,
  { atBase, licensed, story, base, tree }: GateRequest,
  { judgement, tests }: TestedJudgement,
): Promise<readonly Finding[]> {
  const isGreen = (judgement.runs ?? []).every(({ result }) => result === "pass");
  if (judgement.result !== "inconclusive" || !isGreen || !tests.isNamed || tests.passed.size === 0) return [];
  const passing = new Set(judgement.identities?.passing);
  const missing = atBase.targets.filter(
    (name) => name.includes(" > ") && !isWholeFile(name) && !passing.has(name) && !mayChange(name, licensed),
  );
  // Without a tree, the changed paths are unknown.
  const changed = missing.length === 0 || tree === "" ? [] : await workspace.changedPaths(story.id, base, tree);
  return missing.map((name) => missingTarget(name, changed));
}

/**
 * Whether a target is a whole file: at the base it did not load, so its tests had no names; Node reports such a file as
 * a test, by its path.
 */
export function isWholeFile(target: string): boolean {
  const place = placeOfFailure(target);
  const title = target.slice(place.length + " > ".length);
  return title === place || title.endsWith(`/${place}`);
}
