import { isAbsolute, posix, relative } from "node:path";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import { type Finding, severityFromWord, type Severity } from "../../core/gates/finding.ts";
import type { ReadFinding, Reading } from "../../core/stories/reading.ts";

export interface FindingContext {
  /** The reviewer or tool. */
  readonly source: string;
  /** The category, if the reviewer gives none. */
  readonly category: string;
  /** The reviewer's folder: absolute paths are made relative to it. */
  readonly path: string;
}

/**
 * Returns a reviewer's findings with their identities. Duplicates are merged, and findings marked as done are left out.
 */
export function findingsOf(reading: Reading, saying: FindingContext): Finding[] {
  const listed = reading.findings.filter(({ status }) => !isDone(status));
  const found = listed.map((read) => findingOf(read, reading, saying));
  // A reviewer that only says what to do has also said what is wrong.
  const demands =
    found.length > 0 || reading.result !== "fail"
      ? []
      : reading.requiredFixes.map((fix) =>
          identifyFinding({
            severity: severityOf(null, reading),
            category: saying.category,
            source: saying.source,
            message: fix,
            suggestedFix: fix,
          }),
        );
  return distinct([...found, ...demands]);
}

export function distinct(findings: readonly Finding[]): Finding[] {
  const known = new Map<string, Finding>();
  for (const finding of findings) if (!known.has(finding.id)) known.set(finding.id, finding);
  return [...known.values()];
}

function findingOf(read: ReadFinding, reading: Reading, { source, category, path }: FindingContext): Finding {
  const file = read.file === null ? null : fileBelow(path, read.file);
  const isCriterion = read.criterion !== null && file === null;
  return identifyFinding({
    severity: severityOf(read.severity, reading),
    category: read.category ?? (isCriterion ? "criterion" : category),
    source,
    // A criterion keeps its identity, however the auditor words it.
    message: isCriterion
      ? `not met: ${read.criterion}`
      : read.file !== null && file === null
        ? `${read.file}: ${read.message}`
        : read.message,
    ...(isCriterion && read.message !== "" ? { detail: read.message } : {}),
    ...(file === null ? {} : { file }),
    ...(file === null || read.line === null ? {} : { line: read.line }),
    ...(read.suggestedFix === null ? {} : { suggestedFix: read.suggestedFix }),
    ...(read.criterion === null ? {} : { criterion: read.criterion }),
  });
}

/**
 * Returns the stated severity. Default: the verdict's priority; without that, `minor` for a pass and `major` otherwise.
 */
function severityOf(said: Severity | null, { priority, result }: Reading): Severity {
  if (said !== null) return said;
  if (priority !== null) return severityFromWord(priority) ?? "major";
  return result === "pass" ? "minor" : "major";
}

const isDone = (status: string | null): boolean => /^(?:addressed|fixed|resolved)$/i.test(status?.trim() ?? "");

/** Returns a path in the work in git's form; `null` if it leads out of the work. */
function fileBelow(folder: string, file: string): string | null {
  const inside = isAbsolute(file) ? relative(folder, file) : file;
  const plain = posix.normalize(inside.replaceAll("\\", "/")).replace(/^\.\//, "");
  return plain === "" || plain === "." || plain.startsWith("../") || plain === ".." || isAbsolute(plain) ? null : plain;
}
