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
 * The question about contested tests, and the gate that reported them. `null` where none is open, or where a reviewer
 * who will see them has yet to rule. It comes before the next phase, which forgets what this one's gates reported.
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

/** What the gate's pass of the present tree contests, without what is licensed or what a reviewer let through. */
function openTests(state: StoryState, gate: GateName): readonly ContestedTest[] {
  const contested = contestedBy(state, gate);
  if (contested.length === 0) return [];
  const ruled = new Set(REVIEWERS.flatMap((each) => contestedBy(state, each)).map(({ test }) => test));
  return contested.filter(({ test }) => !ruled.has(test) && !isLicensed(state, test));
}

const allOpen = (state: StoryState): ContestedTest[] => RUN_TESTS.flatMap((gate) => openTests(state, gate));

const unique = (tests: readonly ContestedTest[]): string[] => [...new Set(tests.map(({ test }) => test))];

/** Those in a pass that still holds. */
function contestedBy(state: StoryState, gate: GateName): readonly ContestedTest[] {
  const { last, fresh } = gateState(state, gate);
  return fresh && last?.result === "pass" ? (last.contested ?? []) : [];
}

function isLicensed({ story, licensed = [] }: StoryState, test: string): boolean {
  const patterns = [...(story.tests ?? []), ...licensed.map((each) => each.test)];
  return patterns.some((pattern) => matchesTest(test, pattern));
}

/**
 * A reviewer of this phase whose gate is not open. A later phase does not see what this one reported; it counts where it
 * runs the tests again, because then it reports them again.
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

/** A person allows the work to change tests. It answers the question about them, and no other. */
export function allowTests(state: StoryState, closed: StoryState, { by, message, tests }: Answer): StoryState {
  const reason = state.escalation?.reason;
  const asked = reason?.type === "contested-tests" ? reason.tests : null;
  const more = (tests ?? asked ?? []).map((test) => ({ test, by, reason: message }));
  if (more.length === 0) return state;
  const licensed = [...(state.licensed ?? []), ...more];
  return asked === null ? { ...state, licensed } : withTestsSeenBy({ ...closed, licensed }, state.tree);
}

/** What the agent is to restore when the work is sent back for the tests it was asked about. */
export function testsToRestore(state: StoryState, reason: EscalationReason | null): readonly Finding[] {
  if (reason?.type !== "contested-tests") return [];
  const asked = new Set(reason.tests);
  return RUN_TESTS.flatMap((gate) =>
    contestedBy(state, gate)
      .filter(({ test }) => asked.delete(test))
      .map((each) => identifyFinding(contestedFinding(each, gate, "critical"))),
  );
}

/** What acceptance has to say of them: what a person allowed, and what a reviewer let through. */
export function contestedNotes(state: StoryState): readonly string[] {
  return [...allowedNotes(state), ...ruledNotes(state)];
}

function allowedNotes(state: StoryState): string[] {
  const { licensed = [] } = state;
  const contested = new Set(RUN_TESTS.flatMap((gate) => contestedBy(state, gate)).map(({ test }) => test));
  return [...new Set(licensed.map(({ by }) => by))].flatMap((by) => {
    const own = [...new Set(licensed.filter((each) => each.by === by).map(({ test }) => test))];
    const changed = [...contested].filter((test) => own.some((pattern) => matchesTest(test, pattern)));
    // A run that knew the license does not report them: whether this tree still changes them is not known here.
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

/** A gate with stages has a reviewer for each; a preset need not have a critic. What the engine ran is no reviewer. */
function rolesBehind(state: StoryState, gate: GateName): readonly string[] {
  const reviewers = (state.gates[gate]?.last?.stages ?? []).map(({ reviewer }) => reviewer);
  const named = [...new Set(reviewers)].filter((role) => role !== ENGINE_ROLE);
  return named.length > 0 ? named : [state.policy?.roles[roleOfGate(gate)] ?? roleOfGate(gate)];
}

/**
 * The gate passed these files: their tests are pinned from now on, beside those of the base. A run of the tests that
 * contests some of them has left the ruling to a reviewer or a person, so it pins nothing.
 */
export function withTestsSeen(state: StoryState, { gate, tree, contested = [] }: Judgement): StoryState {
  const { pinsTests, runsTests } = GATE_REGISTRY[gate];
  if (!pinsTests || (runsTests && contested.length > 0)) return state;
  return { ...state, seenTree: tree };
}

/** The engine itself moved the files. What was seen and has not changed since is seen as it is now. */
export function withTestsMoved(before: StoryState, after: StoryState): StoryState {
  const isSeen = before.seenTree !== undefined && before.seenTree === before.tree;
  return isSeen && after.tree !== null ? { ...after, seenTree: after.tree } : withoutTestsSeen(after);
}

/** Older files are back, or files of another base: what was seen does not belong to them. */
export function withoutTestsSeen(state: StoryState): StoryState {
  const { seenTree: _gone, ...rest } = state;
  return rest;
}

/** A person has looked at these files. */
export const withTestsSeenBy = (state: StoryState, tree: TreeId | null): StoryState =>
  tree === null ? state : { ...state, seenTree: tree };
