import type { Brief } from "../../domain/brief.ts";
import { fileList } from "./evidence.ts";
import { issueLine } from "./findings.ts";
import { closing, evidenceAndBlame, information, opening, passingCriteria } from "./parts.ts";
import { bullets, line, name, section, together, type Pen } from "./pen.ts";
import { issuesFound } from "./review.ts";

/** S1: the mutants that no test noticed, with the test that would. The rework adds tests and nothing else. */
export function mutationBrief(brief: Brief, pen: Pen): string {
  return together([
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

function survivors(brief: Brief, pen: Pen): string {
  return bullets(
    pen,
    brief.survivors,
    (survivor) =>
      `${name(pen, survivor.file)}:${survivor.line}: ${line(pen, survivor.mutation)} - ${line(pen, survivor.description)}` +
      `\n  Recommended test: ${line(pen, survivor.recommendedTest)}`,
    { what: "survivors" },
  );
}
