import type { ChangedHunk } from "../../core/blame/change.ts";
import { isRenameKept, renamedLine, type Rename } from "./renames.ts";

/**
 * The texts of the changed files with some hunks taken back, by path; `null` for a file that is not there then. Hunks
 * never overlap, so any of them can be taken back without the others, as far as the text goes; lines that come back
 * follow the names that stay.
 */
export function filesWithout(
  hunks: readonly ChangedHunk[],
  without: ReadonlySet<number>,
  textOf: (path: string) => string | null,
  textBefore: (path: string) => string | null,
  renames: readonly Rename[] = [],
): Map<string, string | null> {
  const kept = renames.filter((rename) => isRenameKept(rename, without));
  const mixed = (own: readonly ChangedHunk[], path: string, oldFile: string): string =>
    mixLines(
      own,
      without,
      [textOf(path), textBefore(oldFile)],
      kept.filter((rename) => rename.oldFile === oldFile),
    );
  const byFile = new Map<string, ChangedHunk[]>();
  for (const hunk of hunks) byFile.set(hunk.file, [...(byFile.get(hunk.file) ?? []), hunk]);
  const files = new Map<string, string | null>();
  for (const [path, own] of byFile) {
    const { oldFile, change } = own[0]!;
    const isTakenBack = own.every((hunk) => without.has(hunk.id));
    if (own.every((hunk) => !without.has(hunk.id))) files.set(path, textOf(path));
    else if (isTakenBack && change === "added") files.set(path, null);
    else if (change === "renamed" || change === "copied") {
      const isOldName = change === "renamed" && without.has(own[0]!.id);
      files.set(isOldName ? path : oldFile, isOldName ? null : change === "copied" ? textBefore(oldFile) : null);
      files.set(isOldName ? oldFile : path, isTakenBack && change === "copied" ? null : mixed(own, path, oldFile));
    } else {
      const isAsBefore = isTakenBack && !kept.some((rename) => rename.oldFile === oldFile);
      files.set(path, isAsBefore ? textBefore(oldFile) : mixed(own, path, oldFile));
    }
    if (change === "renamed" && own.every((hunk) => !without.has(hunk.id))) files.set(oldFile, null);
  }
  return files;
}

/** The old text with the hunks that stay put in, in the lines' own bytes. */
function mixLines(
  hunks: readonly ChangedHunk[],
  without: ReadonlySet<number>,
  [now, before]: readonly [now: string | null, before: string | null],
  renames: readonly Rename[],
): string {
  const [oldLines, newLines] = [linesOf(before ?? ""), linesOf(now ?? "")];
  const parts: string[] = [];
  let old = 1;
  for (const hunk of [...hunks].sort((a, b) => a.oldStart - b.oldStart || a.id - b.id)) {
    if (hunk.added.length + hunk.removed.length === 0) continue;
    parts.push(...oldLines.slice(old - 1, hunk.oldStart - 1));
    parts.push(
      ...(without.has(hunk.id)
        ? oldLines
            .slice(hunk.oldStart - 1, hunk.oldEnd)
            .map((line, at) => renamedLine(line, hunk.oldStart + at, renames))
        : newLines.slice(hunk.start - 1, hunk.start - 1 + hunk.added.length)),
    );
    old = Math.max(old, hunk.oldEnd + 1, hunk.oldStart);
  }
  parts.push(...oldLines.slice(old - 1));
  // A last line without an end that is no longer the last one gets one.
  return parts.map((line, at) => (at < parts.length - 1 && !line.endsWith("\n") ? `${line}\n` : line)).join("");
}

/** Lines with their ends, so that put together they are the text again. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
