import {
  looksLikeTest,
  type BlameMaterial,
  type ChangedHunk,
  type CodeFile,
  type LineCoverage,
} from "../../core/blame/change.ts";
import { readFailure } from "./failure.ts";
import type { FileDiff, Hunk } from "./git-output.ts";
import { pathIndex, readImports, type PathIndex } from "./imports.ts";
import { readSymbols } from "./symbols.ts";
import { readWorkspacePackages } from "./workspace-packages.ts";

/** What blame can read before it runs anything. */
export interface BlameSources {
  /** The output of the failed check. */
  readonly output: string;
  /** The folder of the failed check. */
  readonly root: string;
  readonly diff: readonly FileDiff[];
  /** Every file of the project after the iteration. */
  readonly paths: readonly string[];
  readonly textOf: (path: string) => string | null;
  /** Returns the text before the iteration, by the name that the file had then. */
  readonly textBefore: (path: string) => string | null;
  readonly isTest?: (path: string) => boolean;
  readonly sourceMaps?: ReadonlyMap<string, string>;
  readonly passedFiles?: readonly string[];
  readonly coverage?: readonly LineCoverage[];
}

/** The most files that are read on the import path from a failing test to a change. */
const MOST_FILES = 600;

/**
 * Reads everything that the ranking of suspects uses. Only files on the import path from the failing tests are read.
 */
export function readBlameMaterial(sources: BlameSources): BlameMaterial {
  const index = pathIndex(sources.paths, readWorkspacePackages(sources.paths, sources.textOf));
  const isTest = sources.isTest ?? looksLikeTest;
  const failure = readFailure(sources.output, {
    root: sources.root,
    paths: index,
    ...(sources.sourceMaps === undefined ? {} : { sourceMaps: sources.sourceMaps }),
  });
  const hunks = readHunks(sources.diff);
  const named = failure.failures.flatMap((each) => [each.file, ...each.frames.map((frame) => frame.file)]);
  const changed = [...new Set(hunks.map((hunk) => hunk.file))];
  const passedFiles = (sources.passedFiles ?? []).slice(0, 40);
  const start = [...new Set(named.filter((path) => path !== null)), ...changed, ...passedFiles];
  const files = codeFiles(start, sources.textOf, index, isTest);
  const before = new Map<string, CodeFile>();
  for (const path of new Set(hunks.map((hunk) => hunk.oldFile))) {
    const text = sources.textBefore(path);
    if (text !== null) before.set(path, codeFile(path, text, index, isTest));
  }
  return { failure, hunks, files, before, passedFiles, coverage: sources.coverage ?? [] };
}

function codeFiles(
  start: readonly string[],
  textOf: (path: string) => string | null,
  index: PathIndex,
  isTest: (path: string) => boolean,
): Map<string, CodeFile> {
  const files = new Map<string, CodeFile>();
  const queue = [...start];
  for (let at = 0; at < queue.length && files.size < MOST_FILES; at++) {
    const path = queue[at]!;
    if (files.has(path)) continue;
    const text = textOf(path);
    if (text === null) continue;
    const file = codeFile(path, text, index, isTest);
    files.set(path, file);
    queue.push(...file.imports);
  }
  return files;
}

function codeFile(path: string, text: string, index: PathIndex, isTest: (path: string) => boolean): CodeFile {
  return { path, isTest: isTest(path), imports: readImports(text, path, index), ...readSymbols(text, path) };
}

/**
 * Splits the diff into its smallest parts: each run of changed lines is its own hunk, however near the next one is,
 * because a mistake is often one line beside correct lines.
 */
export function readHunks(diff: readonly FileDiff[]): ChangedHunk[] {
  const hunks: ChangedHunk[] = [];
  for (const file of diff) {
    const facts = { file: file.path, oldFile: file.oldPath, change: file.change, isBinary: file.isBinary };
    const whole = { start: 1, end: 1, oldStart: 1, oldEnd: 1, removed: [], added: [] };
    // A rename, or a binary change, can be reverted too.
    if (file.hunks.length === 0 || file.change === "renamed") hunks.push({ id: hunks.length, ...facts, ...whole });
    for (const part of file.hunks)
      hunks.push(...runsOf(part).map((run, at) => ({ id: hunks.length + at, ...facts, ...run })));
  }
  return hunks;
}

type Run = Pick<ChangedHunk, "start" | "end" | "oldStart" | "oldEnd" | "removed" | "added">;

function runsOf({ oldStart, newStart, lines }: Hunk): Run[] {
  const runs: { removed: string[]; added: string[]; oldStart: number; start: number }[] = [];
  // For a side without lines, git gives the line before it.
  let old = lines.some((line) => line.kind !== "added") ? oldStart : oldStart + 1;
  let now = lines.some((line) => line.kind !== "removed") ? newStart : newStart + 1;
  let isOpen = false;
  for (const line of lines) {
    if (line.kind === "same") {
      isOpen = false;
      old++;
      now++;
      continue;
    }
    if (!isOpen) runs.push({ removed: [], added: [], oldStart: old, start: now });
    isOpen = true;
    const run = runs.at(-1)!;
    if (line.kind === "removed") {
      run.removed.push(line.text);
      old++;
    } else {
      run.added.push(line.text);
      now++;
    }
  }
  return runs.map((run) => ({
    ...run,
    end: run.start + Math.max(1, run.added.length) - 1,
    oldEnd: run.oldStart + run.removed.length - 1,
  }));
}
