import type { Recorded } from "../domain/event.ts";
import type { Suspect } from "../domain/blame.ts";
import type { GateName } from "../domain/gate.ts";
import { lineAuthors, type AttemptChange, type ChangedFile } from "./line-authors.ts";
import type { FindingCard } from "./finding-rounds.ts";

/** What a story has changed, with who wrote each line, what was found there, and what was blamed. */
export interface DiffDocument {
  readonly from: string;
  readonly to: string;
  /** Attempts that left something to compare with. */
  readonly attempts: readonly number[];
  readonly files: readonly DiffFile[];
  /** Lines that were left out, because there are too many to look at. */
  readonly leftOut: number;
  readonly elsewhere: readonly FindingCard[];
}

export interface DiffFile {
  readonly path: string;
  readonly oldPath: string;
  readonly change: string;
  readonly isBinary: boolean;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly DiffHunk[];
}

export interface DiffHunk {
  readonly heading: string;
  readonly lines: readonly ShownLine[];
}

export interface ShownLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly line: number;
  /** The attempt that wrote it; `null` for a line of the base, or one that is gone. */
  readonly attempt: number | null;
  readonly findings: readonly FindingCard[];
  readonly blames: readonly BlameMark[];
}

export interface BlameMark extends Suspect {
  readonly gate: GateName;
  readonly basis: "proven" | "ranked";
  readonly explanation: string;
  readonly testRuns: number;
  readonly at: number;
}

interface ReadFile extends ChangedFile {
  readonly isBinary: boolean;
  readonly hunks: readonly { readonly heading: string; readonly lines: ChangedFile["hunks"][number]["lines"] }[];
}

export interface DiffMaterial {
  readonly from: string;
  readonly to: string;
  readonly attempts: readonly number[];
  readonly files: readonly ReadFile[];
  readonly changes: readonly AttemptChange[];
  readonly findings: readonly FindingCard[];
  readonly lines: readonly Recorded[];
}

export function diffDocument(material: DiffMaterial, mostLines: number): DiffDocument {
  const { from, to, attempts, files, findings } = material;
  const authors = lineAuthors(material.changes);
  const blames = blameMarks(material.lines);
  let left = mostLines;
  let leftOut = 0;
  const shownAt = new Set<FindingCard>();
  const shown = files.map((file): DiffFile => {
    const own = findings.filter((finding) => finding.file === file.path && finding.standing !== "resolved");
    const marks = blames.filter((mark) => mark.file === file.path);
    const hunks = file.hunks.map(({ heading, lines }): DiffHunk => {
      const some = lines.slice(0, Math.max(0, left));
      left -= some.length;
      leftOut += lines.length - some.length;
      return {
        heading,
        lines: some.map((line) => {
          const isNew = line.kind !== "removed";
          const here = isNew ? own.filter((finding) => finding.line === line.line) : [];
          for (const finding of here) shownAt.add(finding);
          return {
            ...line,
            attempt: isNew ? (authors.get(file.path)?.get(line.line) ?? null) : null,
            findings: here,
            blames: isNew ? marks.filter((mark) => mark.line === line.line) : [],
          };
        }),
      };
    });
    const count = (kind: string): number =>
      file.hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
    const { path, oldPath, change, isBinary } = file;
    return { path, oldPath, change, isBinary, added: count("added"), removed: count("removed"), hunks };
  });
  return { from, to, attempts, files: shown, leftOut, elsewhere: findings.filter((each) => !shownAt.has(each)) };
}

/** A place that was blamed twice is shown once, with what was said last. */
function blameMarks(lines: readonly Recorded[]): readonly BlameMark[] {
  const marks = new Map<string, BlameMark>();
  for (const { event, at } of lines) {
    if (event.type !== "blame.found") continue;
    const { basis, explanation, testRuns, suspects } = event.blame;
    for (const suspect of suspects)
      marks.set(`${suspect.file}:${suspect.line}`, { ...suspect, gate: event.gate, basis, explanation, testRuns, at });
  }
  return [...marks.values()];
}
