import type { ChangedHunk } from "../../core/blame/change.ts";

/** Some lines of a file, as they stand in the newest state. */
export interface Lines {
  readonly file: string;
  readonly line: number;
  readonly endLine?: number;
}

/**
 * Which of several steps that follow each other brought lines in, by its place among them; `null` where none did. The
 * lines are followed backwards: a step that did not write them may still have moved them. Lines that are gone leave
 * only the place at which they stood, so that is looked for last.
 */
export function stepOf(lines: Lines, steps: readonly (readonly ChangedHunk[])[]): number | null {
  return followSpan(lines, steps, writes) ?? followSpan(lines, steps, takesAway);
}

interface FileSpan {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

function followSpan(
  { file, line, endLine }: Lines,
  steps: readonly (readonly ChangedHunk[])[],
  isIt: (hunk: ChangedHunk, span: FileSpan) => boolean,
): number | null {
  let span: FileSpan = { file, start: line, end: endLine ?? line };
  for (let at = steps.length - 1; at >= 0; at--) {
    const own = steps[at]!.filter((hunk) => hunk.file === span.file);
    if (own.some((hunk) => isIt(hunk, span))) return at;
    span = before(span, own);
  }
  return null;
}

const writes = (hunk: ChangedHunk, { start, end }: FileSpan): boolean =>
  hunk.added.length > 0 && hunk.start <= end && hunk.start + hunk.added.length - 1 >= start;

const takesAway = (hunk: ChangedHunk, { start, end }: FileSpan): boolean =>
  hunk.added.length === 0 && hunk.start >= start && hunk.start <= end;

/** Where the lines stood before these changes of their file. */
function before({ file, start, end }: FileSpan, own: readonly ChangedHunk[]): FileSpan {
  const moved = own
    .filter((hunk) => hunk.start <= start)
    .reduce((sum, { added, removed }) => sum + added.length - removed.length, 0);
  return { file: own[0]?.oldFile ?? file, start: start - moved, end: end - moved };
}
