import type { LineTexts } from "./line-texts.ts";
import type { Live } from "./live.ts";

export interface StreamOptions {
  readonly live: Live;
  /** The last line that the reader has; `null`: it has none, is told where it starts, and gets what comes after. */
  readonly after: number | null;
  readonly signal: AbortSignal;
  readonly texts: LineTexts;
}

/** How long a connection may be silent before something is sent, so that both ends know that it stands. */
const PULSE_MS = 15_000;
/** What one write holds at most. */
const MOST_LINES = 200;

/**
 * The journal's lines as server-sent events, each with its place as its id. The reader pulls: who does not read holds
 * one position and no lines, whatever is written meanwhile, and goes on from there.
 */
export function lineStream({ live, after, signal, texts }: StreamOptions): ReadableStream<Uint8Array> {
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const encoder = new TextEncoder();
  let cursor = after;

  const next = async (): Promise<string> => {
    const present = await live.now();
    if (present === null) {
      cursor = 0;
      return "";
    }
    const { state, sight } = present;
    if (cursor === null) {
      cursor = state.position;
      return `id: ${cursor}\nevent: start\ndata: {}\n\n`;
    }
    // A journal that is shorter than what the reader has seen is another journal.
    if (cursor > state.position) {
      cursor = state.position;
      return `id: ${cursor}\nevent: reset\ndata: {}\n\n`;
    }
    const { text, position } = await texts.after(sight, cursor, MOST_LINES);
    cursor = position;
    return text;
  };

  /** Waits for lines, or for the time to show that the connection stands. `null`: it is over. */
  const nextText = async (): Promise<string | null> => {
    while (!stop.aborted) {
      const pulse = AbortSignal.timeout(PULSE_MS);
      // Asked for before it is looked: what is written in between is not missed.
      const changed = live.changed(AbortSignal.any([stop, pulse]));
      const text = await next();
      if (text !== "") return text;
      await changed;
      if (pulse.aborted && !stop.aborted) return ": pulse\n\n";
    }
    return null;
  };

  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`retry: 1000\n: connected\n\n`)),
    pull: async (controller) => {
      const text = await nextText().catch((error: unknown) => {
        // Whoever has gone, or is being let go of, is told of no error.
        if (stop.aborted) return null;
        throw error;
      });
      if (text === null) return controller.close();
      controller.enqueue(encoder.encode(text));
    },
    cancel: () => over.abort(),
  });
}
