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
 * Tests that the story added or changed, and that a passed gate or a person has seen, are pinned too. Where the work
 * changed them since, they are run as they were then: what fails or is gone is contested, as a test of the base is.
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
  /** What puts the tests back as they were seen. */
  readonly pinned: PinnedTree;
  /** All paths that differ from what was seen. */
  readonly since: readonly string[];
  /** Of the pinned files, those that are the story's own work. */
  readonly files: readonly string[];
}

/** `null` where the work left alone what was seen of its own tests; the base's are held to the base. */
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

/** The files alone where their runner can be told so, and otherwise everything. */
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

/** With those tests as the measure: each that passes in the version seen then must still run. */
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
 * Targets that a run without a failure does not name, although it names its tests. Where the number of tests fell as
 * well, the run proves nothing; but a target that did not run is not met, and that is for the author to fix.
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
  // Without a tree nothing is known of what changed.
  const changed = missing.length === 0 || tree === "" ? [] : await workspace.changedPaths(story.id, base, tree);
  return missing.map((name) => missingTarget(name, changed));
}

/** At the base the file did not load, so that none of its tests had a name: Node calls such a file a test, by its path. */
export function isWholeFile(target: string): boolean {
  const place = placeOfFailure(target);
  const title = target.slice(place.length + " > ".length);
  return title === place || title.endsWith(`/${place}`);
}
