import { rankedCause, type Cause } from "./cause.ts";
import { ask, runsOf, type Experiments, type Notebook } from "./experiments.ts";
import type { ProofInput } from "./proof-input.ts";
import { confirmStable } from "./red-base.ts";
import { contextFor, tryLikeliest } from "./search.ts";
import { searchGroups, searchOf } from "./search-groups.ts";

export const UNEXPLAINED = {
  proven: false,
  isEntangled: true,
  because: "without it some of the failing tests pass; others are new or changed, and fail on the base in another way",
};

/**
 * Handles failing tests of which some pass on the base, and others were changed or are new and fail there differently.
 * If one change is proven to break the former, and the whole check passes without it, there is no other cause: a cause
 * that broke only the latter would still break them. `null` in all other cases.
 */
export function* causeOfAll(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
  regressed: readonly number[],
  order: readonly number[],
): Experiments<Cause | null> {
  if (regressed.length === 0) return null;
  const { cure } = yield* tryLikeliest(searchOf(input, book, regressed[0]!, order));
  if (cure === null || !(yield* isGreenWithout(book, [cure], groups, 1))) return null;
  const found = yield* searchGroups(input, book, regressed, order);
  return found.proven && (yield* isGreenWithout(book, found.cure ?? found.hunks, groups, 2)) ? found : null;
}

/** Whether all failing tests, and all others, pass without these hunks every time. */
function* isGreenWithout(
  book: Notebook,
  ids: readonly number[],
  groups: readonly number[],
  times: number,
): Experiments<boolean> {
  const outcomes = yield* ask(book, ids, "confirm", times);
  const runs = runsOf(book, ids);
  return (
    groups.every((group) => outcomes[group] === "pass") &&
    runs.length >= times &&
    runs.every(({ outcome }) => outcome.isGreen === true)
  );
}

/**
 * Searches with the old tests. A changed test that fails differently on the base's code asks for more than before. If
 * its old version fails on the new code as recorded, the code broke something that worked: a regression like any other.
 * `null` if it does not.
 */
export function* causeByOldTests(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
): Experiments<Cause | null> {
  const { oldTests = [] } = input;
  if (oldTests.length === 0) return null;
  const first = yield* likeliestGreen(input, book, groups);
  const across = first === null ? null : yield* causeAcross(input, book, groups, [first]);
  if (across !== null) return across;
  const old = yield* ask(book, oldTests, "base");
  const still = groups.filter((group) => old[group] === "fail-same");
  if (still.length === 0 || !failsNoMore(book, oldTests)) return null;
  const code = input.hunks.map(({ id }) => id).filter((id) => !oldTests.includes(id));
  book.fixed = oldTests;
  const before = yield* ask(book, code, "base");
  const regressed = still.filter((group) => before[group] === "pass");
  const found =
    regressed.length === 0 ? null : yield* confirmStable(book, code, yield* searchGroups(input, book, regressed, code));
  book.fixed = [];
  if (found !== null && (!found.proven || found.hunks.length > 1)) {
    const fewer = yield* causeAcross(input, book, groups, found.hunks);
    if (fewer !== null) return fewer;
  }
  if (found?.isPartial === true) return { ...found, oldTests, cure: [...(found.cure ?? []), ...oldTests] };
  if (found === null || !found.proven || regressed.length === groups.length) return found;
  // Tests that are new, or fail only in their new version, must be explained as well.
  const after = yield* ask(book, found.cure ?? found.hunks, "confirm");
  return groups.every((group) => after[group] === "pass") ? found : { ...found, ...UNEXPLAINED };
}

/** How many of the likeliest changes are tried with the current tests, and the least share of each. */
const MOST_TRIED = 2;
const LIKELY = 0.15;

/** Returns a change without which the whole check passes with the current tests. */
function* likeliestGreen(input: ProofInput, book: Notebook, groups: readonly number[]): Experiments<number | null> {
  const { hunks, inTests = new Set() } = input;
  const code = hunks.filter(({ id, confidence }) => !inTests.has(id) && confidence >= LIKELY);
  for (const { id } of code.slice(0, MOST_TRIED)) if (yield* isGreenWithout(book, [id], groups, 1)) return id;
  return null;
}

/** Reduces a set of changes without which the whole check passes: changes that the new tests need stay. */
function* leastGreen(
  book: Notebook,
  groups: readonly number[],
  found: readonly number[],
): Experiments<readonly number[] | null> {
  let least = (yield* isGreenWithout(book, found, groups, 1)) ? found : null;
  for (const id of found) {
    const others = (least ?? found).filter((each) => each !== id);
    if (others.length > 0 && (yield* isGreenWithout(book, others, groups, 1))) least = others;
  }
  return least;
}

/**
 * Proves both directions with different tests: without the cause the whole check passes with the current tests, and
 * with only the cause on the base the old tests fail as recorded. Changes that make only the old tests fail were made
 * on purpose and are left out. `null` if that cannot be shown.
 */
function* causeAcross(
  { hunks, oldTests = [] }: ProofInput,
  book: Notebook,
  groups: readonly number[],
  found: readonly number[],
): Experiments<Cause | null> {
  if (found.length === 0 || !found.every((id) => hunks.some((hunk) => hunk.id === id))) return null;
  const culprits = yield* leastGreen(book, groups, found);
  if (culprits === null) return null;
  const before = yield* ask(book, [...hunks.map(({ id }) => id), ...oldTests], "base");
  const rest = hunks.map(({ id }) => id).filter((id) => !culprits.includes(id));
  const alone = [...new Set([...rest, ...oldTests])];
  const failed = yield* ask(book, alone, "confirm", 2);
  const isSame = groups.some((group) => failed[group] === "fail-same" && before[group] === "pass");
  const isOdd = groups.some((group) => before[group] !== "pass" || failed[group] === "flaky");
  const isExact =
    runsOf(book, alone).length >= 2 && runsOf(book, alone).some(({ outcome }) => outcome.loose === undefined);
  if (!isSame || isOdd || !isExact || !(yield* isGreenWithout(book, culprits, groups, 2))) return null;
  const because =
    "without it the tests pass as they are now; alone on the base, with the tests as they were, it fails in the same way";
  return { kind: culprits.length > 1 ? "multi" : "culprit", proven: true, hunks: culprits, because, cure: culprits };
}

/** Whether the old tests fail only where the new ones do. If not, they ask for what was changed on purpose. */
function failsNoMore(book: Notebook, oldTests: readonly number[]): boolean {
  const [now, old] = [[], oldTests].map((without) => runsOf(book, without)[0]?.outcome.failed);
  return now === undefined || old === undefined || old.every((test) => now.includes(test));
}

/** More changes than this explain nothing. */
const MOST_NEEDED = 4;

/**
 * Finds which changes, in addition to the tests, must be applied to the base until a changed test fails as recorded.
 * The test passes in its old version, and fails differently on the base's code. The likeliest of these changes is
 * named. Reverting it proves nothing, because the test asks for more than the old code does. `null` if no small set was
 * found.
 */
export function* causeOfNewCheck(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
): Experiments<Cause | null> {
  const { oldTests = [] } = input;
  if (oldTests.length === 0) return null;
  const code = input.hunks.map(({ id }) => id).filter((id) => !oldTests.includes(id));
  const search = searchOf(input, book, groups[0]!, code);
  const needed = yield* contextFor(search, []);
  if (needed === null || needed.length > MOST_NEEDED) return null;
  const [likeliest] = [...needed].sort((a, b) => search.shareOf(b) - search.shareOf(a));
  const because = "with it on the base, the changed tests fail in the same way; they ask for more than the base does";
  return likeliest === undefined ? null : { ...rankedCause("culprit", because, [likeliest]), isEntangled: true };
}
