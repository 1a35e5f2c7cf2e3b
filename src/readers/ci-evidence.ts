import type { CiClass } from "../domain/gate.ts";
import type { Result } from "../domain/result.ts";
import { ciEvidenceSchema, type CiDocument } from "../schemas/evidence.ts";
import { readEvidence, refused, type EvidenceReading } from "./evidence-text.ts";

/** S1's outside CI run. */
export interface CiEvidence {
  readonly runId: string;
  readonly result: Result;
  /** `null` for a run that did not fail, or that nobody has classified yet. */
  readonly class: CiClass | null;
  readonly details: string;
  readonly url: string | null;
  readonly durationMs: number | null;
  readonly fixesApplied: readonly string[];
  readonly retryCount: number;
}

export function readCiEvidence(text: string): EvidenceReading<CiEvidence> {
  return readEvidence(text, "CI_RESULT", ciEvidenceSchema, meaning);
}

function meaning(document: CiDocument): EvidenceReading<CiEvidence> {
  const runId = document.run_id ?? document.pipeline_run_id;
  if (runId == null) return refused("run_id: the run has none");
  const result = STATUSES.get(key(document.status));
  if (result === undefined) return refused(`status: "${document.status}" is no end of a run`);
  const word = document.failure_type ?? document.failure_classification;
  const failureClass = word == null ? null : classOf(word);
  if (failureClass === undefined) return refused(`failure_type: "${word}" is no known class of failure`);
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
