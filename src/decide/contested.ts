import { matchesTest } from "../core/gates/base-failures.ts";
import { type ContestedTest, contestedFinding } from "../core/gates/contested-test.ts";
import { identifyFinding } from "../core/gates/finding-identity.ts";
import { countText } from "../stdx/plain-text.ts";
import type { EscalationReason } from "../core/stories/escalation.ts";
import type { Answer } from "../core/events/event.ts";
import type { Finding } from "../core/gates/finding.ts";
import { GATES, type GateName, type Judgement, gatesThat, roleOfGate, rulesOnTests } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { ENGINE_ROLE, type TreeId } from "../core/events/ids.ts";
import { gateState } from "./charge.ts";
import { gatesOfPhase, isOpen } from "./gate-status.ts";

const RUN_TESTS = gatesThat(({ runsTests }) => runsTests);
const REVIEWERS = GATES.filter(rulesOnTests);

/**
 * Returns the question about contested tests, and the gate that reported them. `null` if no contested test is open, or
 * if a reviewer will still see them. The question comes before the next phase, in which the reports of this phase's
 * gates are no longer kept.
 */
export function contestedQuestion(
  state: StoryState,
  base: string,
): { readonly reason: EscalationReason; readonly gate: GateName } | null {
  if (!state.productReady || state.failing !== null) return null;
  const gate = RUN_TESTS.find((each) => openTests(state, each).length > 0);
  if (gate === undefined || isReviewerToCome(state, base)) return null;
  const open = allOpen(state);
  const cannotFail = unique(open.filter(({ why }) => why === "cannot-fail"));
  const reason = { type: "contested-tests", tests: unique(open) } as const;
  return { gate, reason: cannotFail.length === 0 ? reason : { ...reason, cannotFail } };
}

/**
 * Returns the contested tests of the gate's pass on the current tree, without those that are licensed or that a
 * reviewer accepted.
 */
function openTests(state: StoryState, gate: GateName): readonly ContestedTest[] {
  const contested = contestedBy(state, gate);
  if (contested.length === 0) return [];
  const ruled = new Set(REVIEWERS.flatMap((each) => contestedBy(state, each)).map(({ test }) => test));
  return contested.filter(({ test }) => !ruled.has(test) && !isLicensed(state, test));
}

const allOpen = (state: StoryState): ContestedTest[] => RUN_TESTS.flatMap((gate) => openTests(state, gate));

const unique = (tests: readonly ContestedTest[]): string[] => [...new Set(tests.map(({ test }) => test))];

/** Returns the contested tests of a pass that still holds. */
function contestedBy(state: StoryState, gate: GateName): readonly ContestedTest[] {
  const { last, fresh } = gateState(state, gate);
  return fresh && last?.result === "pass" ? (last.contested ?? []) : [];
}

function isLicensed({ story, licensed = [] }: StoryState, test: string): boolean {
  const patterns = [...(story.tests ?? []), ...licensed.map((each) => each.test)];
  return patterns.some((pattern) => matchesTest(test, pattern));
}

/**
 * Whether a reviewer has yet to rule: its gate in this phase has not passed, or a later phase runs the tests again and
 * has a reviewer. A later phase only sees contested tests that its own runs report.
 */
function isReviewerToCome(state: StoryState, base: string): boolean {
  if (gatesOfPhase(state, state.phase).some((gate) => REVIEWERS.includes(gate) && !isOpen(state, gate, base)))
    return true;
  const phases = state.policy?.phases ?? [];
  const later = phases.slice(phases.findIndex(({ phase }) => phase === state.phase) + 1);
  return later.some(
    ({ gates }) => gates.some((gate) => RUN_TESTS.includes(gate)) && gates.some((gate) => REVIEWERS.includes(gate)),
  );
}

/**
 * Applies a person's permission to change tests. It answers the question about contested tests, and no other question.
 */
export function allowTests(state: StoryState, closed: StoryState, { by, message, tests }: Answer): StoryState {
  const reason = state.escalation?.reason;
  const asked = reason?.type === "contested-tests" ? reason.tests : null;
  const more = (tests ?? asked ?? []).map((test) => ({ test, by, reason: message }));
  if (more.length === 0) return state;
  const licensed = [...(state.licensed ?? []), ...more];
  return asked === null ? { ...state, licensed } : withTestsSeenBy({ ...closed, licensed }, state.tree);
}

/**
 * Returns findings that tell the agent which tests to restore, when the work is sent back for the tests of the
 * question.
 */
export function testsToRestore(state: StoryState, reason: EscalationReason | null): readonly Finding[] {
  if (reason?.type !== "contested-tests") return [];
  const asked = new Set(reason.tests);
  return RUN_TESTS.flatMap((gate) =>
    contestedBy(state, gate)
      .filter(({ test }) => asked.delete(test))
      .map((each) => identifyFinding(contestedFinding(each, gate, "critical"))),
  );
}

/** Returns notes for the acceptance: tests that a person allowed to change, and tests that a reviewer accepted. */
export function contestedNotes(state: StoryState): readonly string[] {
  return [...allowedNotes(state), ...ruledNotes(state)];
}

function allowedNotes(state: StoryState): string[] {
  const { licensed = [] } = state;
  const contested = new Set(RUN_TESTS.flatMap((gate) => contestedBy(state, gate)).map(({ test }) => test));
  return [...new Set(licensed.map(({ by }) => by))].flatMap((by) => {
    const own = [...new Set(licensed.filter((each) => each.by === by).map(({ test }) => test))];
    const changed = [...contested].filter((test) => own.some((pattern) => matchesTest(test, pattern)));
    // A run that knew the license does not report these tests, so it is unknown here whether this tree still changes
    // them.
    const others = own.filter((pattern) => !changed.some((test) => matchesTest(test, pattern)));
    return [
      ...(changed.length === 0
        ? []
        : [`${countText(changed.length, "test")} changed with ${by}'s permission: ${changed.join(", ")}`]),
      ...(others.length === 0 ? [] : [`${by} allowed the work to change ${others.join(", ")}`]),
    ];
  });
}

function ruledNotes(state: StoryState): string[] {
  const shown = new Map<string, ContestedTest>();
  const reviewers = REVIEWERS.filter((gate) => contestedBy(state, gate).length > 0);
  for (const gate of reviewers) for (const each of contestedBy(state, gate)) shown.set(each.test, each);
  const ruled = [...shown.values()].filter(({ test }) => !isLicensed(state, test));
  if (ruled.length === 0) return [];
  const who = reviewers.flatMap((gate) => rolesBehind(state, gate).map((role) => `the ${role}`)).join(" and ");
  const names = ruled.map(({ test }) => test).join(", ");
  return [`${countText(ruled.length, "contested test")}, accepted by ${who}: ${names}`];
}

/**
 * Returns the reviewers of a gate. A gate with stages has one for each; a preset may have no critic. The engine is not
 * a reviewer.
 */
function rolesBehind(state: StoryState, gate: GateName): readonly string[] {
  const reviewers = (state.gates[gate]?.last?.stages ?? []).map(({ reviewer }) => reviewer);
  const named = [...new Set(reviewers)].filter((role) => role !== ENGINE_ROLE);
  return named.length > 0 ? named : [state.policy?.roles[roleOfGate(gate)] ?? roleOfGate(gate)];
}

/**
 * Pins the tests of a tree that a gate passed, beside those of the base. A gate that ran the tests and contests some of
 * them pins nothing, because a reviewer or a person has yet to rule.
 */
export function withTestsSeen(state: StoryState, { gate, tree, contested = [] }: Judgement): StoryState {
  const { pinsTests, runsTests } = GATE_REGISTRY[gate];
  if (!pinsTests || (runsTests && contested.length > 0)) return state;
  return { ...state, seenTree: tree };
}

/**
 * Keeps the tests pinned after the engine itself changed the files: if the earlier tree was pinned, the new tree is.
 */
export function withTestsMoved(before: StoryState, after: StoryState): StoryState {
  const isSeen = before.seenTree !== undefined && before.seenTree === before.tree;
  return isSeen && after.tree !== null ? { ...after, seenTree: after.tree } : withoutTestsSeen(after);
}

/** Removes the pin, because the files are now older ones, or those of another base. */
export function withoutTestsSeen(state: StoryState): StoryState {
  const { seenTree: _gone, ...rest } = state;
  return rest;
}

/** Pins the tests of a tree that a person has seen. */
export const withTestsSeenBy = (state: StoryState, tree: TreeId | null): StoryState =>
  tree === null ? state : { ...state, seenTree: tree };
