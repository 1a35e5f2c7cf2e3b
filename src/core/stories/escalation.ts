import type { GateName } from "../gates/gate.ts";
import type { Identity } from "../events/authority.ts";
import type { Fingerprint, TreeId, StoryId } from "../events/ids.ts";
import type { Event } from "../events/event.ts";
import type { escalationReasonSchema, escalationSchema, triedAndFailedSchema } from "../schemas/escalation.ts";
import type { Stored } from "../schemas/scalars.ts";
import { countText } from "../../stdx/plain-text.ts";
import { byText, lookup, type SortedMap } from "../../stdx/sorted-map.ts";
import { STOP_RULES } from "./stop-rules.ts";
import type { StoryOutline, RunState } from "./run-state.ts";
import type { StoryState } from "./story-state.ts";

/** A question that only a person can answer. */
export type Escalation = Stored<typeof escalationSchema>;

/** An earlier attempt (S1.36): what was tried, and why it failed. */
export type TriedAndFailed = Stored<typeof triedAndFailedSchema>;

export type EscalationOption = Escalation["options"][number];

export const ESCALATION_KINDS = ["decision", "authorisation", "manual"] as const;
export type EscalationKind = (typeof ESCALATION_KINDS)[number];

export type EscalationReason = Stored<typeof escalationReasonSchema>;

/** Whether a person can answer that the work is to be merged, or that they merged it. */
export const asksForMerge = (reason: EscalationReason | null): boolean =>
  (reason?.type === "approval" && reason.of === "merge") || (reason?.type === "target-moves" && reason.merges);

/**
 * `merge`: merge the work. `pull-request`: open one for accepted work that stays on its branch. `resolve`: a person
 * fixed the work, and the gates run again on it; for a merge, the person merged it, which is checked. `drop`: remove
 * commits that no gate has seen from the branch. `send-back`: try once more, with guidance. `retry`, `declare-healthy`
 * and `halt` answer an infrastructure escalation. `known` and `target` classify failures of the base. `allow`: the work
 * may change existing tests. `defer`: the question stays open, and the next run asks it again. `dismiss`: nothing is to
 * be done, and the story ends without having failed.
 */
export const ANSWER_VERBS = [
  "merge",
  "pull-request",
  "resolve",
  "send-back",
  "waive",
  "dispute",
  "drop",
  "raise-budget",
  "force-complete",
  "abandon",
  "retry",
  "declare-healthy",
  "halt",
  "known",
  "target",
  "allow",
  "defer",
  "dismiss",
] as const;
export type AnswerVerb = (typeof ANSWER_VERBS)[number];

/** The answers of people to one question, oldest first, without undone answers. */
export type GivenAnswers = readonly {
  readonly verb: AnswerVerb;
  readonly by: string;
  readonly message: string;
  readonly at: number;
}[];

/** Answers that need a message, unless the question makes an exception. */
const NEEDS_MESSAGE: ReadonlySet<AnswerVerb> = new Set([
  "send-back",
  "waive",
  "dispute",
  "force-complete",
  "abandon",
  "known",
  "allow",
  "defer",
  "dismiss",
]);

/** Whether the work was never done because its agent failed: to send it back is to try again. */
export const asksForRetry = (reason: EscalationReason): boolean =>
  reason.type === "agent-failure" ||
  reason.type === "agent-missing" ||
  (reason.type === "engine-died" && reason.kind === "attempt");

/** Whether this answer needs a message. Not if it only approves work that was due anyway, or retries it. */
export const needsMessage = (verb: AnswerVerb, reason: EscalationReason | null): boolean =>
  NEEDS_MESSAGE.has(verb) &&
  !(verb === "send-back" && reason !== null && (reason.type === "approval" || asksForRetry(reason)));

/** What triage can do with every question about a story, in addition to the question's own answers (S3.32). */
export const TRIAGE_OPTIONS: readonly EscalationOption[] = [
  { verb: "defer", does: "Not now: the next run asks again; until then it is out of the inbox", cost: "nothing" },
  {
    verb: "dismiss",
    does: "Nothing to do: the story ends as dismissed, not as failed; stories that depend on it stay blocked",
    cost: "nothing",
  },
];

/**
 * Says why an answer does not reopen a story that has ended; `null` if it does. Accepted work can be sent back. Work
 * that all gates passed can be merged or proposed, if its policy left it on its branch.
 */
export function reopenRefusal(state: StoryState, verb: AnswerVerb): string | null {
  const { story, ending, policy, tree, delivered } = state;
  const isOpenable = ending?.how === "accepted" && policy !== null && tree !== null;
  if (isOpenable && verb === "send-back") return null;
  if (!isOpenable || (verb !== "merge" && verb !== "pull-request")) return `${story.id} is over: ${ending?.how}`;
  if (delivered !== null) return `${story.id} is delivered already: ${delivered}`;
  if (ending.forced !== null) return `${story.id} was accepted by ${ending.forced.by} without passing all gates`;
  // A loop works in the checkout itself or is one person's experiment: it has no target branch.
  return story.kind === "loop" ? `${story.id} is a loop: merge its branch with git` : null;
}

/** Builds the command for an answer, with placeholders for what a person must add. */
export function answerCommand(id: string, verb: AnswerVerb): string {
  const which = verb === "dispute" ? " --finding …" : verb === "raise-budget" ? " --limit …" : "";
  return `remand answer ${id} ${verb}${which}${NEEDS_MESSAGE.has(verb) ? ' --message "…"' : ""}`;
}

/** A person accepts a finding or a failed gate. The gate lets the work through, but that is never shown as a pass. */
export interface Waiver {
  readonly gate: GateName;
  /** The findings it covers. A new finding at the same gate is not covered. */
  readonly findings: readonly Fingerprint[];
  /** If there was no finding to name (an error, nothing proven), the tree that it covers; else `null`. */
  readonly tree: TreeId | null;
  readonly by: string;
  readonly identity?: Identity;
  readonly reason: string;
  readonly at: number;
}

/** Returns the cause without its hint; empty if the text has no letters or digits. */
export function causeIn(detail: string): string {
  const [cause = ""] = detail.trim().split(/ — |\n/);
  return /[\p{L}\p{N}]/u.test(cause) ? cause : "";
}

/** Describes a reason on one line of a list. */
export function reasonText(reason: EscalationReason, gate: GateName | null): string {
  switch (reason.type) {
    case "budget":
      return reason.budget.startsWith("failures:")
        ? `the ${reason.budget.slice("failures:".length)} gate failed ${times(reason.used)}`
        : `the ${reason.budget} budget is used up`;
    case "stall":
      return STOP_RULES[reason.stall].text;
    case "scope-too-broad":
      return "scope too broad for targeted rework";
    case "non-deterministic":
      return "non-deterministic failure";
    case "gate-error":
      if (gate !== null) return `the ${gate} gate broke ${times(reason.errors)}`;
      return causeIn(reason.detail) || `a step of the engine broke ${times(reason.errors)}`;
    case "gate-inconclusive":
      return `the ${gate} gate was inconclusive ${times(reason.times)}`;
    case "gate-blocked":
      return `the infrastructure broke ${times(reason.times)}`;
    case "agent-failure":
      return reason.outcome === "can't start"
        ? `the agent can't start: ${causeIn(reason.detail)}`
        : `the agent ${reason.outcome} ${times(reason.times)}`;
    case "agent-missing":
      return `there is no agent for ${reason.role}`;
    case "engine-died":
      return `the engine died ${times(reason.times)} while ${reason.during} ran`;
    case "incomplete":
      return `the agent cannot go on: ${reason.category.replaceAll("_", " ")}`;
    case "conflict":
      return "reviewers contradict each other";
    case "dispute":
      return "a finding is disputed";
    case "target-moves":
      return `the target moved ${times(reason.times)} under it`;
    case "branch-moved":
      return "its branch has commits that no gate has passed";
    case "approval":
      return `may it ${reason.of === "merge" ? "be merged" : `have a ${reason.of}`}`;
    case "failing-base":
      return `${countText(reason.tests.length, "test")} ${reason.tests.length === 1 ? "fails" : "fail"} before any work`;
    case "target-not-failing":
      return "its target does not fail";
    case "contested-tests":
      return isAllUnfailing(reason)
        ? `${countText(reason.tests.length, "test")} pass${reason.tests.length === 1 ? "es" : ""} with faults planted in the work: ${listNames(reason.tests)}`
        : `it changed ${countText(reason.tests.length, "test")} that passed before: ${listNames(reason.tests)}`;
    case "infrastructure":
      return `infrastructure is not healthy${reason.tries === 0 ? "" : ` after ${countText(reason.tries, "try", "tries")}`}`;
  }
}

/** Whether the question is only about tests that pass with faults planted in the work. */
export const isAllUnfailing = ({
  tests,
  cannotFail = [],
}: Extract<EscalationReason, { type: "contested-tests" }>): boolean => tests.every((test) => cannotFail.includes(test));

/** Lists the first few names, and how many more there are. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).join(", ");
  return names.length > MOST_LISTED ? `${shown}, and ${names.length - MOST_LISTED} more` : shown;
}

const MOST_LISTED = 10;

export const times = (count: number): string => countText(count, "time");

/** Events that may follow an answer and still let it be undone: none of them touches the work. */
const KEEP_UNDO: ReadonlySet<Event["type"]> = new Set<Event["type"]>([
  "work.sent-back",
  "grace.granted",
  "escalation.raised",
  "budget.warned",
  "story.changed",
  "story.flagged",
  "story.held",
  "story.released",
  "policy.applied",
]);

export const keepsUndo = (event: Event): boolean => KEEP_UNDO.has(event.type);

/** The parts of the run that are needed: which stories depend on which, and which have started. */
type UndoContext = Pick<RunState, "dependents"> & {
  readonly stories: SortedMap<StoryId, Pick<StoryOutline, "policy">>;
};

/** Says why the last answer to a story can no longer be undone; `null` if it can. */
export function undoRefusal(run: UndoContext, { story, undo, ending, running }: StoryState): string | null {
  if (undo === null) return running === null ? "there is no answer left to undo" : "work on it has begun";
  if (ending?.how !== "accepted") return null;
  const begun = (lookup(run.dependents, story.id, byText) ?? []).filter(
    (id) => lookup(run.stories, id, byText)?.policy != null,
  );
  return begun.length === 0 ? null : `work that builds on it has begun: ${begun.join(", ")}`;
}
