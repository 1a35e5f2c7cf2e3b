/* What the words of a failure give away about a hunk: values that were swapped, and names that are gone. */
import type { Failure } from "../../domain/failure.ts";
import type { HunkTokens } from "./edits.ts";

/** The expected value stands in what was taken away, or the actual one in what came instead. */
export function literalIn(
  failures: readonly Failure[],
  tokens: HunkTokens,
): { readonly share: number; readonly best: string | null } {
  if (failures.every(({ expected, actual }) => expected === null && actual === null)) return { share: 0, best: null };
  const removed = new Set(tokens.removed.map(bare));
  const added = new Set(tokens.added.map(bare));
  let best: string | null = null;
  let share = 0;
  for (const { expected, actual } of failures) {
    for (const [text, here, there] of [
      [expected, removed, added],
      [actual, added, removed],
    ] as const) {
      for (const value of (text ?? "").match(/-?\d+(?:\.\d+)?|[A-Za-z_][\w-]{2,}/g) ?? []) {
        const rarity = /^(?:-?\d|true|false|null|undefined|None)$/i.test(value) ? 0.3 : 1;
        if (here.has(value) && !there.has(value) && rarity > share) [share, best] = [rarity, value];
      }
    }
  }
  return { share, best };
}

const bare = (token: string): string => token.replace(/^["'`](.*)["'`]$/, "$1");

/** The failure misses a name that the hunk took away: `x is not defined`, `has no attribute 'x'`, `cannot find x`. */
export function missesName(missing: readonly string[], tokens: HunkTokens): boolean {
  return missing.some((missed) => tokens.removed.includes(missed) !== tokens.added.includes(missed));
}

/** Names that the failures miss. */
export function missingNames(failures: readonly Failure[]): string[] {
  return failures.flatMap((failure) => {
    const name = MISSING.exec(failure.message);
    return (
      name
        ?.slice(1)
        .find((part) => part !== undefined)
        ?.split(".")
        .at(-1) ?? []
    );
  });
}

const MISSING =
  /["'`]?([\w$.]+)["'`]? is not (?:defined|a function|a constructor|iterable|exported)|(?:no attribute|cannot import name|cannot find (?:name|value|function|module|type)|no exported member|not provide an export named|does not exist on type|unresolved import|undefined:|Can't resolve|No module named|reading) (?:named )?["'`]?([\w$./]+)/i;
