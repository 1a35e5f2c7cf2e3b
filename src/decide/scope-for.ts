import type { Judgement } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import { baseFailuresOf } from "../core/gates/base-failures.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Route, Scope, TestPolicy } from "../core/stories/scope.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { matchesAnyGlob } from "../stdx/glob.ts";

/**
 * What a rework may touch. Tests say what right behaviour is, so by default they may be added to and not
 * changed; the exceptions follow from what failed: survivors of mutation need tests and nothing else, and a test
 * that is itself to blame must be open. A TDD pair may touch what its phases from the failed one on touch (S1.5).
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
      // What was refused was beyond this very scope: a wider one would let it through the second time.
      state.scope ?? scope([], [], "add-only", "put back what was refused; existing tests stay as they were"),
      judgement,
    );
  if (reworkScope === "tests")
    return scope(testPaths, [], "required", "mutants survive for want of a test: add tests, change nothing else");
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
    "a target still fails: the code it needs may be anywhere; existing tests stay as they were",
  );
  // A change that hides a failing target says where the tests are, not where the code is that they need.
  if (findings.some(({ id, category }) => category === "target" && blocking.includes(id)))
    return withRestored(targetScope, judgement);
  const places = suspectFiles(state);
  // The blame says what else the work broke. Fenced in there, the work could never reach its target.
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

/** The files to put back are a part of the task, even where the scope would not let anything else be done to them. */
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

/** A person's own rework is not fenced in: what they ask for may be anywhere. */
export function scopeForPerson(policy: Policy, route: Route): Scope {
  const tests: TestPolicy = route.phase === "implement" ? "open" : "frozen";
  return { allow: [], deny: [], tests, exceptions: policy.scope.exceptions, reason: "a person asked for this rework" };
}

/** Only a blame that names its culprits narrows the scope: a guess about many files would fence out the fix. */
function suspectFiles(state: StoryState): string[] {
  const blame = state.failing?.blame;
  if (!blame || (blame.verdict !== "culprit" && blame.verdict !== "multi")) return [];
  return [...new Set(blame.suspects.map((suspect) => suspect.file))];
}

/**
 * Targets of the story that a judgement does not show to pass: they failed, were skipped, or the check ended before its
 * tests. A gate that says nothing of single tests leaves none open.
 */
export function unmetTargets(state: StoryState, { gate, identities }: Judgement): readonly string[] {
  if (identities === undefined) return [];
  const { failing, passing, ranTests } = identities;
  const levels = Object.values(state.baseRuns?.[gate]?.names ?? {});
  // Where passing tests are not named, one that did not fail in a run of tests counts as passed.
  const isSilent = ranTests.length > 0 && !levels.includes("all");
  return baseFailuresOf(state).targets.filter(
    (target) => failing.includes(target) || !(isSilent || passing.includes(target)),
  );
}
