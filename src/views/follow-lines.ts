import { keptLines, type AttemptChange } from "./line-authors.ts";

/** Lines of one file in one state of the work. */
export interface LineSpan {
  readonly file: string;
  readonly line: number;
  readonly endLine?: number;
}

/** Longer hunks are followed by their beginning. */
const MOST_LINES = 500;

/**
 * Where lines that were written down in an earlier state are now, after these changes: the file, and the new numbers of
 * those that nobody has touched since. A line that was rewritten or deleted is in no state after that.
 */
export function followLines(
  { file, line, endLine = line }: LineSpan,
  changes: readonly AttemptChange[],
): { readonly file: string; readonly lines: readonly number[] } {
  let path = file;
  const count = Math.min(MOST_LINES, Math.max(1, endLine - line + 1));
  let lines: ReadonlyMap<number, true> = new Map(Array.from({ length: count }, (_, at) => [line + at, true]));
  for (const { files } of changes) {
    const own = files.find(({ oldPath, change }) => oldPath === path && change !== "copied" && change !== "added");
    if (own === undefined) {
      // Another file took its name: what was here is gone.
      if (files.some((other) => other.path === path)) return { file: path, lines: [] };
      continue;
    }
    if (own.change === "deleted") return { file: path, lines: [] };
    lines = keptLines(lines, own);
    path = own.path;
  }
  return { file: path, lines: [...lines.keys()].sort((a, b) => a - b) };
}
