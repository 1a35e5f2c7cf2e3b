import { signal } from "@preact/signals";
import type { StreamedLine } from "../../src/views/board/dashboard.ts";
import { openStream, Refusal } from "./ask.ts";
import { readEvents, type SentEvent } from "./sse.ts";

/** The state of the event stream. `lost`: it is reconnecting. */
export const connection = signal<"connecting" | "live" | "lost" | "refused">("connecting");

/** `null`: data that was loaded before may be out of date. */
type Listener = (lines: readonly StreamedLine[] | null) => void;
const listeners = new Set<Listener>();

/** Calls back with new lines, in batches. Returns a function that stops it. */
export function onLines(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let last: number | null = null;

/** Follows the journal while the page is open, and continues after the last line it has seen. */
export async function follow(): Promise<never> {
  for (let pauseMs = 500; ; pauseMs = Math.min(10_000, pauseMs * 2)) {
    try {
      await read(await openStream("/events", last, new AbortController().signal), () => {
        connection.value = "live";
        pauseMs = 500;
      });
      connection.value = "lost";
    } catch (error) {
      connection.value = error instanceof Refusal && error.status === 401 ? "refused" : "lost";
    }
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

async function read(body: ReadableStream<Uint8Array>, isAlive: () => void): Promise<void> {
  await readEvents(body, (events) => {
    isAlive();
    const lines = events.flatMap(lineIn);
    // After a new connection, or a change of the engine, loaded data may be out of date.
    const isStart = events.some(({ name }) => name === "start" || name === "engine");
    for (const listener of listeners) listener(isStart ? null : lines);
  });
}

function lineIn({ name, id, data }: SentEvent): readonly StreamedLine[] {
  if (id !== undefined) last = Number(id);
  // The journal was replaced: nothing on the page is valid any more.
  if (name === "reset") location.reload();
  return name === "line" && data !== "" ? [JSON.parse(data) as StreamedLine] : [];
}
