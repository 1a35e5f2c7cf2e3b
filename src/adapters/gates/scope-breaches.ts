import type { Finding } from "../../domain/finding.ts";
import { breachOf, type Scope } from "../../domain/scope.ts";
import type { RuleBook } from "./rule-book.ts";

/** Changes beyond what the rework may touch. What was done to existing tests is told by those who read them. */
export function scopeBreaches(
  changed: readonly string[],
  scope: Scope,
  testPaths: readonly string[],
  book: RuleBook,
): Finding[] {
  return changed.flatMap((file) => {
    switch (breachOf(file, scope, testPaths)) {
      case "denied":
        return book.breach("scope-denied", {
          file,
          message: "this file must not change in this rework, and it did",
          suggestedFix: "Put it back as it was.",
        });
      case "frozen":
        return book.breach("tests-frozen", {
          file,
          message: "no test file may change in this rework, and this one did",
          suggestedFix: "Put it back as it was; take it out if it is new.",
        });
      case "outside":
        return book.breach("scope-outside", {
          file,
          message: "this file is outside of what the rework may touch",
          suggestedFix: `Put it back as it was. Allowed: ${scope.allow.slice(0, 10).join(", ")}${scope.allow.length > 10 ? ", …" : ""}.`,
        });
      case null:
        return [];
    }
  });
}
