import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { routeSchema, scopeExceptionSchema, scopeSchema } from "../schemas/story.ts";
import type { Stored } from "../schemas/scalars.ts";

/** What a rework may touch. The engine compares the diff with it afterwards; the agent's word does not count. */
export type Scope = Stored<typeof scopeSchema>;

/** A change beyond the scope that the agent gave a reason for. */
export type ScopeException = Stored<typeof scopeExceptionSchema>;

/**
 * - `add-only`: new tests may be added; existing ones may not be changed, deleted, skipped or loosened.
 * - `required`: tests are what the rework is about, and nothing else may change.
 * - `open`: the tests themselves are at fault, or this is new work.
 * - `frozen`: no test file may change at all.
 */
export const TEST_POLICIES = ["add-only", "required", "open", "frozen"] as const;
export type TestPolicy = (typeof TEST_POLICIES)[number];

/** How a change of a path goes beyond a scope: it is none of the allowed, it is forbidden, or tests may not change. */
export type ScopeBreach = "outside" | "denied" | "frozen";

/**
 * `null` where the path may change. What was done inside an existing test file is not seen from its path: where tests
 * may be added to, they may be added wherever they belong.
 */
export function breachOf(path: string, scope: Scope, testPaths: readonly string[]): ScopeBreach | null {
  if (isOneOf(path, scope.deny)) return "denied";
  const isTest = matchesAnyGlob(path, testPaths);
  if (isTest && scope.tests === "frozen") return "frozen";
  if ((isTest && scope.tests !== "open") || scope.allow.length === 0 || isOneOf(path, scope.allow)) return null;
  return "outside";
}

/** A name may hold characters that mean something in a pattern. */
const isOneOf = (path: string, patterns: readonly string[]): boolean =>
  patterns.includes(path) || matchesAnyGlob(path, patterns);

/** Which phase and which agent role gets the brief. */
export type Route = Stored<typeof routeSchema>;
