import {
  type ReadCommand,
  type ReadFinding,
  type ReadIncomplete,
  type ReadVerification,
  type Reading,
  INCOMPLETE_CATEGORIES,
  type IncompleteCategory,
  RESULT_OF_SIGNAL,
  type ReadingResult,
  SIGNALS,
} from "../../core/stories/reading.ts";
import { severityFromWord, toPriorityScale } from "../../core/gates/finding.ts";
import { isRecord } from "../../stdx/assert.ts";
import {
  type RawFields,
  type ReadingParts,
  findingFromLine,
  lineOf,
  listOf,
  pick,
  recordOf,
  textOf,
  textsOf,
} from "./finding-line.ts";

/** A verdict given as a value: from JSON, YAML, or an agent's structured output. */
export interface VerdictValue {
  readonly result: ReadingResult;
  readonly id: string | null;
  /** Computed on demand: of many verdicts in a text, only one is read completely. */
  parts(): ReadingParts;
  readonly problem: string | null;
}

/** Reads a verdict from a value, also from inside a wrapper; `null` if the value is not a verdict. */
export function readVerdictValue(value: unknown, depth = 0): VerdictValue | null {
  if (!isRecord(value)) return null;
  const spoken = spokenResult(value);
  if (spoken !== null) {
    const id = textOf(pick(value, "id", "story", "storyId", "story_id", "task", "taskId", "task_id", "slice_id"));
    return { result: spoken.result, id, parts: () => partsOf(value, spoken.result), problem: spoken.problem };
  }
  if (depth > 1) return null;
  for (const key of WRAPPERS) {
    const inner = Object.hasOwn(value, key) ? readVerdictValue(value[key], depth + 1) : null;
    if (inner !== null) return inner;
  }
  return null;
}

const WRAPPERS = ["verdict", "review", "audit", "result", "output", "response", "structured_output"];

function partsOf(fields: RawFields, result: ReadingResult): ReadingParts {
  const reasons = textsOf(pick(fields, "reasons", "failReasons", "fail_reasons") ?? []).map((text) =>
    findingFromLine(text),
  );
  return {
    findings: [
      ...findingsOf(pick(fields, "issues", "findings")),
      ...stageFindings(fields),
      ...(result === "pass" ? [] : reasons),
    ],
    requiredFixes: textsOf(
      pick(fields, "requiredFixes", "required_fixes", "requiredChanges", "required_changes") ?? [],
    ),
    passing: textsOf(pick(fields, "passing", "passingCriteria", "passing_criteria") ?? []),
    quality: qualityOf(pick(fields, "quality", "qualityAssessment", "quality_assessment")),
    verification: verificationOf(
      pick(fields, "verification", "verificationResults", "verification_results", "criteria", "conditionResults"),
    ),
    commands: commandsOf(pick(fields, "commands", "commandsExecuted", "commands_executed")),
    environments: textsOf(pick(fields, "environments", "environmentsTested", "environments_tested") ?? []),
    preExisting: textsOf(pick(fields, "preExisting", "preExistingFailures", "pre_existing_failures") ?? []),
    filesReviewed: textsOf(pick(fields, "filesReviewed", "files_reviewed") ?? []),
    filesModified: textsOf(pick(fields, "filesModified", "files_modified") ?? []),
    context: textsOf(pick(fields, "context", "nextHint", "next_hint") ?? []),
    incomplete: incompleteOf(fields, result),
    priority: priorityOf(textOf(pick(fields, "priority"))),
    summary: textOf(pick(fields, "summary", "feedback", "assessment")),
  };
}

/** Reads a priority: one of the three words of S2.16, or a severity. */
export function priorityOf(word: string | null): Reading["priority"] {
  const severity = word === null ? undefined : severityFromWord(word);
  return severity === undefined ? null : toPriorityScale(severity);
}

function stageFindings(fields: RawFields): readonly ReadFinding[] {
  const stages = pick(fields, "stages");
  return (isRecord(stages) ? Object.values(stages) : listOf(stages))
    .filter(isRecord)
    .flatMap((stage) => findingsOf(pick(stage, "findings", "issues")));
}

function findingsOf(value: unknown): readonly ReadFinding[] {
  return listOf(value).flatMap((item) => {
    const text = textOf(item);
    if (text !== null) return [findingFromLine(text)];
    return isRecord(item) ? (findingOf(item) ?? []) : [];
  });
}

function findingOf(fields: RawFields): ReadFinding | null {
  const message = textOf(pick(fields, "description", "message", "issue", "text", "title", "summary", "reason"));
  if (message === null) return null;
  const place = textOf(pick(fields, "location"));
  const placed = place === null ? null : findingFromLine(`${place}: `);
  const severity = textOf(pick(fields, "severity", "level"));
  return {
    severity: severity === null ? null : (severityFromWord(severity) ?? null),
    category: textOf(pick(fields, "category", "type")),
    file: textOf(pick(fields, "file", "path", "filename", "filePath", "file_path")) ?? placed?.file ?? null,
    line: lineOf(pick(fields, "line", "lineNumber", "line_number", "startLine", "start_line")) ?? placed?.line ?? null,
    message,
    suggestedFix: textOf(pick(fields, "suggestedFix", "suggested_fix", "fix", "suggestion", "recommendation")),
    criterion: textOf(pick(fields, "criterion")),
    status: textOf(pick(fields, "status")),
  };
}

function qualityOf(value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) return {};
  return recordOf(Object.entries(value).map(([key, item]) => [key, textOf(item) ?? ""] as const));
}

function verificationOf(value: unknown): readonly ReadVerification[] {
  return listOf(value)
    .filter(isRecord)
    .flatMap((fields) => {
      const criterion = textOf(pick(fields, "criterion", "name", "type", "id", "text"));
      const evidence = textOf(pick(fields, "evidence", "output", "reason", "details")) ?? "";
      const said = textOf(pick(fields, "status", "result", "verdict", "passed", "verified"));
      return criterion === null ? [] : [{ criterion, status: verificationStatus(said), evidence }];
    });
}

export function verificationStatus(word: string | null): ReadVerification["status"] {
  if (/^(?:verified|met|ok|true|confirmed)$/i.test(word ?? "")) return "verified";
  if (/^(?:not (?:verified|met)|unmet|false)$/i.test(word ?? "")) return "failed";
  const result = wordResult(word);
  return result === "pass" ? "verified" : result === "fail" ? "failed" : "unknown";
}

function commandsOf(value: unknown): readonly ReadCommand[] {
  return listOf(value)
    .filter(isRecord)
    .flatMap((fields) => {
      const command = textOf(pick(fields, "command", "check", "name"));
      const exit = textOf(pick(fields, "exitCode", "exit_code"));
      const result = textOf(pick(fields, "result", "status")) ?? (exit === null ? "" : `exit ${exit}`);
      const environment = textOf(pick(fields, "environment", "env"));
      return command === null ? [] : [{ command, environment, result }];
    });
}

function incompleteOf(fields: RawFields, result: ReadingResult): ReadIncomplete | null {
  const given = pick(fields, "incomplete");
  const inner = isRecord(given) ? given : result === "incomplete" ? fields : null;
  if (inner === null) return null;
  const blocker = textOf(pick(inner, "blocker", "reason", "summary")) ?? "";
  return {
    category: incompleteCategory(textOf(pick(inner, "category", "blockerCategory", "blocker_category"))),
    blocker,
    attempted: textsOf(pick(inner, "attempted") ?? []),
    needed: textsOf(pick(inner, "needed") ?? []).join("\n"),
  };
}

export function incompleteCategory(word: string | null): IncompleteCategory | null {
  const key = (word ?? "")
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  return INCOMPLETE_CATEGORIES.find((category) => category === key) ?? null;
}

/**
 * Returns what an object says about the work, by every key that may hold a result. `null`: the object is not a verdict.
 * Keys that contradict each other, and unknown words, make the verdict unknown.
 */
function spokenResult(fields: RawFields): { readonly result: ReadingResult; readonly problem: string | null } | null {
  const said = new Map<ReadingResult, string>();
  for (const [key, result] of sayings(fields)) if (!said.has(result)) said.set(result, key);
  if (said.size === 0) return null;
  const [[result, key]] = [...said] as [[ReadingResult, string]];
  if (said.size > 1) {
    return {
      result: "unknown",
      problem: `The verdict contradicts itself: ${[...said.values()].join(" and ")} disagree.`,
    };
  }
  return {
    result,
    problem: result === "unknown" ? `The verdict's "${key}" is not a word that says pass or fail.` : null,
  };
}

function* sayings(fields: RawFields): Generator<readonly [string, ReadingResult]> {
  for (const key of ["passed", "approved", "converged"]) {
    const value = pick(fields, key);
    if (value === true || value === "true") yield [key, "pass"];
    if (value === false || value === "false") yield [key, "fail"];
  }
  // These two keys are used only for verdicts, so an unknown word still makes the object one.
  for (const key of ["verdict", "decision"]) {
    const word = textOf(pick(fields, key));
    if (word !== null) yield [key, key === "decision" ? decisionOf(word) : (wordResult(word) ?? "unknown")];
  }
  for (const key of ["signal", "result", "overall", "gate_verdict"]) {
    const result = wordResult(textOf(pick(fields, key)));
    if (result !== undefined) yield [key, result];
  }
  // Many objects have a status; only beside issues is it a verdict.
  const result =
    pick(fields, "issues", "findings") === undefined ? undefined : wordResult(textOf(pick(fields, "status")));
  if (result !== undefined) yield ["status", result];
  const stages = stagesResult(pick(fields, "stages"));
  if (stages !== undefined) yield ["stages", stages];
}

/** S4.51: a decision FAILED or RECOVERY means that the reviewer itself broke down, and says nothing about the work. */
function decisionOf(word: string): ReadingResult {
  return /^(?:failed|recovery)$/i.test(word) ? "unknown" : (wordResult(word) ?? "unknown");
}

/** S1.9: a review is only as good as its worst stage. */
function stagesResult(stages: unknown): ReadingResult | undefined {
  const results = (isRecord(stages) ? Object.values(stages) : listOf(stages))
    .filter(isRecord)
    .map((stage) => wordResult(textOf(pick(stage, "verdict", "result"))));
  if (results.length === 0 || results.includes(undefined)) return undefined;
  return results.find((result) => result !== "pass") ?? "pass";
}

function wordResult(word: string | null): ReadingResult | undefined {
  if (word === null || word.length > 40) return undefined;
  return WORDS.get(word.toLowerCase().replace(/[\s_-]+/g, " "));
}

const WORDS: ReadonlyMap<string, ReadingResult> = new Map<string, ReadingResult>([
  ...SIGNALS.map((signal) => [signal.toLowerCase().replaceAll("_", " "), RESULT_OF_SIGNAL[signal]] as const),
  ...["pass", "passed", "approve", "approved", "accept", "accepted", "converged"].map((w) => [w, "pass"] as const),
  ...["fail", "failed", "reject", "rejected", "partial", "not approved", "not passed"].map((w) => [w, "fail"] as const),
  ...["changes required", "changes requested", "request changes", "needs work"].map((w) => [w, "fail"] as const),
  ...["needs revision", "needs rework", "needs changes", "not converged"].map((w) => [w, "fail"] as const),
  ["blocked", "blocked"],
  ["incomplete", "incomplete"],
  ["ready", "ready"],
]);
