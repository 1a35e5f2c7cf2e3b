import { matchesGlob } from "../../stdx/glob.ts";
import type { knownFailureSchema } from "../schemas/policy.ts";
import type { Stored } from "../schemas/scalars.ts";
import type { Story } from "../stories/story.ts";
import type { StoryState } from "../stories/story-state.ts";

/** A failure that a person knows about: it existed before the work, and the work neither caused it nor must fix it. */
export type KnownFailure = Stored<typeof knownFailureSchema>;

/** The results of the checks at the base, before the work began, and what they mean for the work. */
export interface BaseFailures {
  /** Names of what failed there twice; `null` if the base was not run. */
  readonly failing: readonly string[] | null;
  /** Names of tests that both passed and failed at the base. */
  readonly flaky: readonly string[];
  readonly known: readonly KnownFailure[];
  /** Failures that the work must make pass. */
  readonly targets: readonly string[];
}

export const UNKNOWN_BASE: BaseFailures = { failing: null, flaky: [], known: [], targets: [] };

/**
 * What a failure means for the work: `new` and `target` block it; `known` is expected; `unrelated` failed at the base
 * and belongs to other work; `flaky` both passed and failed at the base, so its failure says nothing about the work.
 */
export type FailureKind = "new" | "target" | "known" | "unrelated" | "flaky";

export const failureKind = (name: string, base: BaseFailures): FailureKind => failureKinds(base)(name);

/** Like `failureKind`, for many names: a run may name a hundred thousand. */
export function failureKinds(base: BaseFailures): (name: string) => FailureKind {
  const [targets, flaky] = [new Set(base.targets), new Set(base.flaky)];
  const failing = base.failing === null ? null : new Set(base.failing);
  const isKnown = (name: string): boolean => base.known.some(({ test }) => matchesTest(name, test));
  return (name) => {
    if (targets.has(name)) return "target";
    if (failing === null) return isKnown(name) ? "known" : "new";
    if (failing.has(name)) return isKnown(name) ? "known" : "unrelated";
    return flaky.has(name) ? "flaky" : "new";
  };
}

export const isBlockingKind = (kind: FailureKind): boolean => kind === "new" || kind === "target";

/** As a target: every failure at the base that is not known. */
export const EVERY_FAILURE = "*";

/** Whether a pattern selects this test: by its whole name, its title, its file, or a glob of one of these. */
export function matchesTest(name: string, pattern: string): boolean {
  const wanted = pattern.trim();
  if (wanted === EVERY_FAILURE || shortNamesOf(name).includes(wanted)) return true;
  return partsOf(name).some(
    (part) => part === wanted || matchesGlob(part, wanted) || matchesGlob(withoutFolders(part), withoutFolders(wanted)),
  );
}

/** Returns a test's names: `test/a.test.js > the cart > adds`, its file, `the cart > adds`, and `adds`. */
function partsOf(name: string): string[] {
  const end = name.search(/ > |: /);
  if (end < 0) return [name];
  const place = name.slice(0, end);
  if (!name.startsWith(" > ", end)) return [name, place];
  return [name, place, name.slice(end + 3), name.slice(name.lastIndexOf(" > ") + 3)];
}

/** Returns names without the folders: Go and Maven print a test's file that way, and people copy what is printed. */
function shortNamesOf(name: string): string[] {
  const place = placeOfFailure(name);
  const folders = place.lastIndexOf("/") + 1;
  return folders === 0 ? [] : [place.slice(folders), name.slice(folders)];
}

/** In a title a slash does not separate folders, so `*` matches across it. */
const withoutFolders = (text: string): string => text.replaceAll("/", "\u0000");

/** Returns the file, or the check, of a failure. */
export function placeOfFailure(name: string): string {
  const end = name.search(/ > |: /);
  return end < 0 ? name : name.slice(0, end);
}

/** Sorts the failures at a story's base by the configuration, the story, and the answers of people. */
export function baseFailuresOf(state: StoryState): BaseFailures {
  const { preExisting: failing, flakyAtBase: flaky = [], policy, story } = state;
  const known = [...(policy?.knownFailures ?? []), ...(state.known ?? [])];
  const named = (story.target ?? []).filter((pattern) => pattern !== EVERY_FAILURE);
  const isNamed = (name: string): boolean => named.some((pattern) => matchesTest(name, pattern));
  const isKnown = (name: string): boolean => known.some(({ test }) => matchesTest(name, test));
  const wantsAll = (story.target ?? []).includes(EVERY_FAILURE);
  const isTarget = (name: string): boolean =>
    isNamed(name) || (state.targets ?? []).includes(name) || (wantsAll && !isKnown(name));
  // A target is never quarantined: a flaky test that the story names must become stable.
  const targets = [...failing.filter(isTarget), ...flaky.filter(isNamed)];
  return { failing, flaky: flaky.filter((name) => !isNamed(name)), known, targets };
}

/** Returns failures at the base that no person has classified; none if the story names targets. */
export function unsortedFailures(state: StoryState): readonly string[] {
  if (state.flakyAtBase === undefined || (state.story.target ?? []).length > 0) return [];
  const base = baseFailuresOf(state);
  const kindOf = failureKinds(base);
  return (base.failing ?? []).filter((name) => kindOf(name) === "unrelated");
}

/** Returns targets of the story that match no failure at the base: nothing is there to make pass. */
export function targetsNotFailing(state: StoryState): readonly string[] {
  const { preExisting, flakyAtBase, story } = state;
  if (flakyAtBase === undefined) return [];
  const red = [...preExisting, ...flakyAtBase];
  return (story.target ?? []).filter(
    (pattern) => pattern !== EVERY_FAILURE && !red.some((name) => matchesTest(name, pattern)),
  );
}

/**
 * Returns a story as its file has it now, with the license to change tests that it had when it started. A later edit of
 * the file grants no license, because an agent may have made it.
 */
export function withStartLicense({ startedAt, story: before }: StoryState, now: Story): Story {
  if (startedAt === null) return now;
  const { tests: _later, ...others } = now;
  return before.tests === undefined ? others : { ...others, tests: before.tests };
}
