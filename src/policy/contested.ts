import { matchesTest } from "../domain/base-failures.ts";
import { contestedFinding, type ContestedTest } from "../domain/contested-test.ts";
import { counted } from "../domain/counted.ts";
import type { EscalationReason } from "../domain/escalation.ts";
import type { Answer } from "../domain/event.ts";
import type { Finding } from "../domain/finding.ts";
import type { GateName } from "../domain/gate.ts";
import type { StoryState } from "../domain/story-state.ts";
import { gateState } from "./charge.ts";
import { gatesOfPhase, isOpen } from "./gate-standing.ts";
import { withTestsSeenBy } from "./seen-tests.ts";

const RUN_TESTS: readonly GateName[] = ["checks", "tdd"];
const REVIEWERS: readonly GateName[] = ["review", "audit"];

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
  return { gate, reason: { type: "contested-tests", tests: [...new Set(allOpen(state))] } };
}

/** What the gate's pass of the present tree contests, without what is licensed or what a reviewer let through. */
function openTests(state: StoryState, gate: GateName): readonly ContestedTest[] {
  const contested = contestedBy(state, gate);
  if (contested.length === 0) return [];
  const ruled = new Set(REVIEWERS.flatMap((each) => contestedBy(state, each)).map(({ test }) => test));
  return contested.filter(({ test }) => !ruled.has(test) && !isLicensed(state, test));
}

const allOpen = (state: StoryState): string[] =>
  RUN_TESTS.flatMap((gate) => openTests(state, gate)).map(({ test }) => test);

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
export function allowed(state: StoryState, closed: StoryState, { by, message, tests }: Answer): StoryState {
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
      .map((each) => contestedFinding(each, gate, "critical")),
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
        : [`${counted(changed.length, "test")} changed with ${by}'s permission: ${changed.join(", ")}`]),
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
  const who = reviewers.map((gate) => (gate === "audit" ? "the auditor" : "the critic")).join(" and ");
  const names = ruled.map(({ test }) => test).join(", ");
  return [`${counted(ruled.length, "contested test")}, accepted by ${who}: ${names}`];
}
