import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { routeSchema, scopeExceptionSchema, scopeSchema } from "../schemas/story.ts";
import type { Stored } from "../schemas/scalars.ts";

/** What a rework may change. The engine compares the diff with it; the agent's own statement does not count. */
export type Scope = Stored<typeof scopeSchema>;

/** A change outside the scope for which the agent gave a reason. */
export type ScopeException = Stored<typeof scopeExceptionSchema>;

/**
 * What a rework may do with tests.
 *
 * - `add-only`: new tests may be added; existing ones may not be changed, deleted, skipped or loosened.
 * - `required`: the rework is about tests, and nothing else may change.
 * - `open`: the tests themselves are at fault, or this is new work.
 * - `frozen`: no test file may change at all.
 */
export const TEST_POLICIES = ["add-only", "required", "open", "frozen"] as const;
export type TestPolicy = (typeof TEST_POLICIES)[number];

/** How a change of a path breaks a scope: the path is not allowed, it is denied, or tests are frozen. */
export type ScopeBreach = "outside" | "denied" | "frozen";

/**
 * Returns how a change of a path breaks the scope; `null` if the path may change. A path does not show what changed
 * inside a test file: if tests may be added, they may be added in any test file.
 */
export function breachOf(path: string, scope: Scope, testPaths: readonly string[]): ScopeBreach | null {
  if (isOneOf(path, scope.deny)) return "denied";
  const isTest = matchesAnyGlob(path, testPaths);
  if (isTest && scope.tests === "frozen") return "frozen";
  if ((isTest && scope.tests !== "open") || scope.allow.length === 0 || isOneOf(path, scope.allow)) return null;
  return "outside";
}

/** Also compares whole names, because a name may contain characters that mean something in a pattern. */
const isOneOf = (path: string, patterns: readonly string[]): boolean =>
  patterns.includes(path) || matchesAnyGlob(path, patterns);

/** The phase and the role that get the brief. */
export type Route = Stored<typeof routeSchema>;
