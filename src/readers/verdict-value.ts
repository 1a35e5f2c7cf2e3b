import type { ReadCommand, ReadFinding, ReadIncomplete, ReadVerification, Reading } from "../domain/reading.ts";
import { severityFromWord, toPriorityScale } from "../domain/severity.ts";
import { INCOMPLETE_CATEGORIES, type IncompleteCategory, type ReadingResult } from "../domain/signal.ts";
import { isRecord } from "../stdx/is-record.ts";
import { lineOf, listOf, pick, recordOf, textOf, textsOf, type Fields } from "./data-fields.ts";
import { findingFromLine } from "./finding-line.ts";
import type { ReadingParts } from "./reading-parts.ts";
import { spokenResult, wordResult } from "./verdict-words.ts";

/** A verdict that came as a value: out of JSON, YAML, or an agent's structured output. */
export interface VerdictValue {
  readonly result: ReadingResult;
  readonly id: string | null;
  /** Worked out when asked for: of many verdicts in a text only one is looked at closely. */
  parts(): ReadingParts;
  readonly problem: string | null;
}

/** `null` where the value is no verdict. A wrapper around one is looked through. */
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

function partsOf(fields: Fields, result: ReadingResult): ReadingParts {
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

/** S2's three words, or any severity's. */
export function priorityOf(word: string | null): Reading["priority"] {
  const severity = word === null ? undefined : severityFromWord(word);
  return severity === undefined ? null : toPriorityScale(severity);
}

function stageFindings(fields: Fields): readonly ReadFinding[] {
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

function findingOf(fields: Fields): ReadFinding | null {
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

function incompleteOf(fields: Fields, result: ReadingResult): ReadIncomplete | null {
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
