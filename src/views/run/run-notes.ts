import { countText, plural } from "../../stdx/plain-text.ts";
import type { Answer, Event, AttemptStarted } from "../../core/events/event.ts";
import type { Escalation } from "../../core/stories/escalation.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { type LineMark, amountText, authorText, durationText, shortLine } from "../text/words.ts";
import { EVERY_FAILURE, failureKinds, baseFailuresOf } from "../../core/gates/base-failures.ts";
import { type Judgement, gatesThat } from "../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";

/** The text of events that need no context. `null`: the line needs more than the event, or there is none. */
export function noteOf(
  event: Event,
  state: StoryState | undefined,
): { readonly mark: LineMark; readonly text: string } | null {
  switch (event.type) {
    case "escalation.raised":
      return { mark: "person", text: needsYou(event.escalation, state) };
    case "person.answered":
      return answerNote(event.answer);
    case "story.failed":
      return {
        mark: "failed",
        text: `${event.how === "set-aside" ? "set aside" : "failed"}: ${shortLine(event.reason, 160)}`,
      };
    case "budget.warned":
      return {
        mark: "trouble",
        text: `has used ${amountText(event.budget, event.used)} of ${amountText(event.budget, event.limit)} (${event.budget})`,
      };
    case "attempt.unclear":
      return { mark: "trouble", text: `attempt ${event.attempt}  unreadable reply; asking again` };
    case "step.failed":
      return { mark: "trouble", text: `${event.step} failed: ${shortLine(event.detail, 400)}` };
    case "work.interrupted":
      if (event.cause === "target-moved")
        return { mark: "note", text: `${shortLine(event.detail, 120)}; delivery is tried again after a pause` };
      return { mark: "note", text: `${shortLine(event.detail, 120)}; it will rerun (not counted)` };
    case "work.resumed":
      return { mark: "note", text: shortLine(event.detail, 160) };
    case "infrastructure.blocked":
      return {
        mark: "trouble",
        text: `the infrastructure is broken: ${shortLine(event.issue, 120)}; nothing new starts`,
      };
    case "remediation.started":
      return { mark: "note", text: `repairing the infrastructure, try ${event.attempt}` };
    case "health.checked":
      return event.healthy
        ? { mark: "note", text: "the infrastructure is healthy again" }
        : {
            mark: "trouble",
            text: `the infrastructure is still broken: ${shortLine(event.remaining.join("; "), 120)}`,
          };
    default:
      return storyNote(event);
  }
}

function storyNote(event: Event): { readonly mark: LineMark; readonly text: string } | null {
  switch (event.type) {
    case "story.held":
      return { mark: "note", text: `paused by ${authorText(event)}: no new step starts` };
    case "story.released":
      return { mark: "note", text: `resumed by ${authorText(event)}` };
    case "answer.undone":
      return { mark: "person", text: `${authorText(event)} takes the last answer back` };
    case "story.flagged":
      return {
        mark: "trouble",
        text: `running ${durationText(event.takenMs)}, usually ${durationText(event.usualMs)}`,
      };
    case "grace.granted":
      return { mark: "note", text: `each round was better than the one before: one more at the ${event.gate} gate` };
    case "tree.restored":
      return { mark: "note", text: "back to the best state so far" };
    case "lint.fixed":
      return { mark: "note", text: `${countText(event.changed.length, "file")} put right by the lint command` };
    case "branch.updated":
      return {
        mark: event.conflicts.length === 0 ? "note" : "trouble",
        text:
          event.conflicts.length === 0
            ? `brought up to its target: ${countText(event.changed.length, "file")}`
            : `brought up to its target, with conflicts in ${shortLine(event.conflicts.join(", "), 120)}`,
      };
    case "finding.disputed":
      return {
        mark: "note",
        text: `${event.by} disputes a finding of ${event.gate}: ${shortLine(event.rationale, 120)}`,
      };
    case "finding.adjudicated":
      return { mark: "note", text: `${event.by} ${event.upheld ? "upheld" : "overturned"} the finding` };
    case "work.delivered":
      return { mark: "note", text: `delivered: ${event.where}` };
    case "delivery.refused":
      return { mark: "trouble", text: `not delivered: ${shortLine(event.detail, 160)}` };
    case "work.adopted":
      if (event.branch !== undefined) return { mark: "note", text: adoptedText(event.branch, event.changed.length) };
      if (event.changed.length === 0) return null;
      return {
        mark: "note",
        text: `added ${event.by}'s changes (${countText(event.changed.length, "file")})`,
      };
    case "run.resumed":
      return { mark: "note", text: `run resumed by ${authorText(event)}` };
    default:
      return null;
  }
}

function adoptedText(branch: string, files: number): string {
  const name = shortLine(branch, 80);
  if (files === 0) return `${name} has no new changes`;
  return `goes on with the work on ${name}: ${countText(files, "file")} changed`;
}

/** Why a person is needed, and the start of the command to type. */
function needsYou(escalation: Escalation, state: StoryState | undefined): string {
  return `needs you: ${shortReason(escalation, state)}   remand answer ${escalation.id} …`;
}

/** The escalation's title without the story's own title, which is printed before it. */
export function shortReason({ title }: Escalation, state: StoryState | undefined): string {
  const subject = state === undefined ? "the whole run: " : `${state.story.title}: `;
  return shortLine(title.startsWith(subject) ? title.slice(subject.length) : title, 120);
}

function answerNote(answer: Answer): { readonly mark: LineMark; readonly text: string } {
  const { verb, message } = answer;
  const by = authorText(answer);
  const reason = message === "" ? "" : `: ${shortLine(message, 120)}`;
  if (verb === "force-complete") return { mark: "accepted", text: `accepted on the word of ${by}${reason}` };
  if (verb === "abandon") return { mark: "failed", text: `abandoned by ${by}${reason}` };
  if (verb === "dismiss") return { mark: "failed", text: `dismissed by ${by}${reason}` };
  if (verb === "defer") return { mark: "note", text: `deferred by ${by} to the next run${reason}` };
  return { mark: "note", text: `${by} says ${verb}${reason}` };
}

/** What fails before the work starts, and how it is treated: a headline, and the names. `null` if nothing fails. */
export function baseWords(state: StoryState): { readonly text: string; readonly names: readonly string[] } | null {
  const base = baseFailuresOf(state);
  const kindOf = failureKinds(base);
  const failing = base.failing ?? [];
  const names = [...new Set([...base.targets, ...failing, ...base.flaky])];
  if (names.length === 0) return null;
  const known = failing.filter((name) => kindOf(name) === "known").length;
  const unrelated = failing.filter((name) => kindOf(name) === "unrelated").length;
  const parts = [
    ...(base.targets.length === 0 ? [] : [targetWords(state, base.targets.length)]),
    ...(known === 0 ? [] : [countText(known, "known failure")]),
    ...(unrelated === 0
      ? []
      : [`${countText(unrelated, "failure")} at the start that ${plural(unrelated, "is", "are")} not a target`]),
    ...(base.flaky.length === 0 ? [] : [`${countText(base.flaky.length, "flaky test")} at the start, quarantined`]),
  ];
  return { text: parts.join("; "), names: showNames(names, (name) => `${kindOf(name)}: ${shortLine(name, 160)}`) };
}

function targetWords({ story }: StoryState, count: number): string {
  const fail = `${countText(count, "test")} ${plural(count, "fails", "fail")} at the start`;
  const must = count === 1 ? "it must pass" : "all must pass";
  return story.target?.includes(EVERY_FAILURE) === true && story.kind === "loop"
    ? `${fail}, ${must}; exclude with --known <glob>`
    : `${fail} and ${plural(count, "is", "are")} the target, ${must}`;
}

/** The target tests that are not known to pass, if the reasons against the work name none of them. */
export function unshownTargets(state: StoryState, judgement: Judgement, reasons: readonly string[]): readonly string[] {
  const { runsTests, refusesByRule } = GATE_REGISTRY[judgement.gate];
  if (!runsTests && !refusesByRule) return [];
  if (RUN_TESTS.some((gate) => state.gates[gate]?.fresh === true && state.gates[gate]?.last?.result === "pass"))
    return [];
  const passing = new Set(judgement.identities?.passing);
  const open = baseFailuresOf(state).targets.filter((name) => !passing.has(name));
  const failing = new Set(judgement.identities?.failing);
  const isNamed = (name: string): boolean => failing.has(name) || reasons.some((reason) => reason.includes(name));
  if (open.length === 0 || open.some(isNamed)) return [];
  const more = open.length === 1 ? "" : `, and ${open.length - 1} more`;
  return [`not shown to pass: ${shortLine(open[0]!, 120)}${more}`];
}

const RUN_TESTS = gatesThat(({ runsTests }) => runsTests);

/** `accepted`, with the notes of the gates. */
export const acceptedText = (notes: readonly string[] = [], how = ""): string =>
  [how === "" ? "accepted" : `accepted: ${how}`, ...notes.map((note) => shortLine(note, 160))].join("; ");

const MOST_NAMES = 10;

function showNames(names: readonly string[], text: (name: string) => string): readonly string[] {
  const more = names.length - MOST_NAMES;
  return [...names.slice(0, MOST_NAMES).map(text), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** The model of an attempt, if one was requested. */
export function modelWords({ model }: AttemptStarted): string {
  return model === undefined ? "" : ` (${shortLine(model, 60)})`;
}

/** What was different about an attempt, and why: another model, another conversation. */
export function unusualWords({ stronger, fresh }: AttemptStarted): string {
  return [
    ...(stronger === undefined ? [] : [`, the stronger model after ${countText(stronger.failures, "failure")}`]),
    ...(fresh === undefined
      ? []
      : [`, a new conversation after ${countText(fresh.failures, "failure")} in the last one`]),
  ].join("");
}
