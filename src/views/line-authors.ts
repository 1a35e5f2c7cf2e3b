/** What one attempt did to the files, in git's terms. Lines count from 1. */
export interface AttemptChange {
  readonly attempt: number;
  readonly files: readonly ChangedFile[];
}

export interface ChangedFile {
  readonly path: string;
  readonly oldPath: string;
  readonly change: string;
  readonly hunks: readonly { readonly lines: readonly ChangedLine[] }[];
}

export interface ChangedLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly line: number;
}

/** Which attempt wrote each line that is not the base's: by file, by line of the newest version. */
export type LineAuthors = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Follows every written line through the changes that came after it, which move it or take it away. */
export function lineAuthors(changes: readonly AttemptChange[]): LineAuthors {
  const known = new Map<string, ReadonlyMap<number, number>>();
  for (const { attempt, files } of changes) {
    const before = new Map(known);
    for (const { path, oldPath } of files) {
      known.delete(oldPath);
      known.delete(path);
    }
    for (const file of files)
      if (file.change !== "deleted") known.set(file.path, moved(before.get(file.oldPath) ?? NOTHING, file, attempt));
    // A copy leaves what it was copied from where it is.
    for (const { oldPath, change } of files)
      if (change === "copied" && before.has(oldPath) && !known.has(oldPath)) known.set(oldPath, before.get(oldPath)!);
  }
  return known;
}

const NOTHING: ReadonlyMap<number, number> = new Map();

/** The lines of a file that a change left as they were, under their new numbers. */
export function keptLines<T>(before: ReadonlyMap<number, T>, { hunks }: ChangedFile): Map<number, T> {
  const removed = new Set<number>();
  const added: number[] = [];
  for (const { lines } of hunks) {
    for (const { kind, line } of lines) {
      if (kind === "removed") removed.add(line);
      if (kind === "added") added.push(line);
    }
  }
  const after = new Map<number, T>();
  const gone = [...removed].sort((a, b) => a - b);
  let passedGone = 0;
  let passedAdded = 0;
  for (const [line, known] of [...before].sort(([a], [b]) => a - b)) {
    if (removed.has(line)) continue;
    while (passedGone < gone.length && gone[passedGone]! < line) passedGone++;
    // Its new number is the first that is far enough down and was not written anew.
    while (passedAdded < added.length && added[passedAdded]! <= line - passedGone + passedAdded) passedAdded++;
    after.set(line - passedGone + passedAdded, known);
  }
  return after;
}

function moved(before: ReadonlyMap<number, number>, file: ChangedFile, attempt: number): Map<number, number> {
  const after = keptLines(before, file);
  for (const { lines } of file.hunks)
    for (const { kind, line } of lines) if (kind === "added") after.set(line, attempt);
  return after;
}
