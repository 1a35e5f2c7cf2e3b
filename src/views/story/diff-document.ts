import { isConclusive } from "../../core/events/error.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { Suspect } from "../../core/blame/blame.ts";
import type { GateName } from "../../core/gates/gate.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { type AttemptChange, type ChangedFile, diffPath, keptLines, lineAuthors } from "./diff-range.ts";
import { type FindingCard, findingRounds } from "./finding-text.ts";

/** What a story has changed, with the author, the findings and the blame of each line. */
export interface DiffDocument {
  readonly from: string;
  readonly to: string;
  /** Attempts whose changes can be compared. */
  readonly attempts: readonly number[];
  readonly files: readonly DiffFile[];
  /** The number of lines that were left out, because there are too many. */
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
  /** The attempt that wrote the line; `null` for a line of the base, or a removed line. */
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

interface DiffedFile extends ChangedFile {
  readonly isBinary: boolean;
  readonly hunks: readonly { readonly heading: string; readonly lines: ChangedFile["hunks"][number]["lines"] }[];
}

export interface DiffMaterial {
  readonly from: string;
  readonly to: string;
  readonly attempts: readonly number[];
  readonly files: readonly DiffedFile[];
  readonly changes: readonly AttemptChange[];
  readonly findings: readonly FindingCard[];
  readonly lines: readonly Recorded[];
  /** How many of the changes came before each judgement and each blame; missing if that saw another state. */
  readonly seen: ReadonlyMap<Recorded, number>;
}

function diffDocument(material: DiffMaterial, mostLines: number): DiffDocument {
  const { from, to, attempts, files, findings } = material;
  const authors = lineAuthors(material.changes);
  const blames = blameMarks(material);
  const places = findingPlaces(material);
  let left = mostLines;
  let leftOut = 0;
  const shownAt = new Set<FindingCard>();
  const shown = files.map((file): DiffFile => {
    const own = places.filter((place) => place.file === file.path);
    const marks = blames.get(file.path);
    const hunks = file.hunks.map(({ heading, lines }): DiffHunk => {
      const some = lines.slice(0, Math.max(0, left));
      left -= some.length;
      leftOut += lines.length - some.length;
      return {
        heading,
        lines: some.map((line) => {
          const isNew = line.kind !== "removed";
          const here = isNew ? own.filter((place) => place.line === line.line).map(({ finding }) => finding) : [];
          for (const finding of here) shownAt.add(finding);
          return {
            ...line,
            attempt: isNew ? (authors.get(file.path)?.get(line.line) ?? null) : null,
            findings: here,
            blames: isNew && marks?.has(line.line) === true ? [marks.get(line.line)!] : [],
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

/**
 * Places marks of blame. Blame was found in one state of the files, and later attempts move and rewrite lines: each
 * mark follows its own lines and no others. It is shown at the first visible line with text; of several marks on one
 * line, the last one counts.
 */
function blameMarks({
  lines,
  seen,
  changes,
  files,
}: DiffMaterial): ReadonlyMap<string, ReadonlyMap<number, BlameMark>> {
  const texts = new Map(files.map((file) => [file.path, speakingLines(file)]));
  const marks = new Map<string, Map<number, BlameMark>>();
  for (const recorded of lines) {
    const { event, at } = recorded;
    const count = seen.get(recorded);
    if (event.type !== "blame.found" || count === undefined) continue;
    const { basis, explanation, testRuns, suspects } = event.blame;
    for (const { endLine, ...suspect } of suspects) {
      const span = { ...suspect, ...(endLine === undefined ? {} : { endLine }) };
      const now = followLines(span, changes.slice(count));
      const line = now.lines.find((each) => texts.get(now.file)?.has(each));
      if (line === undefined) continue;
      const mark = { ...suspect, file: now.file, line, gate: event.gate, basis, explanation, testRuns, at };
      marks.set(now.file, (marks.get(now.file) ?? new Map<number, BlameMark>()).set(line, mark));
    }
  }
  return marks;
}

/** The lines of the newer side with a letter or a digit: a mark next to a lone brace would not help. */
function speakingLines({ hunks }: DiffedFile): ReadonlySet<number> {
  const all = hunks.flatMap(({ lines }) => lines);
  return new Set(
    all.filter(({ kind, text }) => kind !== "removed" && /[\p{L}\p{N}]/u.test(text)).map(({ line }) => line),
  );
}

/**
 * The current location of each finding of the newest rounds; a finding whose line was rewritten since is listed
 * separately.
 */
function findingPlaces({
  findings,
  lines,
  seen,
  changes,
}: DiffMaterial): readonly { readonly finding: FindingCard; readonly file: string; readonly line: number }[] {
  const judged = new Map<GateName, number>();
  for (const recorded of lines) {
    const { event } = recorded;
    if (event.type !== "gate.judged" || !isConclusive(event.judgement.result)) continue;
    const count = seen.get(recorded);
    if (count === undefined) judged.delete(event.judgement.gate);
    else judged.set(event.judgement.gate, count);
  }
  return findings.flatMap((finding) => {
    const { file, line, gate, standing } = finding;
    const count = judged.get(gate);
    if (file === undefined || line === undefined || standing === "resolved" || count === undefined) return [];
    const now = followLines({ file, line }, changes.slice(count));
    return now.lines.map((each) => ({ finding, file: now.file, line: each }));
  });
}

/** Lines of a file in one state of the work. */
export interface LineSpan {
  readonly file: string;
  readonly line: number;
  readonly endLine?: number;
}

/** Longer hunks are cut after this many lines. */
const MOST_LINES = 500;

/**
 * Follows lines of an earlier state through these changes: the file, and the new numbers of the lines that were not
 * changed since. A line that was rewritten or deleted is not found again.
 */
function followLines(
  { file, line, endLine = line }: LineSpan,
  changes: readonly AttemptChange[],
): { readonly file: string; readonly lines: readonly number[] } {
  let path = file;
  const count = Math.min(MOST_LINES, Math.max(1, endLine - line + 1));
  let lines: ReadonlyMap<number, true> = new Map(Array.from({ length: count }, (_, at) => [line + at, true]));
  for (const { files } of changes) {
    const own = files.find(({ oldPath, change }) => oldPath === path && change !== "copied" && change !== "added");
    if (own === undefined) {
      // Another file was renamed to this path: the lines are gone.
      if (files.some((other) => other.path === path)) return { file: path, lines: [] };
      continue;
    }
    if (own.change === "deleted") return { file: path, lines: [] };
    lines = keptLines(lines, own);
    path = own.path;
  }
  return { file: path, lines: [...lines.keys()].sort((a, b) => a - b) };
}

/** What to show of a story's work, and how the changes between two commits are read. */
export interface DiffSpec {
  readonly state: StoryState;
  readonly lines: readonly Recorded[];
  readonly range: { readonly from: string; readonly to: string };
  readonly mostLines: number;
  read(from: string, to: string): Promise<DiffMaterial["files"]>;
}

/** Reads what each attempt changed, to know who wrote each line, and builds the document. */
export async function readDiff({ state, lines, range, mostLines, read }: DiffSpec): Promise<DiffDocument> {
  const changes = [];
  const { steps, seen } = diffPath(lines, range.to);
  for (const { attempt, from, to } of steps) changes.push({ attempt, files: await read(from, to) });
  const attempts = lines.flatMap(({ event }) => (event.type === "attempt.finished" ? [event.attempt] : []));
  const material = { ...range, attempts, files: await read(range.from, range.to), changes, lines, seen };
  return diffDocument({ ...material, findings: findingRounds(lines, state) }, mostLines);
}
