import { useEffect, useState } from "preact/hooks";
import type { LinesDocument } from "../../src/views/board/dashboard.ts";
import type { StoryLine } from "../../src/views/story/story-lines.ts";
import { ask } from "./ask.ts";
import { onLines } from "./stream.ts";

/** A story's lines: the last ones first, then earlier ones, then new ones as they are appended. */
export function useLines(id: string): readonly StoryLine[] {
  const [known, setKnown] = useState<KnownLines>({ of: id, lines: [] });
  useEffect(() => {
    const over = new AbortController();
    const askLines = (path: string): Promise<LinesDocument> =>
      ask<LinesDocument>(`/stories/${id}/${path}`, over.signal);
    const add = (lines: readonly StoryLine[]): void => {
      if (lines.length === 0 || over.signal.aborted) return;
      setKnown((before) => ({ of: id, lines: mergeLines(before.of === id ? before.lines : [], lines) }));
    };
    const state = { after: null as number | null, busy: false, again: false };
    const grow = async (from: number, to: number): Promise<number> => {
      for (let at = from; ;) {
        const { lines, position, more } = await askLines(`lines?after=${at}`);
        add(lines);
        at = position;
        if (!more || at >= to) return at;
      }
    };
    const begin = async (): Promise<number> => {
      const last = await askLines("last-lines");
      add(last.lines);
      if (last.earlier > 0) await grow(0, last.lines[0]?.position ?? 0);
      return last.position;
    };
    const turn = async (): Promise<void> => {
      if (state.busy) return void (state.again = true);
      state.busy = true;
      try {
        do {
          state.again = false;
          state.after = state.after === null ? await begin() : await grow(state.after, Infinity);
        } while (state.again && !over.signal.aborted);
      } catch {
        // The story's own document shows the error of the server; the next line triggers a retry.
      } finally {
        state.busy = false;
      }
    };
    void turn();
    const stop = onLines((some) => ((some?.some(({ story }) => story === id) ?? true) ? void turn() : undefined));
    return () => {
      over.abort();
      stop();
    };
  }, [id]);
  // Lines of another story are not shown for this one.
  return known.of === id ? known.lines : NONE;
}

interface KnownLines {
  readonly of: string;
  readonly lines: readonly StoryLine[];
}

const NONE: readonly StoryLine[] = [];

/** Merges lines by position, without duplicates. */
function mergeLines(known: readonly StoryLine[], more: readonly StoryLine[]): readonly StoryLine[] {
  const places = new Set(known.map(({ position }) => position));
  const added = more.filter(({ position }) => !places.has(position));
  return [...known, ...added].sort((a, b) => a.position - b.position);
}
