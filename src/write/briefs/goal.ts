import type { Blame } from "../../core/blame/blame.ts";
import type { Brief } from "../../core/stories/brief.ts";
import { countedGoingBack } from "../../core/stories/budget.ts";
import { normalisedMessage } from "../../core/gates/finding.ts";
import { dataNotice } from "../untrusted-text.ts";
import { basis, blameSentence, commitOf, percent, place } from "./blame.ts";
import { detailOf, evidenceOf, fileList, issueLine, placeOf } from "./findings.ts";
import { TEST_POLICY_WORDS, closing, conflicts, fixesOf, information, passingCriteria, worstFirst } from "./parts.ts";
import {
  type BriefWriter,
  type BriefPiece,
  bullets,
  instruction,
  line,
  name,
  path,
  restOf,
  section,
  joinPieces,
} from "./brief-writer.ts";

/** The rework brief of S3.10. Where nothing was broken because nothing was there yet, it says what is missing. */
export function goalBrief(brief: Brief, pen: BriefWriter): string {
  const role = instruction(pen, brief.rolePrompt, pen.limits.roleChars, "the role's prompt");
  return joinPieces([
    role,
    role === "" ? "" : "---",
    "## REWORK BRIEF",
    head(brief, pen),
    dataNotice(pen.nonce),
    `**Failing evidence:**\n${failing(brief, pen)}`,
    evidenceOf(brief, pen),
    `**Root cause (blame):**\n${rootCause(brief.blame, pen)}`,
    `**Constraint:**\n${constraint(brief, pen)}`,
    `**Suggested fix:**\n${suggestedFix(brief, pen)}`,
    conflicts(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed so Far", fileList(pen, brief.filesModified, MOST_FILES)),
    closing(brief, pen, [
      "Understand the failure before you change anything. Trying the same once more is no fix.",
      isUnmet(brief) ? "Build what is missing." : "Fix the cause named above, not its symptom.",
      "Stay inside the constraint, and break nothing that passes.",
      "Run the commands that judge it, then report.",
    ]),
  ]);
}

function head(brief: Brief, pen: BriefWriter): BriefPiece {
  const goal = instruction(
    pen,
    brief.story.goal === "" ? brief.story.title : brief.story.goal,
    pen.limits.goalChars,
    "the goal",
  );
  const times = brief.locationAttempt ?? brief.failure;
  return [
    `**Goal:** ${goal}`,
    `**Iteration:** ${brief.attempt} (${times === 0 ? "sent back by a person" : `rework attempt ${times} for this location`})`,
    `**Task ID:** ${name(pen, brief.story.id)}`,
    `**Gate:** ${brief.gate} (${countedGoingBack(brief.failure, brief.failureLimit)})`,
    `**Route:** ${brief.route.phase}, ${name(pen, brief.route.role)}${brief.route.reason === "" ? "" : ` - ${line(pen, brief.route.reason)}`}`,
    ...(brief.summary === "" ? [] : [`**Result:** ${line(pen, brief.summary)}`]),
  ].join("\n");
}

function failing(brief: Brief, pen: BriefWriter): BriefPiece {
  const told = new Set<string>();
  const list = bullets(
    pen,
    worstFirst(brief.required),
    (finding) => {
      // One cause makes many tests fail in the same way: the first ones say how, the others that they do.
      const saying = normalisedMessage(finding.message.slice(finding.symbol?.length ?? 0));
      const detail = told.size < MOST_DETAILS && !told.has(saying) ? detailOf(finding, pen) : "";
      told.add(saying);
      return `${testOrError(finding.category)}: ${placeOf(finding, pen)}${line(pen, finding.message)}${detail}`;
    },
    { what: "failures", most: Math.min(MOST_FAILURES, pen.limits.items) },
  );
  return list === "" ? "- no single failure could be read out of the output; it follows" : list;
}

const MOST_FILES = 20;
const MOST_DETAILS = 3;
const MOST_FAILURES = 12;

const testOrError = (category: string): string => (/test/i.test(category) ? "Test" : "Error");

function rootCause(blame: Blame | null, pen: BriefWriter): BriefPiece {
  if (blame === null) return "- Not looked for.";
  const sure = `- Confidence: ${percent(blame.confidence)}, ${basis(blame)}`;
  const explanation =
    blame.explanation === ""
      ? []
      : [`- ${blame.verdict === "unmet" ? "What is missing" : "Why"}: ${line(pen, blame.explanation)}`];
  if (blame.verdict === "unmet") return [`- ${blameSentence(blame)}`, ...explanation, sure].join("\n");
  const shown = blame.suspects.slice(0, pen.limits.suspects);
  const suspects = shown.map((suspect) =>
    [
      `- File: ${place(suspect, pen)}${suspect.symbol === undefined ? "" : ` (\`${name(pen, suspect.symbol)}\`)`}`,
      `- Change: ${line(pen, suspect.change)}`,
      `- Commit: ${commitOf(suspect, pen)}`,
      ...suspect.reasons.slice(0, 3).map((reason) => `- Reason: ${line(pen, reason)}`),
      ...(shown.length > 1 ? [`- Share: ${percent(suspect.confidence)}`] : []),
    ].join("\n"),
  );
  const rest = restOf(pen, blame.suspects.length - shown.length, "suspects");
  return [`- ${blameSentence(blame)}`, ...explanation, sure, ...suspects, ...rest].join("\n");
}

function constraint(brief: Brief, pen: BriefWriter): BriefPiece {
  const { allow, deny, tests } = brief.scope;
  const only =
    allow.length === 0
      ? ["- Change no more than the fix needs"]
      : [bullets(pen, allow, (each) => `ONLY modify ${path(pen, each)}`, { what: "paths" })];
  const never =
    deny.length === 0 ? [] : [bullets(pen, deny, (each) => `DO NOT touch ${path(pen, each)}`, { what: "paths" })];
  const testFiles =
    tests === "add-only" || tests === "frozen"
      ? ["- DO NOT touch existing test files (they define correct behavior)"]
      : [];
  return [...only, ...never, ...testFiles, `- ${TEST_POLICY_WORDS[tests]}`].join("\n");
}

function suggestedFix(brief: Brief, pen: BriefWriter): BriefPiece {
  const isSuggested = brief.requiredFixes.length > 0 || brief.required.some((finding) => finding.suggestedFix);
  const isKnown = brief.blame?.verdict === "culprit" || brief.blame?.verdict === "multi";
  // To resolve what failed goes without saying; where the cause is known it says more.
  if (isKnown && !isSuggested)
    return "- Start from the root cause above: fix that change, or revert the part of it that is wrong.";
  const fixes = bullets(pen, fixesOf(brief), (fix) => line(pen, fix), {
    what: "fixes",
    most: Math.min(MOST_FAILURES, pen.limits.items),
  });
  if (fixes !== "") return fixes;
  return isUnmet(brief) ? "- Build what is missing." : "- None was suggested; start from the evidence.";
}

const isUnmet = (brief: Brief): boolean => brief.blame?.verdict === "unmet";
