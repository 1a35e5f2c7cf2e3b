import type { Brief } from "../../core/stories/brief.ts";
import type { CiClass } from "../../core/gates/gate.ts";
import { TDD_PHASES, type TddPhase } from "../../core/stories/story.ts";
import { fileList, issueLine } from "./findings.ts";
import {
  closing,
  conflicts,
  evidenceAndBlame,
  information,
  opening,
  passingCriteria,
  previousWork,
  stillOpen,
  worstFirst,
} from "./parts.ts";
import { type BriefWriter, bullets, line, name, path, section, joinPieces } from "./brief-writer.ts";
import { issuesFound, requiredFixes } from "./review.ts";

/** S0.19: the brief for criteria that the auditor found unmet. */
export function auditBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
    opening(brief, pen, "## Rework Assignment"),
    section(
      "### AUDIT_FAILED",
      "The Auditor has held your work against each acceptance criterion, and some are not met.",
    ),
    failedCriteria(brief, pen),
    issuesFound(brief, pen),
    requiredFixes(brief, pen),
    passingCriteria(brief, pen, "These criteria were verified, and must stay so:"),
    conflicts(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    previousWork(brief, pen, "audit"),
    closing(brief, pen, [
      "Go through the failed criteria carefully.",
      "Understand WHY each criterion failed before you change anything.",
      "Fix ALL the issues listed above.",
      "Re-run the verification commands in ALL environments.",
      "Signal READY_FOR_REVIEW when all criteria are met. The Critic reviews the code again before the next audit.",
    ]),
  ]);
}

function failedCriteria(brief: Brief, pen: BriefWriter): string {
  const failed = brief.criteria.filter((criterion) => criterion.status !== "verified");
  const list = bullets(
    pen,
    failed,
    ({ criterion, status, evidence }) =>
      `${line(pen, criterion)}: ${status === "failed" ? "FAILED" : "NOT VERIFIED"} - ${line(pen, evidence)}`,
    { what: "criteria" },
  );
  return section("### Failed Criteria", list === "" ? "- none was named; see the issues" : list);
}

/** S1.27: the class of the failure comes first, because it determines what to do. */
export function ciBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
    opening(brief, pen, "## Rework Assignment"),
    section("### CI GATE FAILED", classification(brief, pen)),
    evidenceAndBlame(brief, pen),
    brief.required.length === 0 ? "" : issuesFound(brief, pen),
    requiredFixes(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed in This Slice", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      "Read the output of the failing step before you change anything.",
      brief.ci === null ? "Find out what kind of failure it is." : WHAT_TO_DO[brief.ci.class],
      "Run the failing step's command here, where it can be run.",
      "Signal READY_FOR_REVIEW when it passes. The CI run is judged again.",
    ]),
  ]);
}

function classification(brief: Brief, pen: BriefWriter): string {
  if (brief.ci === null) return "Failure classification: unknown";
  return [
    `Failure classification: ${brief.ci.class}`,
    `Failing step: ${name(pen, brief.ci.step)}`,
    `Run: ${name(pen, brief.ci.runId)}`,
  ].join("\n");
}

const WHAT_TO_DO: Readonly<Record<CiClass, string>> = {
  test: "Fix what makes the tests fail, through the full TDD cycle.",
  lint: "Apply the formatter's and the linter's fixes; change no behavior.",
  build: "Make it build again; change no more than that takes.",
  configuration: "Triage the CI configuration and fix it; leave the product's code alone.",
  infrastructure: "The infrastructure failed. Change nothing in the product; say what has to be repaired.",
  flaky: "The same tree passed and failed. Find out what makes it differ, and take that out; a retry is no fix.",
};

/** The brief for a rejected diff: out of scope, tests weakened, nothing changed, leftovers. */
export function integrityBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
    opening(brief, pen, "## Rework Assignment"),
    section("### INTEGRITY CHECK FAILED", "The diff of your attempt was read before anything else, and refused."),
    issuesFound(brief, pen),
    requiredFixes(brief, pen),
    stillOpen(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed in This Attempt", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      "Take back every change that is refused above, and only those.",
      ...(brief.stillOpen.length === 0 ? [] : ["Then fix what is still open from before: nothing above replaces it."]),
      "If you believe that nothing has to change, do not say so in words alone: show it with the commands that judge it.",
      "Restore tests that were deleted, skipped or loosened.",
      "Signal READY_FOR_REVIEW when the diff holds only what the scope allows.",
    ]),
  ]);
}

/** The brief for a branch that cannot be merged with its base as it is. */
export function mergeBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
    opening(brief, pen, "## Rework Assignment"),
    section(
      "### MERGE CHECK FAILED",
      "The work passed, and does not go onto the present base: the base has moved, or both changed the same place.",
    ),
    issuesFound(brief, pen),
    requiredFixes(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed on This Branch", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      "Bring the branch up to its base, and resolve each conflict so that both sides' purpose is kept.",
      "Change nothing that the conflict does not need.",
      "Re-run the verification commands on the result.",
      "Signal READY_FOR_REVIEW. CI and the merge check are judged again.",
    ]),
  ]);
}

/** S1.17: the mutants that no test noticed, each with a test that would notice it. The rework only adds tests. */
export function mutationBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
    opening(brief, pen, "## Rework Assignment"),
    section("### MUTATION GATE FAILED", `Current mutation score: ${line(pen, brief.mutationScore) || "unknown"}`),
    section("### Surviving Mutants", survivors(brief, pen)),
    brief.required.length === 0 ? "" : issuesFound(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed in This Slice", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      "Write the missing test for each survivor. See it fail on the mutant (RED), then pass on the code as it is (GREEN).",
      "Change tests only. Production code stays as it is.",
      "Re-run the verification commands: the new tests must kill all survivors and let no new one live.",
      "Signal READY_FOR_REVIEW. Mutation testing runs again over the same files.",
    ]),
  ]);
}

function survivors(brief: Brief, pen: BriefWriter): string {
  return bullets(
    pen,
    brief.survivors,
    (survivor) =>
      `${path(pen, survivor.file)}:${survivor.line}: ${line(pen, survivor.mutation)} - ${line(pen, survivor.description)}` +
      `\n  Recommended test: ${line(pen, survivor.recommendedTest)}`,
    { what: "survivors" },
  );
}

/** S1.4: the TDD pair resumes at the phase that failed, with the failing output and the domain concerns. */
export function tddBrief(brief: Brief, pen: BriefWriter): string {
  const phase = brief.route.tddPhase;
  return joinPieces([
    opening(brief, pen, "## Rework Assignment"),
    section(
      "### TDD GATE FAILED",
      phase === undefined ? "It is not known which phase failed: find that out first." : FAILED_PHASE[phase],
    ),
    section("### Failing Tests", list(brief, pen, false)),
    section("### Domain Review Concerns", list(brief, pen, true)),
    evidenceAndBlame(brief, pen),
    requiredFixes(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed in This Slice", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      `Resume at ${phase === undefined ? "the phase that failed" : phase.toUpperCase()}, and complete the cycle through COMMIT, one phase after the other.`,
      "Read the failing output and find out why it fails before you change anything.",
      ...TDD_PHASES.slice(phase === undefined ? 0 : TDD_PHASES.indexOf(phase)).map((each) => PHASE_STEP[each]),
      "Signal READY_FOR_REVIEW when the acceptance test and all unit tests pass. The gate runs again on fresh evidence.",
    ]),
  ]);
}

const FAILED_PHASE: Readonly<Record<TddPhase, string>> = {
  red: "Phase that failed: RED. The test was wrong: it is missing, failed for the wrong reason, or passed before there was code.",
  domain: "Phase that failed: DOMAIN. The domain review raised a veto that is not resolved.",
  green: "Phase that failed: GREEN. The implementation was wrong: tests fail with it in place.",
  commit: "Phase that failed: COMMIT. The work is not committed in a state that passes.",
};

/** What each phase of the cycle does, and which files it may change. */
const PHASE_STEP: Readonly<Record<TddPhase, string>> = {
  red: "RED: correct the test, or write the missing one, and see it fail on the code as it was before this work. Touch tests only.",
  domain: "DOMAIN: hold the types against what the test asks for, and resolve every concern in them. Touch types only.",
  green: "GREEN: make the failing tests pass, with no more code than that takes. Touch production code only.",
  commit: "COMMIT: run all tests. Leave the work in the worktree: it is committed for you.",
};

/** The domain reviewer's concerns, or the failing tests; the category or stage tells them apart. */
function list(brief: Brief, pen: BriefWriter, domain: boolean): string {
  const chosen = brief.required.filter(
    (finding) => domain === /domain/i.test(`${finding.category} ${finding.stage ?? ""}`),
  );
  return bullets(pen, worstFirst(chosen), (finding) => issueLine(finding, pen), {
    what: domain ? "concerns" : "failures",
  });
}
