import { useState } from "preact/hooks";
import type { DiffFile } from "../../src/views/story/diff-document.ts";

/** The files that a person has marked as viewed. A file that has changed since is not viewed. */
export interface ViewedFiles {
  has(file: DiffFile): boolean;
  set(file: DiffFile, isViewed: boolean): void;
}

const MOST = 2000;

export function useViewed(story: string): ViewedFiles {
  const place = `remand-viewed-${story}`;
  const [marks, setMarks] = useState<readonly string[]>(() => readMarks(place));
  return {
    has: (file) => marks.includes(markOf(file)),
    set: (file, isViewed) => {
      const mark = markOf(file);
      const next = [...marks.filter((each) => each !== mark), ...(isViewed ? [mark] : [])].slice(-MOST);
      setMarks(next);
      localStorage.setItem(place, JSON.stringify(next));
    },
  };
}

function readMarks(place: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    // Saved by another version: all marks are dropped.
    return [];
  }
}

/** A hash of the path and its lines. */
function markOf({ path, hunks }: DiffFile): string {
  let hash = 5381;
  for (const { lines } of hunks)
    for (const { kind, line, text } of lines)
      for (const char of `${kind}${line}${text}`) hash = ((hash * 33) ^ char.codePointAt(0)!) >>> 0;
  return `${path} ${hash.toString(36)}`;
}
