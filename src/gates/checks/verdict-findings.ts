import { isAbsolute, posix, relative } from "node:path";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import { type Finding, severityFromWord, type Severity } from "../../core/gates/finding.ts";
import type { ReadFinding, Reading } from "../../core/stories/reading.ts";

export interface FindingContext {
  /** Who said it. */
  readonly source: string;
  /** What kind of thing it is, where the reviewer does not say. */
  readonly category: string;
  /** The folder the reviewer stood in: whole paths are cut down to it. */
  readonly path: string;
}

/** What a reviewer listed, with an identity each. The same thing said twice is one finding, and what is done is none. */
export function findingsOf(reading: Reading, saying: FindingContext): Finding[] {
  const listed = reading.findings.filter(({ status }) => !isDone(status));
  const found = listed.map((read) => findingOf(read, reading, saying));
  // A reviewer who only says what to do has said what is wrong as well.
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
    // A criterion is the same one next time, however the auditor puts it.
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

/** Default: the verdict's priority; without that, enough to be looked at. */
function severityOf(said: Severity | null, { priority, result }: Reading): Severity {
  if (said !== null) return said;
  if (priority !== null) return severityFromWord(priority) ?? "major";
  return result === "pass" ? "minor" : "major";
}

const isDone = (status: string | null): boolean => /^(?:addressed|fixed|resolved)$/i.test(status?.trim() ?? "");

/** A path inside of the work, as git names it; `null` for one that leads out of it. */
function fileBelow(folder: string, file: string): string | null {
  const inside = isAbsolute(file) ? relative(folder, file) : file;
  const plain = posix.normalize(inside.replaceAll("\\", "/")).replace(/^\.\//, "");
  return plain === "" || plain === "." || plain.startsWith("../") || plain === ".." || isAbsolute(plain) ? null : plain;
}
