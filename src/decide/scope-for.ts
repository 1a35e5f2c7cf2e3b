import type { Judgement } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import { baseFailuresOf } from "../core/gates/base-failures.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Route, Scope, TestPolicy } from "../core/stories/scope.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { matchesAnyGlob } from "../stdx/glob.ts";

/**
 * Decides what a rework may change. Tests define correct behavior, so by default they may be added and not changed. The
 * failure decides the exceptions: surviving planted faults need tests and nothing else, and a test that is to blame
 * must be open to change. A TDD pair may change what its phases from the failed one on may change (S1.5).
 */
export function scopeFor(state: StoryState, policy: Policy, judgement: Judgement, route: Route): Scope {
  const { exceptions, testPaths, typePaths } = policy.scope;
  const scope = (allow: readonly string[], deny: readonly string[], tests: TestPolicy, reason: string): Scope => ({
    allow,
    deny,
    tests,
    exceptions,
    reason,
  });
  if (route.phase !== "implement")
    return scope([], [], "frozen", `the product of ${route.phase} is text: no code changes`);
  const { reworkScope } = GATE_REGISTRY[judgement.gate];
  if (reworkScope === "restore")
    return withRestored(
      // The rejected change was outside this scope: a wider scope would accept it in the next attempt.
      state.scope ?? scope([], [], "add-only", "restore the rejected files; do not change existing tests"),
      judgement,
    );
  if (reworkScope === "tests")
    return scope(testPaths, [], "required", "no test notices these mutants: add tests, change nothing else");
  if (route.tddPhase === "red")
    return scope([], [], "open", "the test itself is at fault: it is corrected first, then the code that it shows");
  if (route.tddPhase === "domain")
    return scope(
      [],
      [],
      "add-only",
      `the types are at fault (${typePaths.join(", ")}): they change first, then the code that uses them`,
    );
  const { findings, blocking } = judgement;
  const targetScope = scope(
    [],
    [],
    "add-only",
    "a target still fails: the code it needs may be anywhere; do not change existing tests",
  );
  // The finding of a target shows where the tests are, not where the code is that they need.
  if (findings.some(({ id, category }) => category === "target" && blocking.includes(id)))
    return withRestored(targetScope, judgement);
  const places = suspectFiles(state);
  // Blame shows what else the work broke. A scope of only those files could never reach the target.
  if (places.length > 0 && unmetTargets(state, judgement).length > 0)
    return withFiles(
      targetScope,
      places.filter((file) => matchesAnyGlob(file, testPaths)),
    );
  if (places.length === 0) return scope([], [], "add-only", "fix what failed; existing tests stay as they are");
  if (places.some((file) => matchesAnyGlob(file, testPaths)))
    return scope(places, [], "open", "the failing test is what the blame names: it may change");
  return scope(places, [], "add-only", "the cause is known: only these files need to change");
}

/** Adds the files to restore, even if the scope allows no other change of them. */
function withRestored({ restore: _before, ...scope }: Scope, { findings, blocking }: Judgement): Scope {
  const refused = findings.filter(({ id, file }) => file !== undefined && blocking.includes(id));
  return withFiles(
    scope,
    refused.map(({ file }) => file!),
  );
}

function withFiles(scope: Scope, files: readonly string[]): Scope {
  return files.length === 0 ? scope : { ...scope, restore: [...new Set(files)].sort() };
}

/** A person's rework has no limits on files: what the person asks for may be anywhere. */
export function scopeForPerson(policy: Policy, route: Route): Scope {
  const tests: TestPolicy = route.phase === "implement" ? "open" : "frozen";
  return { allow: [], deny: [], tests, exceptions: policy.scope.exceptions, reason: "a person asked for this rework" };
}

/** Only a blame with culprits narrows the scope: a guess about many files could exclude the fix. */
function suspectFiles(state: StoryState): string[] {
  const blame = state.failing?.blame;
  if (!blame || (blame.verdict !== "culprit" && blame.verdict !== "multi")) return [];
  return [...new Set(blame.suspects.map((suspect) => suspect.file))];
}

/**
 * Returns the story's targets that a judgement does not show to pass: they failed, were skipped, or the check ended
 * before them. A gate that reports nothing about single tests leaves no target open.
 */
export function unmetTargets(state: StoryState, { gate, identities }: Judgement): readonly string[] {
  if (identities === undefined) return [];
  const { failing, passing, ranTests } = identities;
  const levels = Object.values(state.baseRuns?.[gate]?.names ?? {});
  // If passing tests are not named, a target that did not fail in a run of tests counts as passed.
  const isSilent = ranTests.length > 0 && !levels.includes("all");
  return baseFailuresOf(state).targets.filter(
    (target) => failing.includes(target) || !(isSilent || passing.includes(target)),
  );
}
