import { issueText } from "../../core/schemas/issue-text.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { assert, isRecord } from "../../stdx/assert.ts";
import { findJsonBlocks } from "../agent/fences.ts";
import type { CiClass, StageResult } from "../../core/gates/gate.ts";
import type { Result } from "../../core/events/error.ts";
import {
  type CiDocument,
  type MutationDocument,
  type ReviewDocument,
  ciEvidenceSchema,
  mutationEvidenceSchema,
  reviewEvidenceSchema,
} from "../../core/schemas/evidence.ts";
import type { Survivor } from "../../core/stories/brief.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import { type Finding, severityFromWord } from "../../core/gates/finding.ts";
import { roleName } from "../../core/events/ids.ts";
import { wordResult } from "../agent/verdict-value.ts";
import { type DataResult, readJson, readShortYaml } from "./data-text.ts";

/** What was read, or every reason why not. */
export type EvidenceReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Reads a document that one of the sources' tools wrote: JSON by itself, JSON among words, or YAML; under a key with
 * the document's own name, if it has one (`CI_RESULT: …`). What it means is then up to the one reader it is given to.
 */
export function readEvidence<D, T>(
  text: string,
  name: string,
  schema: Schema<D>,
  meaning: (document: D) => EvidenceReading<T>,
): EvidenceReading<T> {
  if (text.length > LONGEST) return refusal(`The document is longer than ${LONGEST} characters.`);
  const data = dataOf(plainText(text), name);
  if (!data.ok) return refusal(`The document ${data.problem}.`);
  if (data.cut) return refusal("The document has no end.");
  const { value } = data;
  const named = isRecord(value) && Object.hasOwn(value, name) ? value[name] : value;
  const parsed = schema.safeParse(named);
  if (!parsed.success) return refusal(...parsed.error.issues.slice(0, MOST_PROBLEMS).map(issueText));
  return meaning(parsed.data);
}

/** As much of a schema as is needed here. */
interface Schema<D> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: D }
    | { readonly success: false; readonly error: { readonly issues: readonly Parameters<typeof issueText>[0][] } };
}

export function refusal(...problems: readonly string[]): { ok: false; problems: readonly string[] } {
  return { ok: false, problems };
}

const LONGEST = 8 * 1024 * 1024;
const MOST_PROBLEMS = 20;

function dataOf(text: string, name: string): DataResult {
  const whole = text.trim();
  if (whole.startsWith("{")) return readJson(whole);
  // A name alone on the first line, with the fields below it not indented, is a heading and not a key.
  const isHeading = whole.startsWith(`${name}:\n`) && !/^\S+\n\s/.test(whole);
  const yaml = readShortYaml(isHeading ? whole.slice(name.length + 2) : whole);
  if (yaml.ok && isRecord(yaml.value)) return yaml;
  const block = findJsonBlocks(whole, () => true, 1).at(-1);
  return block === undefined ? yaml : readJson(block.text);
}

/** An outside CI run (S1.27). */
export interface CiEvidence {
  readonly runId: string;
  readonly result: Result;
  /** `null` for a run that did not fail, or that is not classified yet. */
  readonly class: CiClass | null;
  readonly details: string;
  readonly url: string | null;
  readonly durationMs: number | null;
  readonly fixesApplied: readonly string[];
  readonly retryCount: number;
}

export function readCiEvidence(text: string): EvidenceReading<CiEvidence> {
  return readEvidence(text, "CI_RESULT", ciEvidenceSchema, ciEvidence);
}

function ciEvidence(document: CiDocument): EvidenceReading<CiEvidence> {
  const runId = document.run_id ?? document.pipeline_run_id;
  if (runId == null) return refusal("run_id: the run has none");
  const result = STATUSES.get(key(document.status));
  if (result === undefined) return refusal(`status: "${document.status}" is no end of a run`);
  const word = document.failure_type ?? document.failure_classification;
  const failureClass = word == null ? null : classOf(word);
  if (failureClass === undefined) return refusal(`failure_type: "${word}" is no known class of failure`);
  // The same code that failed before and passes now proves nothing about the code.
  const isFlakyPass = result === "pass" && failureClass === "flaky";
  const seconds = document.duration ?? document.duration_seconds;
  return {
    ok: true,
    value: {
      runId: String(runId),
      result: isFlakyPass ? "inconclusive" : result,
      class: result === "pass" && !isFlakyPass ? null : failureClass,
      details: document.failure_details ?? "",
      url: document.url ?? null,
      durationMs: seconds == null ? null : Math.round(seconds * 1000),
      fixesApplied: document.fixes_applied ?? [],
      retryCount: document.retry_count ?? 0,
    },
  };
}

const key = (word: string): string =>
  word
    .trim()
    .toLowerCase()
    .replace(/[\s_/-]+/g, " ");

const STATUSES: ReadonlyMap<string, Result> = new Map<string, Result>([
  ...["success", "succeeded", "passed", "pass"].map((word) => [word, "pass"] as const),
  ...["failure", "failed", "fail"].map((word) => [word, "fail"] as const),
  ...["error", "cancelled", "canceled", "timed out", "timeout"].map((word) => [word, "error"] as const),
]);

function classOf(word: string): CiClass | undefined {
  return CLASSES.find(([, words]) => words.includes(key(word).replace(/ (?:failure|error)$/, "")))?.[0];
}

const CLASSES: readonly (readonly [CiClass, readonly string[]])[] = [
  ["test", ["test", "tests"]],
  ["lint", ["lint", "format", "lint format", "linting", "linting formatting", "formatting"]],
  ["build", ["build", "compile", "compilation"]],
  ["configuration", ["configuration", "config"]],
  ["infrastructure", ["infrastructure", "infra"]],
  ["flaky", ["flaky", "flaky test"]],
];

/** A mutation run (S1.17). A mutant that ran out of time was not killed by a test, so it is counted by itself. */
export interface MutationEvidence {
  readonly story: string | null;
  readonly tool: string | null;
  readonly scope: readonly string[];
  readonly total: number;
  readonly killed: number;
  readonly survived: number;
  readonly timedOut: number;
  /** As the tool wrote it, or worked out: killed of those that were decided. */
  readonly score: string;
  readonly survivors: readonly Survivor[];
}

export function readMutationEvidence(text: string): EvidenceReading<MutationEvidence> {
  return readEvidence(text, "MUTATION_RESULT", mutationEvidenceSchema, mutationEvidence);
}

function mutationEvidence(document: MutationDocument): EvidenceReading<MutationEvidence> {
  const { total_mutants: total, killed, survived, timed_out: timedOut, score } = document.results;
  const { survivors } = document;
  if (killed + survived + timedOut > total) {
    return refusal(
      `results: ${killed} killed, ${survived} survived and ${timedOut} timed out are more than ${total} in all`,
    );
  }
  if (survivors.length > survived)
    return refusal(`survivors: ${survivors.length} are listed, and ${survived} survived`);
  return {
    ok: true,
    value: {
      story: document.slice_id ?? null,
      tool: document.tool ?? null,
      scope: document.scope ?? [],
      total,
      killed,
      survived,
      timedOut,
      score: scoreOf(score, killed, total - timedOut),
      survivors: survivors.map((each) => ({
        file: each.file,
        line: each.line,
        mutation: each.mutation,
        description: each.description ?? each.mutation,
        recommendedTest: each.recommended_test ?? "",
      })),
    },
  };
}

function scoreOf(given: string | number | null | undefined, killed: number, decided: number): string {
  if (typeof given === "string" && given.trim() !== "") return given.trim();
  if (typeof given === "number") return `${given}%`;
  // Rounded down: 999 of 1000 are not all of them.
  return decided === 0 ? "none" : `${Math.floor((killed / decided) * 1000) / 10}%`;
}

/** The review of a slice (S1.9): its stages in their order, and what each of them found. */
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
  return readEvidence(text, "REVIEW_RESULT", reviewEvidenceSchema, reviewEvidence);
}

type StageDocument = Exclude<ReviewDocument["stages"], readonly unknown[]>[string];

function reviewEvidence(document: ReviewDocument): EvidenceReading<ReviewEvidence> {
  const given: readonly (readonly [string, StageDocument])[] = Array.isArray(document.stages)
    ? document.stages.map((stage) => [stage.stage, stage] as const)
    : Object.entries(document.stages);
  if (given.length === 0) return refusal("stages: there is none, so nothing was reviewed");
  const unclear = given.filter(([, { verdict }]) => stageResult(verdict) === null);
  if (unclear.length > 0) {
    return refusal(...unclear.map(([name, { verdict }]) => `stages.${name}: "${verdict}" is neither PASS nor FAIL`));
  }
  const stages = inOrder(given).map(([name, stage]) => resultOf(name, stage));
  const result = stages.find((stage) => stage.result !== "pass")?.result ?? "pass";
  const overall = document.overall == null ? result : stageResult(document.overall);
  if (overall !== result)
    return refusal(`overall: "${document.overall}" does not agree with the stages, which say ${result}`);
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

/** S1.13 reviews in this order; a stage of another name comes after them. */
const ORDER = ["spec_compliance", "code_quality", "domain_integrity"];

function inOrder(stages: readonly (readonly [string, StageDocument])[]): readonly (readonly [string, StageDocument])[] {
  const place = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return stages.toSorted(([a], [b]) => place(a) - place(b));
}

function resultOf(name: string, stage: StageDocument): StageResult {
  const result = stageResult(stage.verdict);
  assert(result !== null, "unclear stages were refused before");
  return { stage: name, result, reviewer: roleName(reviewerOf(name, stage)) };
}

const reviewerOf = (name: string, { led_by: led }: StageDocument): string =>
  led == null || led.length === 0 ? name : led.join(", ");

function findingsOf(name: string, stage: StageDocument): readonly Finding[] {
  return stage.findings.map(({ severity, file, line, description, category }) => {
    const known = severityFromWord(severity);
    assert(known !== undefined, "the schema lets only known severities through");
    return identifyFinding({
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
