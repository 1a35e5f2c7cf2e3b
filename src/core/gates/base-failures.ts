import { matchesGlob } from "../../stdx/glob.ts";
import type { knownFailureSchema } from "../schemas/policy.ts";
import type { Stored } from "../schemas/scalars.ts";
import type { Story } from "../stories/story.ts";
import type { StoryState } from "../stories/story-state.ts";

/** A failure that a person knows about: it was there before the work, and is neither its target nor its fault. */
export type KnownFailure = Stored<typeof knownFailureSchema>;

/** What the checks said of the base, before the work began, and what that means for the work. */
export interface BaseFailures {
  /** Names of what failed there, twice; `null` where the base was not run. */
  readonly failing: readonly string[] | null;
  /** Names of tests that gave two answers about the base. */
  readonly flaky: readonly string[];
  readonly known: readonly KnownFailure[];
  /** Those that the work must make pass. */
  readonly targets: readonly string[];
}

export const UNKNOWN_BASE: BaseFailures = { failing: null, flaky: [], known: [], targets: [] };

/**
 * What a failure is to the work: `new` and `target` block it; `known` is expected; `unrelated` failed at the base and
 * belongs to other work; `flaky` gave two answers about the base, so that its failure says nothing of the work.
 */
export type FailureKind = "new" | "target" | "known" | "unrelated" | "flaky";

export const failureKind = (name: string, base: BaseFailures): FailureKind => failureKinds(base)(name);

/** The same for many names: a run may name a hundred thousand. */
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

/** As a target: whatever fails at the base and is not known. */
export const EVERY_FAILURE = "*";

/** Is this test meant? By its whole name, its title, its file, or a pattern of one of these. */
export function matchesTest(name: string, pattern: string): boolean {
  const wanted = pattern.trim();
  if (wanted === EVERY_FAILURE || shortNamesOf(name).includes(wanted)) return true;
  return partsOf(name).some(
    (part) => part === wanted || matchesGlob(part, wanted) || matchesGlob(withoutFolders(part), withoutFolders(wanted)),
  );
}

/** `test/a.test.js > the cart > adds` is also known by its file, by `the cart > adds`, and by `adds`. */
function partsOf(name: string): string[] {
  const end = name.search(/ > |: /);
  if (end < 0) return [name];
  const place = name.slice(0, end);
  if (!name.startsWith(" > ", end)) return [name, place];
  return [name, place, name.slice(end + 3), name.slice(name.lastIndexOf(" > ") + 3)];
}

/** Go and Maven print a test's file without its folders, and people write it down as it is printed. */
function shortNamesOf(name: string): string[] {
  const place = placeOfFailure(name);
  const folders = place.lastIndexOf("/") + 1;
  return folders === 0 ? [] : [place.slice(folders), name.slice(folders)];
}

/** In a title a slash separates nothing: there `*` goes across it. */
const withoutFolders = (text: string): string => text.replaceAll("/", "\u0000");

/** The file, or the check, in which a failure was seen. */
export function placeOfFailure(name: string): string {
  const end = name.search(/ > |: /);
  return end < 0 ? name : name.slice(0, end);
}

/** What failed at the base of a story, sorted by the configuration, by the story, and by what people answered. */
export function baseFailuresOf(state: StoryState): BaseFailures {
  const { preExisting: failing, flakyAtBase: flaky = [], policy, story } = state;
  const known = [...(policy?.knownFailures ?? []), ...(state.known ?? [])];
  const named = (story.target ?? []).filter((pattern) => pattern !== EVERY_FAILURE);
  const isNamed = (name: string): boolean => named.some((pattern) => matchesTest(name, pattern));
  const isKnown = (name: string): boolean => known.some(({ test }) => matchesTest(name, test));
  const wantsAll = (story.target ?? []).includes(EVERY_FAILURE);
  const isTarget = (name: string): boolean =>
    isNamed(name) || (state.targets ?? []).includes(name) || (wantsAll && !isKnown(name));
  // A target is never quarantined: a flaky test that the story names must become steady.
  const targets = [...failing.filter(isTarget), ...flaky.filter(isNamed)];
  return { failing, flaky: flaky.filter((name) => !isNamed(name)), known, targets };
}

/** Failures at the base of a story without a target that no person has classified. */
export function unsortedFailures(state: StoryState): readonly string[] {
  if (state.flakyAtBase === undefined || (state.story.target ?? []).length > 0) return [];
  const base = baseFailuresOf(state);
  const kindOf = failureKinds(base);
  return (base.failing ?? []).filter((name) => kindOf(name) === "unrelated");
}

/** Targets of the story that match nothing which fails at the base: there is nothing to make pass. */
export function targetsNotFailing(state: StoryState): readonly string[] {
  const { preExisting, flakyAtBase, story } = state;
  if (flakyAtBase === undefined) return [];
  const red = [...preExisting, ...flakyAtBase];
  return (story.target ?? []).filter(
    (pattern) => pattern !== EVERY_FAILURE && !red.some((name) => matchesTest(name, pattern)),
  );
}

/**
 * A story as its file says it now, with the license to change tests that it had when it started. A later edit of the
 * file gives none: an agent may have made it.
 */
export function keepingLicense({ startedAt, story: before }: StoryState, now: Story): Story {
  if (startedAt === null) return now;
  const { tests: _later, ...others } = now;
  return before.tests === undefined ? others : { ...others, tests: before.tests };
}
