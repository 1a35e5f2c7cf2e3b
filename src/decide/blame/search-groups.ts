import type { Cause } from "./cause.ts";
import { provenCause } from "./confirm.ts";
import { ask, runsOf, type Experiments, type Notebook, type RunOutcome } from "./experiments.ts";
import type { ProofInput } from "./proof-input.ts";
import { tryLikeliest, type Search } from "./search.ts";

/** Searches for the cause of each group of failures. The cause of one often explains the next without a run. */
export function* searchGroups(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
  order: readonly number[],
): Experiments<Cause> {
  const several = groups.length < 2 ? null : yield* causesOfGroups(input, book, groups, order);
  const found: Cause[] = several === null ? [] : [several];
  for (const group of several === null ? groups : []) {
    const known = found.flatMap((each) => each.cure ?? each.hunks);
    const left = known.length === 0 ? null : (yield* ask(book, known, "search"))[group];
    if (left === "pass") continue;
    // The found cause may hide others, as a crash does: if possible, it stays reverted for the next group.
    const out = left === "fail-same" ? known : [];
    const before = book.fixed;
    book.fixed = [...before, ...out];
    const rest = order.filter((id) => !out.includes(id));
    found.push(yield* provenCause(searchOf(input, book, group, rest)));
    book.fixed = before;
    if (book.isSpent) break;
  }
  const cause = together(found);
  const cure = found.flatMap((each) => each.cure ?? []);
  if (!cause.proven || (yield* isCured(book, order, cure))) return cause;
  const because = "without it these tests pass, but others still fail";
  return { ...cause, proven: false, because, cure, isPartial: !book.isSpent };
}

/**
 * Finds several mistakes that change each other's failures, so that none of them alone fails as recorded. If each group
 * has its own hunk that cures it, all of them together are the cause if nothing fails without them, and all groups fail
 * as recorded with only them on the base. `null` if that is not so.
 */
function* causesOfGroups(
  input: ProofInput,
  book: Notebook,
  groups: readonly number[],
  order: readonly number[],
): Experiments<Cause | null> {
  const culprits: number[] = [];
  for (const group of groups) {
    const { cure } = yield* tryLikeliest(searchOf(input, book, group, order));
    if (cure === null) return null;
    if (!culprits.includes(cure)) culprits.push(cure);
  }
  if (culprits.length < 2 || culprits.length > MOST_CULPRITS) return null;
  const isNeeded = function* (id: number): Experiments<boolean> {
    const without = culprits.filter((each) => each !== id);
    const outcomes = yield* ask(book, without, "search");
    return outcomes.length > 0 && groups.some((group) => outcomes[group] !== "pass");
  };
  for (const id of culprits) if (!(yield* isNeeded(id))) return null;
  const alone = order.filter((id) => !culprits.includes(id));
  for (const [without, expected] of [
    [culprits, "pass"],
    [alone, "fail-same"],
  ] as const) {
    const outcomes = yield* ask(book, without, "confirm", 2);
    if (runsOf(book, without).length < 2 || !groups.every((group) => outcomes[group] === expected)) return null;
  }
  const because = "the tests pass only without all of them; together on the base they fail in the same way";
  return { kind: "multi", proven: true, hunks: culprits, because, cure: culprits };
}

const MOST_CULPRITS = 4;

/**
 * Starts the search for a group. Hunks that agree with all runs so far as the only culprit come first. Each run is for
 * all groups, so a later group continues from the runs of the earlier ones.
 */
export function searchOf(input: ProofInput, book: Notebook, group: number, order: readonly number[]): Search {
  const {
    hunks,
    companions,
    functions = NONE,
    parts = NONE,
    renames = [],
    unreached = new Set(),
    inTests = new Set(),
    uses = NONE,
  } = input;
  const own = new Map([...hunks, ...[...parts.values()].flat()].map(({ id, confidence }) => [id, confidence]));
  // Hunks outside the search get no share.
  const all = order.reduce((sum, id) => sum + (own.get(id) ?? 0), 0);
  const shares = new Map([...own].map(([id, share]) => [id, all > 0 ? share / all : share]));
  const agrees = (id: number): boolean =>
    book.seen.every(({ without, outcome: { outcomes } }) => {
      const outcome = outcomes[group];
      return outcome === "pass" ? without.includes(id) : outcome !== "fail-same" || !without.includes(id);
    });
  const likely = new Set(order.filter(agrees));
  return {
    book,
    group,
    order: likely.size === 0 ? order : [...likely, ...order.filter((id) => !likely.has(id))],
    shareOf: (id) =>
      (shares.get(id) ?? 0) * (likely.size === 0 || likely.has(id) || !order.includes(id) ? 1 : UNLIKELY),
    companions,
    functions,
    parts: new Map([...parts].map(([id, own]) => [id, own.map((part) => part.id)])),
    renames,
    unreached,
    inTests,
    uses,
  };
}

const NONE: ReadonlyMap<number, never> = new Map<number, never>();

/** The weight of a hunk that a run contradicts: it may still be one of several culprits. */
const UNLIKELY = 0.05;

/** Whether the whole run passes without the culprits; a test that fails only here shows that one is missing. */
function* isCured(book: Notebook, base: readonly number[], cure: readonly number[]): Experiments<boolean> {
  const runOf = (without: readonly number[]): RunOutcome | undefined => runsOf(book, without)[0]?.outcome;
  const before = runOf(base);
  if (before === undefined || (before.isGreen !== true && before.failed === undefined)) return true;
  yield* ask(book, cure, "confirm");
  const after = runOf(cure);
  if (before.isGreen === true) return after?.isGreen === true;
  // New tests fail on the base because the code is missing there, so the base is not green and every test must be
  // compared.
  return after?.failed === undefined || after.failed.every((test) => before.failed!.includes(test));
}

/** Combines the causes of all groups into one answer. */
function together(found: readonly Cause[]): Cause {
  const hunks = [...new Set(found.flatMap((each) => each.hunks))];
  if (found.length === 1) return found[0]!;
  const named = found.filter((each) => each.hunks.length > 0);
  if (named.length === 0) return found[0]!;
  const proven = named.length === found.length && named.every((each) => each.proven);
  return {
    kind: hunks.length > 1 ? "multi" : named[0]!.kind,
    proven,
    hunks,
    because: proven
      ? hunks.length > 1
        ? "each of them breaks tests by itself"
        : named[0]!.because
      : (named.find((each) => !each.proven)?.because ?? "not every failure could be explained"),
  };
}
