import type { Brief } from "../../domain/brief.ts";
import type { CiClass } from "../../domain/gate.ts";
import { fileList } from "./evidence.ts";
import { issueLine } from "./findings.ts";
import { closing, evidenceAndBlame, information, opening, passingCriteria } from "./parts.ts";
import { name, section, together, type Pen } from "./pen.ts";
import { issuesFound, requiredFixes } from "./review.ts";

/** S1: the class of the failure comes first, because it decides what is to be done. */
export function ciBrief(brief: Brief, pen: Pen): string {
  return together([
    opening(brief, pen, "## Rework Assignment"),
    section("### CI GATE FAILED", classified(brief, pen)),
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

function classified(brief: Brief, pen: Pen): string {
  if (brief.ci === null) return "Failure classification: unknown";
  return [
    `Failure classification: ${brief.ci.class}`,
    `Failing step: ${name(pen, brief.ci.step)}`,
    `Run: ${name(pen, brief.ci.runId)}`,
  ].join("\n");
}

const WHAT_TO_DO: Readonly<Record<CiClass, string>> = {
  test: "Fix what makes the tests fail, through the full TDD cycle.",
  lint: "Apply the formatter's and the linter's fixes; change no behaviour.",
  build: "Make it build again; change no more than that takes.",
  configuration: "Triage the CI configuration and fix it; leave the product's code alone.",
  infrastructure: "The surroundings failed. Change nothing in the product; say what has to be repaired.",
  flaky: "The same tree passed and failed. Find out what makes it differ, and take that out; a retry is no fix.",
};
