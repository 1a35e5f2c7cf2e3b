import { useEffect, useState } from "preact/hooks";
import type { LinesDocument } from "../../src/views/dashboard.ts";
import type { StoryLine } from "../../src/views/story-lines.ts";
import { ask } from "./ask.ts";
import { onLines } from "./stream.ts";

/** A story's lines, which grow while it is worked on: only those that are new are asked for. */
export function useLines(id: string): readonly StoryLine[] {
  const [{ of, lines }, setLines] = useState<Known>({ of: id, lines: [] });
  useEffect(() => {
    const over = new AbortController();
    const state = { after: 0, busy: false, again: false };
    const turn = async (): Promise<void> => {
      if (state.busy) return void (state.again = true);
      state.busy = true;
      try {
        do {
          state.again = false;
          const more = await ask<LinesDocument>(`/stories/${id}/lines?after=${state.after}`, over.signal);
          state.after = more.position;
          state.again ||= more.more;
          if (over.signal.aborted) return;
          if (more.lines.length > 0)
            setLines((known) => ({ of: id, lines: [...(known.of === id ? known.lines : []), ...more.lines] }));
        } while (state.again && !over.signal.aborted);
      } catch {
        // The story's own document says what is wrong with the server; the next line tries again.
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
  // What belongs to another story is not shown under this one.
  return of === id ? lines : NONE;
}

interface Known {
  readonly of: string;
  readonly lines: readonly StoryLine[];
}

const NONE: readonly StoryLine[] = [];
