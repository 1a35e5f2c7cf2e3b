import type { ChangedHunk } from "../../core/blame/change.ts";
import type { BoundChanges } from "./experiments.ts";
import { isRenameKept, renamedLine, type Rename } from "./renames.ts";

/**
 * Returns the texts of the changed files with some hunks reverted, by path; `null` for a file that does not exist then.
 * Hunks never overlap, so the text of each can be reverted alone; restored lines use the names of the renames that
 * stay.
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

/** Applies the hunks that stay to the old text, byte for byte. */
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
  // A line without a line end gets one if it is no longer the last.
  return parts.map((line, at) => (at < parts.length - 1 && !line.endsWith("\n") ? `${line}\n` : line)).join("");
}

/** Splits a text into lines with their line ends, so that joining them gives the text again. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** A tool's message about a line of a tree that does not build. */
export interface BuildMessage {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const NAME = /[A-Za-z_$][\w$]*/g;
const SHORTEST_NAME = 3;
/** A name that more changes add or remove does not show which of them belong together. */
const MOST_SHARING = 12;

/**
 * Returns the changes because of which a tree with some hunks reverted does not build: those on the lines of the
 * messages, and those that add or remove a name in the messages. `null`: the messages are about no change.
 */
export function boundBy(
  hunks: readonly ChangedHunk[],
  without: ReadonlySet<number>,
  messages: readonly BuildMessage[],
): BoundChanges | null {
  const found = new Set<number>();
  for (const each of messages) {
    const at = hunkAt(hunks, without, each);
    if (at !== null) found.add(at);
    for (const name of new Set(each.message.match(NAME))) {
      const own = name.length < SHORTEST_NAME ? [] : hunks.filter((hunk) => bringsOrDrops(hunk, name));
      if (own.length <= MOST_SHARING) for (const { id } of own) found.add(id);
    }
  }
  if (found.size === 0) return null;
  return {
    kept: [...found].filter((id) => !without.has(id)),
    taken: [...found].filter((id) => without.has(id)),
  };
}

/** Returns the change that a line of the mixed text belongs to. */
function hunkAt(
  hunks: readonly ChangedHunk[],
  without: ReadonlySet<number>,
  { file, line }: BuildMessage,
): number | null {
  const own = hunks.filter((hunk) => hunk.file === file || hunk.oldFile === file);
  let [old, now] = [1, 1];
  for (const hunk of own.sort((a, b) => a.oldStart - b.oldStart || a.id - b.id)) {
    now += Math.max(0, hunk.oldStart - old);
    const size = (without.has(hunk.id) ? hunk.removed : hunk.added).length;
    if (line >= now && line < now + size) return hunk.id;
    now += size;
    old = Math.max(old, hunk.oldEnd + 1, hunk.oldStart);
  }
  return null;
}

function bringsOrDrops({ removed, added }: ChangedHunk, name: string): boolean {
  const has = (lines: readonly string[]): boolean =>
    lines.some((line) => [...line.matchAll(NAME)].some(([word]) => word === name));
  return has(removed) !== has(added);
}
