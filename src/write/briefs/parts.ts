import type { Brief } from "../../core/stories/brief.ts";
import { countedGoingBack } from "../../core/stories/budget.ts";
import type { TriedAndFailed } from "../../core/stories/escalation.ts";
import { type Finding, worse, statusText } from "../../core/gates/finding.ts";
import type { Scope, TestPolicy } from "../../core/stories/scope.ts";
import { byText } from "../../stdx/sorted-map.ts";
import { dataNotice } from "../untrusted-text.ts";
import { blamePart } from "./blame.ts";
import { evidenceOf, fileList, issueLine, placeOf, accumulatedFeedback } from "./findings.ts";
import {
  type BriefWriter,
  type BriefPiece,
  bullets,
  instruction,
  line,
  name,
  path,
  note,
  restOf,
  section,
  joinPieces,
} from "./brief-writer.ts";
import { howToDispute, howToReport } from "./report.ts";
import { isReviewed } from "../../core/gates/gate.ts";

/*
 * The parts of every brief, whatever its variant: the role and the number of attempts, what failed, what to keep, what
 * may be changed, and who judges. A variant inserts its own parts between `opening` and `closing`.
 */

/**
 * The role's own prompt, the head of the assignment and, before any untrusted text, the notice about untrusted text.
 */
export function opening(brief: Brief, pen: BriefWriter, heading: string): BriefPiece {
  const role = instruction(pen, brief.rolePrompt, pen.limits.roleChars, "the role's prompt");
  return joinPieces([role, role === "" ? "" : "---", heading, standing(brief, pen), dataNotice(pen.nonce)]);
}

/**
 * The parts after the variant's own, in the order in which an agent needs them: first what is wrong with the work, then
 * its goal. A variant that presents goal and scope in its own form leaves them out here.
 */
export function closing(
  brief: Brief,
  pen: BriefWriter,
  steps: readonly string[],
  aims: readonly BriefPiece[] = [goal(brief, pen), scopePart(brief.scope, pen)],
): BriefPiece {
  const own = brief.report === "stop" ? steps.map((step) => step.replace("Signal READY_FOR_REVIEW", "Stop")) : steps;
  return joinPieces([
    brief.variant === "integrity" ? "" : stillOpen(brief, pen),
    accumulatedFeedback(brief, pen),
    earlierAttempts(brief, pen),
    section(
      "### What Reviewers Learned",
      bullets(pen, brief.context, (text) => line(pen, text), { what: "notes" }),
    ),
    section(
      "### Guidance From a Person",
      bullets(pen, brief.guidance, (text) => note(pen, text), { what: "notes" }),
    ),
    ...aims,
    section(
      "### What Will Judge It",
      bullets(pen, brief.judgedBy, (text) => `\`${line(pen, text)}\``, { what: "commands" }),
    ),
    section("### Instructions", own.map((step, index) => `${index + 1}. ${step}`).join("\n")),
    isByReviewers(brief) ? section("### If a Finding Is Wrong", howToDispute()) : "",
    howToReport({ report: brief.report, spellOutFormat: brief.spellOutFormat, storyId: name(pen, brief.story.id) }),
    "Begin rework.",
  ]);
}

/** Whether reviewers rejected the work. Output of a command is not an opinion and cannot be disputed. */
const isByReviewers = ({ gate, required }: Brief): boolean =>
  gate !== "person" && isReviewed(gate) && required.length > 0;

/** Evidence and blame belong together: what was observed, and which change probably caused it. */
export function evidenceAndBlame(brief: Brief, pen: BriefWriter): BriefPiece {
  return joinPieces([
    section("### Failing Evidence", evidenceOf(brief, pen)),
    brief.blame === null ? "" : section("### Blame", blamePart(brief.blame, pen)),
  ]);
}

export function previousWork(brief: Brief, pen: BriefWriter, submittedFor: string): BriefPiece {
  return section(
    "### Your Previous Work",
    `This is what you handed in for ${submittedFor}.`,
    `Files Modified:\n${fileList(pen, brief.filesModified)}`,
  );
}

export function information(brief: Brief, pen: BriefWriter, write: (finding: Finding) => string): BriefPiece {
  if (brief.information.length === 0) return "";
  const findings = worstFirst(brief.information).map((finding) => withShortDetail(finding));
  const list = bullets(pen, findings, write, { what: "findings", most: pen.limits.information });
  return section(
    "### For Information",
    "These do not stand between the work and a pass. Fix one only where it is on your way.",
    list,
  );
}

/** Shortens the detail of a finding that does not block. */
function withShortDetail(finding: Finding): Finding {
  const { detail } = finding;
  return detail === undefined || detail.length <= SHORT_DETAIL
    ? finding
    : { ...finding, detail: `${detail.slice(0, SHORT_DETAIL)}…` };
}

const SHORT_DETAIL = 200;

export function passingCriteria(brief: Brief, pen: BriefWriter, introduction: string): BriefPiece {
  const passing = brief.criteria.filter((criterion) => criterion.status === "verified");
  if (passing.length === 0) return "";
  const list = bullets(pen, passing, (criterion) => line(pen, criterion.criterion), { what: "criteria" });
  return section("### Passing Criteria", `${introduction}\n${list}`);
}

export function conflicts(brief: Brief, pen: BriefWriter): BriefPiece {
  const list = bullets(
    pen,
    brief.conflicts,
    ({ file, line: at, between, says, winner }) => {
      const sides = between.map((who, index) => `${name(pen, who)} says "${line(pen, says[index]!)}"`).join("; ");
      const ruling =
        winner === null ? "A tie: a person decides it, leave it as it is." : `Follow ${name(pen, winner)}.`;
      return `${path(pen, file)}:${at}: ${sides}. ${ruling}`;
    },
    { what: "conflicts" },
  );
  return section("### Reviewers Disagree", list);
}

/** Sorts findings: worst first, then by location, so that the order of arrival does not matter. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  return [...findings].sort(
    (a, b) =>
      worse(a.severity, b.severity) ||
      // A finding with a file tells the agent where to start.
      Number(a.file === undefined) - Number(b.file === undefined) ||
      byText(a.file ?? "", b.file ?? "") ||
      (a.line ?? 0) - (b.line ?? 0) ||
      byText(a.id, b.id),
  );
}

/** The reviewers' own list of fixes, else the suggestions of the findings. */
export function suggestionsOf({ requiredFixes, required }: Brief): readonly string[] {
  if (requiredFixes.length > 0) return requiredFixes;
  return [...new Set(worstFirst(required).flatMap(({ suggestedFix }) => suggestedFix ?? []))];
}

/**
 * The fixes that the reviewers request. Suggestions of findings are printed below each finding and not repeated here.
 */
export function fixesOf(brief: Brief): readonly string[] {
  if (brief.requiredFixes.length > 0 || brief.required.length === 0) return brief.requiredFixes;
  return ["Resolve every issue above."];
}

function standing(brief: Brief, pen: BriefWriter): BriefPiece {
  const { route } = brief;
  const tdd = route.tddPhase === undefined ? "" : ` (resume at ${route.tddPhase.toUpperCase()})`;
  return [
    `Task ID: ${name(pen, brief.story.id)}`,
    `Title: ${line(pen, brief.story.title)}`,
    `Gate: ${brief.gate} (attempt ${brief.attempt}; ${countedGoingBack(brief.failure, brief.failureLimit)})`,
    `Phase: ${route.phase}${tdd}, for ${name(pen, route.role)}${route.reason === "" ? "" : `: ${line(pen, route.reason)}`}`,
    ...(brief.summary === "" ? [] : [`Result: ${line(pen, brief.summary)}`]),
  ].join("\n");
}

export function goal(brief: Brief, pen: BriefWriter, heading = "### Goal"): BriefPiece {
  return section(heading, instruction(pen, brief.story.goal, pen.limits.goalChars, "the goal"));
}

/** The latest attempts are the most useful to know; in each, open findings come first. */
function earlierAttempts(brief: Brief, pen: BriefWriter): BriefPiece {
  const shown = brief.earlier.slice(-pen.limits.earlier);
  const short = { ...pen, limits: { ...pen.limits, itemChars: pen.limits.earlierChars } };
  const lines = shown.map((each) =>
    [
      `- Attempt ${each.attempt}: ${line(short, each.tried)} -> ${line(short, each.failed)}`,
      ...triedLines(each, short),
    ].join("\n"),
  );
  const list = [...restOf(pen, brief.earlier.length - shown.length, "earlier attempts"), ...lines].join("\n");
  if (list === "") return "";
  return section("### Earlier Attempts", "Tried before, and why it was not enough. Do not do the same again.", list);
}

/** What an attempt was rejected for, one line per finding, with its current status. */
export function triedLines(
  { findings = [], findingsLeftOut = 0 }: Pick<TriedAndFailed, "findings" | "findingsLeftOut">,
  pen: BriefWriter,
): string[] {
  const shown = findings.slice(0, pen.limits.earlierFindings);
  const lines = shown.map(
    (finding) =>
      `- ${statusText(finding)}: ${placeOf(finding, pen)}${line(pen, finding.title)} (${name(pen, finding.gate)})`,
  );
  const rest = restOf(pen, findings.length - shown.length + findingsLeftOut, "findings of an earlier attempt");
  return [...lines, ...rest].map((text) => `  ${text}`);
}

/** Blocking findings of gates that did not run this time; empty if there are none. */
export function stillOpen(brief: Brief, pen: BriefWriter): BriefPiece {
  const list = bullets(pen, worstFirst(brief.stillOpen), (finding) => issueLine(finding, pen), { what: "findings" });
  if (list === "") return "";
  return section(
    "### Still Open From Before",
    "Found in an earlier attempt, and not checked again since. Fix these too.",
    list,
  );
}

export function scopePart(scope: Scope, pen: BriefWriter): BriefPiece {
  const allowed =
    scope.allow.length === 0
      ? "You may change any file of the worktree."
      : `You may change only:\n${bullets(pen, scope.allow, (each) => path(pen, each), { what: "paths" })}`;
  const limited = scope.allow.length + scope.deny.length > 0;
  const denied = bullets(pen, scope.deny, (each) => path(pen, each), { what: "paths" });
  return section(
    "### Scope",
    scope.reason === "" ? "" : `Why: ${line(pen, scope.reason)}`,
    allowed,
    denied === "" ? "" : `You may not change:\n${denied}`,
    restorePart(scope, pen),
    TEST_POLICY_WORDS[scope.tests],
    limited ? EXCEPTION_WORDS[scope.exceptions] : "",
  );
}

export function restorePart({ restore = [] }: Scope, pen: BriefWriter): BriefPiece {
  const list = bullets(pen, restore, (each) => path(pen, each), { what: "paths" });
  return list === "" ? "" : `Put these files back as they were before they were refused; that is in scope:\n${list}`;
}

export const TEST_POLICY_WORDS: Readonly<Record<TestPolicy, string>> = {
  "add-only":
    "Tests: you may add new ones. Existing tests say what is right: do not change, delete, skip or loosen any of them.",
  required: "Tests: they are the work. Write tests and change nothing else.",
  open: "Tests: you may change them here. A test must still fail when the behavior it names is missing.",
  frozen: "Tests: no test file may change, and none may be added.",
};

export const EXCEPTION_WORDS: Readonly<Record<Scope["exceptions"], string>> = {
  never: "No exceptions: a change outside this scope is refused.",
  ask: [
    "If a file outside this scope has to change, change no more than that and give the reason in your report, on a line",
    "`Scope exception: <file>: <reason>`. The change is refused until a person allows it.",
  ].join("\n"),
  "with-rationale": [
    "If another file has to change, change no more than that, and report the reason on a line",
    "`Scope exception: <file>: <reason>`. Without it the change is refused.",
  ].join(" "),
};
