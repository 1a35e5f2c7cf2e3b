import { countText, plural, upperFirst } from "../stdx/plain-text.ts";
import {
  type EscalationKind,
  type EscalationReason,
  causeIn,
  isAllUnfailing,
  listNames,
  reasonText,
  times,
} from "../core/stories/escalation.ts";
import { limitText, spentText } from "../core/stories/budget.ts";
import type { GateName } from "../core/gates/gate.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import { STOP_RULES } from "../core/stories/stop-rules.ts";

/** Returns what a person is asked to do: choose, allow, or do something by hand. */
export function kindOf(reason: EscalationReason): EscalationKind {
  switch (reason.type) {
    case "approval":
    case "target-moves":
    case "contested-tests":
      return "authorisation";
    case "budget":
      return reason.budget.startsWith("failures:") ? "decision" : "authorisation";
    case "agent-missing":
    case "agent-failure":
    case "gate-error":
    case "gate-blocked":
    case "engine-died":
    case "infrastructure":
    case "target-not-failing":
      return "manual";
    default:
      return "decision";
  }
}

export function titleOf(reason: EscalationReason, subject: string, gate: GateName | null): string {
  return `${subject}: ${reasonText(reason, gate)}`;
}

/** Says why the work stopped, and what is known of the cause. Empty phrases are replaced by the counts. */
export function assessmentOf(reason: EscalationReason, gate: GateName | null, known: readonly string[]): string {
  const own = reason.type === "gate-error" && gate === null ? causeIn(reason.detail) : ownAssessment(reason);
  const parts = [isEmptyPhrase(own) ? whatWasCounted(reason, gate) : own, ...known]
    .map((part) => part.trim())
    .filter((part) => part !== "");
  // A gate that could not run repeats its own message; show it once.
  return [...new Set(parts)].join(" · ");
}

/** Returns the part after the cause of an error: how to fix it. */
const hintIn = (detail: string): string => {
  const hint = detail.split(" — ").slice(1).join(" — ");
  return isEmptyPhrase(hint) ? "" : hint;
};

function whatWasCounted(reason: EscalationReason, gate: GateName | null): string {
  if (reason.type === "gate-error" && gate === null) return `a step of the engine broke ${times(reason.errors)}`;
  const about = reason.type === "dispute" ? ` (${reason.finding})` : "";
  return `${reasonText(reason, gate)}${about}${gate === null ? "" : `, at the ${gate} gate`}`;
}

/** Whether a text says no more than "needs a human". Such text tells the reader nothing new. */
export const isEmptyPhrase = (text: string): boolean => !/[\p{L}\p{N}]/u.test(text) || TAUTOLOGY.test(text.trim());

const TAUTOLOGY =
  /^(?:this |it )?(?:story |task |slice |work )?(?:needs?|requires?|escalated? to|waiting for|waits for) (?:a |an )?(?:human|person|manual|operator)(?:'s)?(?: (?:being|review|intervention|attention|decision|input|help))?[\s.!?…]*$/i;

function ownAssessment(reason: EscalationReason): string {
  switch (reason.type) {
    case "budget":
      return reason.budget.startsWith("failures:")
        ? `${countText(reason.used, "attempt")} rejected`
        : spentText(reason.budget, reason.used, reason.limit);
    case "stall":
    case "non-deterministic":
    case "gate-error":
    case "gate-inconclusive":
    case "gate-blocked":
    case "agent-failure":
    case "conflict":
    case "dispute":
      return reason.detail;
    case "scope-too-broad":
      return `the suspects cannot be distinguished: ${reason.files.join(", ")}`;
    case "agent-missing":
      return `no agent answers for the role ${reason.role}, and no fallback is left`;
    case "engine-died":
      return `The engine died ${times(reason.times)} while ${reason.during} ran, without a signal to stop and with no progress in between. What ran there may end its parent process, or use up the memory.`;
    case "incomplete":
      return reason.blocker;
    case "branch-moved":
      return reason.detail;
    case "target-moves":
      return `The target moved ${times(reason.times)} before the work could be delivered; each time the gates had to run again`;
    case "approval":
      return reason.detail ?? `autonomy asks a person before a ${reason.of}`;
    case "failing-base":
      return `these fail at the base: ${listNames(reason.tests)}`;
    case "target-not-failing":
      return `nothing that fails at the base matches ${listNames(reason.targets)}: it passes already, or no test has that name`;
    case "contested-tests":
      return isAllUnfailing(reason)
        ? `these pass with faults planted in the code that they run: ${reason.tests.join(", ")}`
        : `these passed before, and no longer pass in their earlier version: ${reason.tests.join(", ")}`;
    case "infrastructure":
      return reason.issue;
  }
}

/** Says what the person should do, naming the gate, budget or file concerned. */
export function recommendationOf(reason: EscalationReason, gate: GateName | null): string {
  const at = gate === null ? "" : ` ${gate}`;
  switch (reason.type) {
    case "budget":
      return reason.budget.startsWith("failures:")
        ? `Read what ${reason.used === 1 ? "the failed attempt" : `each of the ${reason.used} failed attempts`} tried. If the goal is right, send it back with the missing piece of guidance; if not, change the story.${letThrough(gate)}`
        : `Check what the ${reason.budget} budget has bought so far. Raise the limit of ${limitText(reason.budget, reason.limit)} only if the last attempts made progress.`;
    case "stall":
      return `${STOP_RULES[reason.stall].advice}${gate === null ? "" : ` Start with the last findings of the${at} gate.`}${letThrough(gate)}`;
    case "scope-too-broad":
      return `Say which of ${countText(reason.files.length, "file")} is at fault (${reason.files.join(", ")}), or split the story so that a failure has one cause.`;
    case "non-deterministic":
      return `Run what the${at} gate ran by hand, on the same tree. If the result changes, fix or waive the flaky test; more rework cannot.`;
    case "gate-error":
      return gate === null
        ? hintIn(reason.detail) ||
            `Fix what made the step fail ${times(reason.errors)}: the work itself was not judged.`
        : `Fix the${at} gate, which broke ${times(reason.errors)}: the work itself was not judged.`;
    case "gate-inconclusive":
      return `Fix the${at} gate, which was inconclusive ${times(reason.times)}: the work itself was not judged.`;
    case "gate-blocked":
      return `Fix the infrastructure, which broke ${times(reason.times)}, then re-run the gates.`;
    case "infrastructure":
      return `Fix the infrastructure (${countText(reason.tries, "repair")} failed), then re-run the gates.`;
    case "agent-failure":
      return `Read the log of the agent that ${reason.outcome}. Fix its setup, or give the work to another role.`;
    case "agent-missing":
      return `Install the agent for ${reason.role}, or name a fallback for that role in the config.`;
    case "engine-died":
      return `Look at what ${reason.during} starts: a \`kill\` of its parent, or memory use (\`dmesg | grep -i oom\`). Fix that before ${reason.during} runs again.`;
    case "incomplete":
      return isEmptyPhrase(reason.needed)
        ? `Ask what is missing: the agent named ${reason.category.replaceAll("_", " ")}, and not what it needs.`
        : `Give what is missing: ${reason.needed}`;
    case "conflict":
      return `Decide which reviewer of the${at} gate is right and send the work back with that.`;
    case "dispute":
      return `Read the finding ${reason.finding} and the rebuttal, then uphold the one or waive the other.`;
    case "target-moves":
      return `The target moved ${times(reason.times)}. Wait until it is quiet and retry, or raise limits.targetMoves.`;
    case "branch-moved":
      return `Look at ${reason.commit.slice(0, 12)}. If it belongs to the work, have it verified; if not, drop it.`;
    case "approval":
      return approvalAdvice(reason.of, at);
    case "failing-base":
      return `Say what ${listNames(reason.tests)} ${reason.tests.length === 1 ? "is" : "are"}. To settle it for every story, list it under knownFailures in remand.yaml, or name it as the target of the story that fixes it.`;
    case "target-not-failing":
      return `Correct the target ${listNames(reason.targets)} in the story's file, or take it out, and answer resolve.`;
    case "contested-tests":
      return isAllUnfailing(reason)
        ? `Look for code that keeps ${listNames(reason.tests)} from failing. If the work is right, answer allow; if not, send the work back.`
        : `Compare ${listNames(reason.tests)} with the base. If the story asks for the change, answer allow; if not, send the work back.`;
  }
}

/** Only a person can accept a change that a rule rejects. */
const letThrough = (gate: GateName | null): string =>
  gate !== null && GATE_REGISTRY[gate].refusesByRule ? " If the refused change is right, waive its finding." : "";

function approvalAdvice(of: "rework" | "retry" | "merge", at: string): string {
  if (of === "merge") return "All gates passed. Read the diff and say merge, or send the work back.";
  return `Read why the${at} gate did not pass, then let the ${of} go ahead or stop it.`;
}

/** Asks the question. `top`: the title of the most severe open finding; empty if none is known. */
export function questionOf(reason: EscalationReason, gate: GateName | null, top = ""): string {
  switch (reason.type) {
    case "budget":
      return reason.budget.startsWith("failures:")
        ? failedQuestion(reason.budget.slice("failures:".length), reason.used, top)
        : `Raise the ${limitText(reason.budget, reason.limit)} ${reason.budget.startsWith("run-") ? "budget of the run" : "budget"}?`;
    case "stall":
      return `What should change before the next attempt?`;
    case "scope-too-broad":
      return `Which of these files is at fault?`;
    case "non-deterministic":
      return `Is this failure real?`;
    case "gate-error":
    case "gate-inconclusive":
    case "gate-blocked":
      return gate === null
        ? `Is the cause fixed, so that the step can run again?`
        : `Is the ${gate} gate fixed, so that it can run again?`;
    case "agent-failure":
    case "agent-missing":
      return `Can the agent work now, or which role should take over?`;
    case "engine-died":
      return `Can ${reason.during} run again without ending the engine?`;
    case "incomplete":
      return isEmptyPhrase(reason.needed)
        ? `What does the agent need to go on after ${reason.category.replaceAll("_", " ")}?`
        : `Can you give what the agent needs: ${reason.needed.trim().replace(/[?\s]+$/, "")}?`;
    case "conflict":
      return `Which reviewer is right?`;
    case "dispute":
      return `Does the finding stand?`;
    case "target-moves":
      return reason.merges ? "Try to merge again?" : "Update the branch again?";
    case "branch-moved":
      return `Verify ${reason.commit.slice(0, 12)}, or drop it?`;
    case "approval":
      return reason.of === "merge" ? `Merge this work?` : `Allow the ${reason.of}?`;
    case "failing-base":
      return `${countText(reason.tests.length, "test")} ${reason.tests.length === 1 ? "fails" : "fail"} before any work: known, target of this story, or fix first?`;
    case "target-not-failing":
      return `Which failing test should this story make pass?`;
    case "contested-tests":
      return contestedQuestionText(reason);
    case "infrastructure":
      return `Is the infrastructure healthy, or what should Remand try?`;
  }
}

function failedQuestion(gate: string, used: number, top: string): string {
  const fact = `${upperFirst(gate)} failed ${times(used)}`;
  // A finding may itself be a question.
  const end = top.trimEnd().endsWith("?") ? "?" : ".";
  return `${fact}${top === "" ? "" : `: ${top.replace(/[.!?\s]+$/, "")}`}${end} What should the agent change?`;
}

function contestedQuestionText(reason: Extract<EscalationReason, { type: "contested-tests" }>): string {
  const { tests } = reason;
  const many = tests.length;
  if (isAllUnfailing(reason))
    return `${countText(many, "test")} ${plural(many, "passes", "pass")} even with faults planted in the work: ${listNames(tests)}. Accept the work?`;
  const fact = `${countText(many, "existing test")} no longer ${plural(many, "passes in its", "pass in their")} earlier version`;
  return `${fact}: ${listNames(tests)}. May the work change ${plural(many, "it", "them")}?`;
}
