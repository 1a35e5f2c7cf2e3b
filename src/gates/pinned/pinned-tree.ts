import { basename, dirname } from "node:path";
import { placeOfFailure } from "../../core/gates/base-failures.ts";
import { readSuiteResults } from "../../core/gates/test-names.ts";
import type { Evidence } from "../../ports/evidence.ts";
import { type PinnedRules, pinningOf } from "../../core/gates/base-tests.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { ExperimentCheckout, ExperimentRunner } from "../../ports/experiment-runner.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { spliceInlineTests } from "../../parse/tests/doc-tests.ts";
import {
  hasMovedPackages,
  mergeManifest,
  vendoredModules,
  LOCKFILES,
  allScripts,
  testScripts,
} from "../../parse/code/manifests.ts";
import { gitFolderOf } from "../integrity/file-changes.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { runChain } from "../checks/run-chain.ts";

export interface PinnedOptions extends Omit<PinnedRules, "named"> {
  readonly workspace: Pick<Workspace, "changedPaths" | "fileAt">;
  /** The commands of the checks. */
  readonly commands: readonly string[];
}

/** The work with the base's tests: the differences from the author's tree. */
export interface PinnedTree {
  /** Paths that are as at the base; they are removed if the work added them. */
  readonly taken: readonly string[];
  /** Merged files: manifests, and sources with inline tests. */
  readonly texts: ReadonlyMap<string, string>;
  /** Paths of `taken` that are restored only because the check runs them, such as a build script. */
  readonly steps?: readonly string[];
}

/** Returns the files that restore the base's tests; `null` if the work changed none of them. */
export async function pinnedTree(
  options: PinnedOptions,
  request: GateRequest,
  changed: readonly string[],
  testFiles: readonly string[] = [],
): Promise<PinnedTree | null> {
  const { story, base, tree } = request;
  const ran = new Set(testFiles);
  const rules = { ...options, named: await filesOfChecks(options, request) };
  const unnamed = { ...rules, named: new Set<string>() };
  const taken: string[] = [];
  const texts = new Map<string, string>();
  const steps: string[] = [];
  const isVendored = vendoredAsBefore(options, request);
  for (const path of changed) {
    const pinning = (await isVendored(path)) ? "whole" : pinningOf(path, rules);
    if (pinning === "product" && ran.size === 0) continue;
    if (pinning === "whole") {
      taken.push(path);
      if (rules.named.has(path) && pinningOf(path, unnamed) !== "whole") steps.push(path);
      continue;
    }
    const [before, now] = [
      await options.workspace.fileAt(story.id, base, path),
      await options.workspace.fileAt(story.id, tree, path),
    ];
    if (pinning !== "merged" && isFileOfTests(path, before, ran)) {
      taken.push(path);
      continue;
    }
    if (now === null && before !== null && pinning === "merged") taken.push(path);
    if (now === null || pinning === "product") continue;
    const text = (pinning === "merged" ? mergeManifest : spliceInlineTests)(path, before ?? "", now);
    if (text !== null && text !== now && !isSameJson(text, now)) texts.set(path, text);
    // If packages moved, the work's lockfile names their new location: take the base's lockfile.
    if (path.endsWith("package.json") && hasMovedPackages(before ?? "", now))
      taken.push(...changed.filter((each) => isLockfile(each) && dirname(each) === dirname(path)));
  }
  return taken.length === 0 && texts.size === 0 ? null : { taken, texts, ...(steps.length === 0 ? {} : { steps }) };
}

/**
 * Whether tests of this file passed at the base. Then it is a test file, whatever its name, unless it contains both
 * product and tests.
 */
function isFileOfTests(path: string, base: string | null, ran: ReadonlySet<string>): boolean {
  if (base === null || !/\.(?:[cm]?[jt]sx?|py|rb|php)$/.test(path) || /import\.meta\.vitest|^\s*>>> /m.test(base))
    return false;
  return ran.has(path) || [...ran].some((file) => path.endsWith(`/${file}`));
}

/** Returns the files in which tests passed at the base, as the runner named them. */
export async function testFilesAtBase(
  evidence: Pick<Evidence, "read">,
  { baseRun }: GateRequest,
): Promise<readonly string[]> {
  const kept = baseRun?.tests === undefined ? null : await evidence.read(baseRun.tests);
  const known = kept === null ? null : readSuiteResults(kept);
  const names = [...(known?.passed.keys() ?? [])].filter((name) => name.includes(" > "));
  return [...new Set(names.map(placeOfFailure))];
}

/**
 * Returns whether a path is vendored code of a Go module that the base uses in the same version. Then the base's code
 * counts, because the same version cannot have other code. If the base has no vendored code, the work's is removed.
 */
function vendoredAsBefore(
  { workspace }: PinnedOptions,
  { story, base, tree }: GateRequest,
): (path: string) => Promise<boolean> {
  return async (path) => {
    const [, folder, inside] = /^((?:.*?\/)?vendor\/)(.+)$/.exec(path) ?? [];
    if (folder === undefined || inside === undefined) return false;
    const before = await workspace.fileAt(story.id, base, `${folder}modules.txt`);
    const now = await workspace.fileAt(story.id, tree, `${folder}modules.txt`);
    if (before === null || now === null) return before !== now;
    const versions = vendoredModules(now);
    return [...vendoredModules(before)].some(
      ([module, version]) => inside.startsWith(`${module}/`) && versions.get(module) === version,
    );
  };
}

const isLockfile = (path: string): boolean => LOCKFILES.includes(basename(path));

/** Whether two manifests differ only in formatting. */
function isSameJson(one: string, other: string): boolean {
  try {
    return JSON.stringify(sortedEntries(JSON.parse(one))) === JSON.stringify(sortedEntries(JSON.parse(other)));
  } catch {
    return false;
  }
}

const sortedEntries = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value;

/**
 * Returns scripts and makefiles that the checks run, as at the base: the work must not change the files that check it.
 */
async function filesOfChecks(
  { workspace, commands, testPaths }: PinnedOptions,
  request: GateRequest,
): Promise<Set<string>> {
  const { story, base, path } = request;
  const folder = (await gitFolderOf(path))?.prefix ?? "";
  const read = (file: string): Promise<string | null> => workspace.fileAt(story.id, base, file);
  const own = await read(`${folder}package.json`);
  const chain = await runChain([...commands, ...testScripts(own).values()], allScripts(own), folder, read, (file) =>
    matchesAnyGlob(file, testPaths),
  );
  return new Set([...chain.programs, ...chain.makefiles]);
}

/** Sets a checkout to the work with the base's tests. */
export const setPinned = (checkout: ExperimentCheckout, { base, tree }: GateRequest, { taken, texts }: PinnedTree) =>
  checkout.set(tree, texts, { from: base, paths: taken });

/** Opens a checkout for them. If lockfiles are restored, it has the packages of the base's versions. */
export async function openPinned(
  experimentRunner: ExperimentRunner,
  request: GateRequest,
  pinned: PinnedTree,
  signal: AbortSignal,
): Promise<ExperimentCheckout> {
  const { commit, base, tree } = request;
  const wanted = { signal, commit: commit === "" ? base : commit, base };
  const checkout = await experimentRunner.open({ ...wanted, tree });
  if (!pinned.taken.some(isLockfile)) return checkout;
  try {
    const whole = await setPinned(checkout, request, pinned);
    return await experimentRunner.open({ ...wanted, tree: whole });
  } finally {
    await checkout.close();
  }
}
