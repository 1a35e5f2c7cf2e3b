import type { Blame } from "../../core/blame/blame.ts";
import type { Brief } from "../../core/stories/brief.ts";
import { countedGoingBack } from "../../core/stories/budget.ts";
import { type Finding, normalisedMessage } from "../../core/gates/finding.ts";
import { countText } from "../../stdx/plain-text.ts";
import { dataNotice } from "../untrusted-text.ts";
import { basis, blameSentence, commitOf, percent, place } from "./blame.ts";
import { detailOf, evidenceOf, fileList, issueLine, placeOf } from "./findings.ts";
import {
  EXCEPTION_WORDS,
  TEST_POLICY_WORDS,
  closing,
  conflicts,
  goal,
  information,
  passingCriteria,
  restorePart,
  suggestionsOf,
  worstFirst,
} from "./parts.ts";
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

/** The rework brief of S3.10. If the work is only incomplete, it names what is missing instead of what is broken. */
export function goalBrief(brief: Brief, pen: BriefWriter): string {
  const role = instruction(pen, brief.rolePrompt, pen.limits.roleChars, "the role's prompt");
  const aim = aimOf(brief, pen);
  return joinPieces([
    role,
    role === "" ? "" : "---",
    "## REWORK BRIEF",
    head(brief, pen, aim.short),
    dataNotice(pen.nonce),
    `**Failing evidence:**\n${failing(brief, pen)}`,
    evidenceOf(brief, pen),
    `**Root cause (blame):**\n${rootCause(brief.blame, pen)}`,
    `**Constraint:**\n${constraint(brief, pen)}`,
    `**Suggested fix:**\n${suggestedFix(brief, pen)}`,
    conflicts(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    filesChanged(brief, pen),
    closing(
      brief,
      pen,
      [
        "Understand the failure before you change anything. Trying the same once more is no fix.",
        isUnmet(brief) ? "Build what is missing." : "Fix the cause, not the symptom.",
        "Run the commands that judge it, then report.",
      ],
      [aim.full],
    ),
  ]);
}

/** A goal of one paragraph comes first; of a longer one only the title, and the full text after the reasons. */
function aimOf(brief: Brief, pen: BriefWriter): { readonly short: string; readonly full: BriefPiece } {
  const { goal: body, title } = brief.story;
  const text = goalIn(body);
  const isShort = !text.includes("\n") && text.length <= SHORT_GOAL;
  const full = isShort && text === body.trim() ? "" : goal(brief, pen, "### Story");
  if (!isShort) return { short: line(pen, title), full };
  return { short: instruction(pen, text === "" ? title : text, pen.limits.goalChars, "the goal"), full };
}

/** The text above the first section, without the title: notes and criteria are not part of the goal. */
function goalIn(body: string): string {
  return body
    .trim()
    .replace(/^# [^\n]*\n?/, "")
    .split(/^#{1,6} /m)[0]!
    .trim();
}

const SHORT_GOAL = 300;

function head(brief: Brief, pen: BriefWriter, aim: string): BriefPiece {
  const times = brief.locationAttempt ?? brief.failure;
  const { route } = brief;
  return [
    `**Goal:** ${aim}`,
    `**Iteration:** ${brief.attempt} (${times === 0 ? "sent back by a person" : `rework attempt ${times} for this location`})`,
    `**Task ID:** ${name(pen, brief.story.id)} (${route.phase}, ${name(pen, route.role)}${route.reason === "" ? "" : `: ${line(pen, route.reason)}`})`,
    `**Gate:** ${brief.gate} (${countedGoingBack(brief.failure, brief.failureLimit)})`,
    ...(brief.summary === "" ? [] : [`**Result:** ${line(pen, brief.summary)}`]),
  ].join("\n");
}

/**
 * Lists the failures. Tests that fail at the same line or with the same message are one item, because a table of cases
 * fails as a whole.
 */
function failing(brief: Brief, pen: BriefWriter): BriefPiece {
  let detailed = 0;
  const list = bullets(
    pen,
    failingAlike(worstFirst(brief.required)),
    ([finding, ...others]) => {
      const detail = detailed++ < MOST_DETAILS ? detailOf(finding!, pen) : "";
      return `${testAndError(finding!, pen)}${detail}${alsoFailing(others, pen)}`;
    },
    { what: "failures", most: Math.min(MOST_FAILURES, pen.limits.items) },
  );
  return list === "" ? "- no single failure could be read from the output; it follows" : list;
}

function failingAlike(findings: readonly Finding[]): Finding[][] {
  const groups: Finding[][] = [];
  const known = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { file, line: at, symbol, message } = finding;
    const saying = symbol === undefined ? null : `says ${normalisedMessage(message.slice(symbol.length))}`;
    const place = symbol === undefined || file === undefined || at === undefined ? null : `at ${file}:${at}`;
    const keys = [saying, place].filter((key) => key !== null);
    const same = keys.find((key) => known.has(key));
    const group = same === undefined ? [] : known.get(same)!;
    if (same === undefined) groups.push(group);
    group.push(finding);
    for (const key of keys) if (!known.has(key)) known.set(key, group);
  }
  return groups;
}

function alsoFailing(others: readonly Finding[], pen: BriefWriter): string {
  if (others.length === 0) return "";
  const names = others.slice(0, MOST_NAMES).map(({ symbol = "" }) => `\`${name(pen, symbol)}\``);
  const rest = others.length > names.length ? ", …" : "";
  return `\n  ${countText(others.length, "more test fails", "more tests fail")} like this: ${names.join(", ")}${rest}`;
}

const MOST_FILES = 20;
const MOST_DETAILS = 3;
const MOST_FAILURES = 12;
const MOST_NAMES = 3;

/** The files changed so far; empty if the constraint already lists them. */
function filesChanged({ filesModified, scope }: Brief, pen: BriefWriter): BriefPiece {
  const isSaid = filesModified.every((file) => scope.allow.includes(file));
  return isSaid ? "" : section("### Files Changed so Far", fileList(pen, filesModified, MOST_FILES));
}

/** S3.12: the test by location and name, and below it the error; a failure that is not a test has only the error. */
function testAndError({ category, symbol, message, ...finding }: Finding, pen: BriefWriter): string {
  const place = placeOf(finding, pen);
  if (symbol === undefined || !message.startsWith(`${symbol}: `))
    return `${testOrError(category)}: ${place}${line(pen, message)}`;
  return `Test: ${place.replace(/: $/, " — ")}"${line(pen, symbol)}"\n- Error: ${line(pen, message.slice(symbol.length + 2).replace(/^Error: /, ""))}`;
}

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

/** The scope, in the words of S3.14. No other part of this brief repeats it. */
function constraint(brief: Brief, pen: BriefWriter): BriefPiece {
  const { allow, deny, tests, exceptions, reason } = brief.scope;
  const why = reason === "" ? "" : ` (${line(pen, reason)})`;
  const only =
    allow.length === 0
      ? "- Change no more than the fix needs"
      : bullets(pen, allow, (each, at) => `ONLY modify ${path(pen, each)}${at === 0 ? why : ""}`, { what: "paths" });
  return [
    only,
    bullets(pen, deny, (each) => `DO NOT touch ${path(pen, each)}`, { what: "paths" }),
    restorePart(brief.scope, pen),
    `- ${TEST_RULES[tests]}`,
    allow.length + deny.length === 0 ? "" : `- ${EXCEPTION_WORDS[exceptions]}`,
  ]
    .filter((piece) => piece !== "")
    .join("\n");
}

const TEST_RULES: typeof TEST_POLICY_WORDS = {
  ...TEST_POLICY_WORDS,
  "add-only":
    "DO NOT touch existing test files (they define correct behavior)\n- You may add tests; do not change, delete, skip or loosen any of them.",
  frozen: "DO NOT touch existing test files (they define correct behavior)\n- Tests: none may be added.",
};

function suggestedFix(brief: Brief, pen: BriefWriter): BriefPiece {
  const fixes = suggestionsOf(brief);
  if (fixes.length > 0)
    return bullets(pen, fixes, (fix) => line(pen, fix), {
      what: "fixes",
      most: Math.min(MOST_FAILURES, pen.limits.items),
    });
  if (isUnmet(brief)) return "- Build what is missing.";
  if (brief.blame?.verdict !== "culprit" && brief.blame?.verdict !== "multi")
    return "- None was suggested; start from the evidence.";
  return bullets(pen, brief.blame.suspects.slice(0, MOST_CHANGES), (suspect) => revertLine(suspect, pen), {
    what: "changes",
  });
}

const MOST_CHANGES = 3;

/** The suggestion of S3.16: revert the change, or correct it, at its line. */
function revertLine(
  { file, line: at, change }: NonNullable<Brief["blame"]>["suspects"][number],
  pen: BriefWriter,
): string {
  return `Take back or correct the change at ${path(pen, file)}:${at} (${line(pen, change)})`;
}

const isUnmet = (brief: Brief): boolean => brief.blame?.verdict === "unmet";
