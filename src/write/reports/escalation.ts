import { countText } from "../../stdx/plain-text.ts";
import type { AnswerVerb, Escalation, EscalationReason, TriedAndFailed } from "../../core/stories/escalation.ts";
import { locationText, statusText } from "../../core/gates/tried-finding.ts";
import { unreachable } from "../../stdx/assert.ts";
import { oneLine } from "../untrusted-text.ts";

/**
 * The summary a person reads first: S1's form to the letter, then what it leaves open: why now, the one question,
 * and what each answer does and costs.
 */
export function writeEscalation(
  escalation: Escalation,
  story: { readonly id: string; readonly title: string },
): string {
  const attempts = escalation.attempts.flatMap((each) => [
    `Attempt ${each.attempt}: ${toLine(each.tried).replaceAll("->", "→")} -> ${toLine(each.failed)}`,
    ...findingLines(each),
  ]);
  return [
    headline(escalation, story.id),
    "",
    `Slice: ${toLine(story.title)}`,
    `Gate: ${escalation.gate ?? "none"}`,
    "",
    ...(attempts.length === 0 ? ["No attempt was made."] : attempts),
    "",
    `Current state: ${toLine(escalation.branch)}, ${toLine(escalation.commit)}`,
    `Recommendation: ${recommendation(escalation)}`,
    "",
    ...ourPart(escalation),
    "",
  ].join("\n");
}

/** What the attempt was rejected for, and what became of it. */
function findingLines({ findings = [], findingsLeftOut = 0 }: TriedAndFailed): string[] {
  const lines = findings.map((finding) => {
    const place = finding.file === undefined ? "" : `${toLine(locationText(finding))}: `;
    return `  ${statusText(finding)}: ${place}${toLine(finding.title)} (${toLine(finding.gate)})`;
  });
  return findingsLeftOut === 0 ? lines : [...lines, `  … ${countText(findingsLeftOut, "more finding")}`];
}

/** S1's first line for a gate that failed too often; for every other reason a line of the same shape. */
function headline(escalation: Escalation, storyId: string): string {
  const { reason, gate } = escalation;
  const slice = `ESCALATION: Slice ${toLine(storyId)}`;
  if (reason.type === "budget" && gate !== null && reason.budget === `failures:${gate}`) {
    return `${slice} failed ${gate} gate ${countText(reason.used, "time")}`;
  }
  return `${slice} stopped ${gate === null ? "before any gate" : `at ${gate} gate`}: ${reasonInWords(reason)}`;
}

export function reasonInWords(reason: EscalationReason): string {
  switch (reason.type) {
    case "budget":
      return `budget ${reason.budget} is used up (${reason.used} of ${reason.limit})`;
    case "stall":
      return `${STALL_WORDS[reason.stall]} (${toLine(reason.detail)})`;
    case "scope-too-broad":
      return `scope too broad for targeted rework (${toLine(reason.files.join(", "))})`;
    case "non-deterministic":
      return `non-deterministic failure (${toLine(reason.detail)})`;
    case "gate-error":
      return `the gate itself broke ${countText(reason.errors, "time")} (${toLine(reason.detail)})`;
    case "gate-inconclusive":
      return `the gate proved nothing ${countText(reason.times, "time")} (${toLine(reason.detail)})`;
    case "gate-blocked":
      return `the gate was blocked ${countText(reason.times, "time")} (${toLine(reason.detail)})`;
    case "agent-failure":
      return `the agent ended ${countText(reason.times, "time")} with nothing usable, last: ${toLine(reason.outcome)} (${toLine(reason.detail)})`;
    case "agent-missing":
      return `no agent for the role ${toLine(reason.role)}`;
    case "engine-died":
      return `the engine died ${countText(reason.times, "time")} while ${toLine(reason.during)} ran`;
    case "incomplete":
      return `the agent cannot finish: ${toLine(reason.category)} (${toLine(reason.blocker)}; needed: ${toLine(reason.needed)})`;
    case "conflict":
      return `reviewers contradict each other (${toLine(reason.detail)})`;
    case "dispute":
      return `finding ${toLine(reason.finding)} is disputed (${toLine(reason.detail)})`;
    case "approval":
      return `a person must approve the ${reason.of}${reason.detail === undefined ? "" : ` (${toLine(reason.detail)})`}`;
    case "target-moves":
      return `the target moved ${countText(reason.times, "time")} before the work could be delivered`;
    case "branch-moved":
      return `the branch has commits that no gate has passed (${toLine(reason.detail)})`;
    case "failing-base":
      return `${countText(reason.tests.length, "failure")} at the base (${toLine(reason.tests.join(", "))})`;
    case "target-not-failing":
      return `nothing that fails at the base is its target (${toLine(reason.targets.join(", "))})`;
    case "contested-tests":
      return `the work changed ${countText(reason.tests.length, "test")} that passed at the base (${toLine(reason.tests.join(", "))})`;
    case "infrastructure":
      return `infrastructure is still broken after ${countText(reason.tries, "try", "tries")} (${toLine(reason.issue)})`;
    default:
      return unreachable(reason);
  }
}

/** S3's words, where it has words for it. */
const STALL_WORDS = {
  "same-failure": "the same failure again and again",
  "no-change": "nothing changed",
  oscillation: "back at a tree seen before",
  plateau: "no progress",
  "regression-cascade": "regression cascade",
  "trouble-spot": "persistent trouble spot",
} as const;

function ourPart(escalation: Escalation): string[] {
  const kind = { decision: "a decision", authorisation: "an authorisation", manual: "work by hand" }[escalation.kind];
  const answers = escalation.options.flatMap(({ verb, does, cost }) => [
    `  ${verb}: ${toLine(does)} Costs: ${toLine(cost)}`,
    `    ${answerCommand(escalation.id, verb)}`,
  ]);
  return [
    `Why now: ${reasonInWords(escalation.reason)}`,
    `Needed: ${kind}`,
    `Question: ${toLine(escalation.question)}`,
    ...(answers.length === 0 ? [] : ["", "Answers:", ...answers]),
  ];
}

/** The line to type. A verb that needs a person's words has a place for them. */
function answerCommand(id: string, verb: AnswerVerb): string {
  const finding = verb === "dispute" ? " --finding …" : "";
  const message = NEEDS_MESSAGE.has(verb) ? ' --message "…"' : "";
  return `remand answer ${toLine(id)} ${verb}${finding}${message}`;
}

const NEEDS_MESSAGE: ReadonlySet<AnswerVerb> = new Set([
  "send-back",
  "waive",
  "dispute",
  "force-complete",
  "abandon",
  "known",
  "allow",
]);

/** S1 asks here for the assessment of the root cause; what to do about it follows from that. */
function recommendation(escalation: Escalation): string {
  const parts = [toLine(escalation.assessment), toLine(escalation.recommendation)].filter((part) => part !== "");
  return parts.map((part, index) => (index < parts.length - 1 && !/[.!?…]$/.test(part) ? `${part}.` : part)).join(" ");
}

/** On one line, for a terminal: what agents wrote must not move the cursor or begin a line. */
const toLine = (text: string): string => oneLine(text, null, 600);
