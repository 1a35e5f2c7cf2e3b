import type { Finding } from "../../domain/finding.ts";
import type { Scope } from "../../domain/scope.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { RuleBook } from "./rule-book.ts";

/** Changes beyond what the rework may touch. What was done to existing tests is told by those who read them. */
export function scopeBreaches(
  changed: readonly string[],
  scope: Scope,
  testPaths: readonly string[],
  book: RuleBook,
): Finding[] {
  return changed.flatMap((file) => {
    if (isIn(file, scope.deny))
      return book.breach("scope-denied", {
        file,
        message: "this file must not change in this rework, and it did",
        suggestedFix: "Put it back as it was.",
      });
    const isTest = matchesAnyGlob(file, testPaths);
    if (isTest && scope.tests === "frozen")
      return book.breach("tests-frozen", {
        file,
        message: "no test file may change in this rework, and this one did",
        suggestedFix: "Put it back as it was; take it out if it is new.",
      });
    // Tests may be added wherever they belong, unless the scope is about particular ones.
    if ((isTest && scope.tests !== "open") || scope.allow.length === 0 || isIn(file, scope.allow)) return [];
    return book.breach("scope-outside", {
      file,
      message: "this file is outside of what the rework may touch",
      suggestedFix: `Put it back as it was. Allowed: ${scope.allow.slice(0, 10).join(", ")}${scope.allow.length > 10 ? ", …" : ""}.`,
    });
  });
}

/** A name may hold characters that mean something in a pattern. */
const isIn = (file: string, patterns: readonly string[]): boolean =>
  patterns.includes(file) || matchesAnyGlob(file, patterns);
