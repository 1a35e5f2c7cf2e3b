import { identified, type Finding } from "../domain/finding.ts";
import type { StageResult } from "../domain/gate.ts";
import { roleName } from "../domain/ids.ts";
import type { Result } from "../domain/result.ts";
import { severityFromWord } from "../domain/severity.ts";
import { reviewEvidenceSchema, type ReviewDocument } from "../schemas/evidence.ts";
import { assert } from "../stdx/assert.ts";
import { readEvidence, refused, type EvidenceReading } from "./evidence-text.ts";
import { wordResult } from "./verdict-words.ts";

/** S1's review of a slice: its stages in their order, and what each of them found. */
export interface ReviewEvidence {
  readonly story: string | null;
  readonly attempt: number | null;
  /** As good as the worst stage. */
  readonly result: Result;
  readonly stages: readonly StageResult[];
  readonly findings: readonly Finding[];
  readonly requiredFixes: readonly string[];
}

export function readReviewEvidence(text: string): EvidenceReading<ReviewEvidence> {
  return readEvidence(text, "REVIEW_RESULT", reviewEvidenceSchema, meaning);
}

type Stage = Exclude<ReviewDocument["stages"], readonly unknown[]>[string];

function meaning(document: ReviewDocument): EvidenceReading<ReviewEvidence> {
  const given: readonly (readonly [string, Stage])[] = Array.isArray(document.stages)
    ? document.stages.map((stage) => [stage.stage, stage] as const)
    : Object.entries(document.stages);
  if (given.length === 0) return refused("stages: there is none, so nothing was reviewed");
  const unclear = given.filter(([, { verdict }]) => stageResult(verdict) === null);
  if (unclear.length > 0) {
    return refused(...unclear.map(([name, { verdict }]) => `stages.${name}: "${verdict}" is neither PASS nor FAIL`));
  }
  const stages = inOrder(given).map(([name, stage]) => resultOf(name, stage));
  const result = stages.find((stage) => stage.result !== "pass")?.result ?? "pass";
  const overall = document.overall == null ? result : stageResult(document.overall);
  if (overall !== result)
    return refused(`overall: "${document.overall}" does not agree with the stages, which say ${result}`);
  return {
    ok: true,
    value: {
      story: document.slice_id ?? null,
      attempt: document.attempt ?? null,
      result,
      stages,
      findings: inOrder(given).flatMap(([name, stage]) => findingsOf(name, stage)),
      requiredFixes: (document.required_changes ?? []).map((each) =>
        typeof each === "string" ? each : each.description,
      ),
    },
  };
}

function stageResult(verdict: string): "pass" | "fail" | null {
  const result = wordResult(verdict);
  return result === "pass" || result === "fail" ? result : null;
}

/** S1 reviews in this order; a stage of another name comes after them. */
const ORDER = ["spec_compliance", "code_quality", "domain_integrity"];

function inOrder(stages: readonly (readonly [string, Stage])[]): readonly (readonly [string, Stage])[] {
  const place = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return stages.toSorted(([a], [b]) => place(a) - place(b));
}

function resultOf(name: string, stage: Stage): StageResult {
  const result = stageResult(stage.verdict);
  assert(result !== null, "unclear stages were refused before");
  return { stage: name, result, reviewer: roleName(reviewerOf(name, stage)) };
}

const reviewerOf = (name: string, { led_by: led }: Stage): string =>
  led == null || led.length === 0 ? name : led.join(", ");

function findingsOf(name: string, stage: Stage): readonly Finding[] {
  return stage.findings.map(({ severity, file, line, description, category }) => {
    const known = severityFromWord(severity);
    assert(known !== undefined, "the schema lets only known severities through");
    return identified({
      severity: known,
      category: category ?? name,
      message: description,
      source: reviewerOf(name, stage),
      stage: name,
      ...(file == null ? {} : { file }),
      ...(line == null ? {} : { line }),
    });
  });
}
