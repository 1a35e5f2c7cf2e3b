import type { OutputLine, OutputPosition } from "../../src/core/events/output-line.ts";
import type { OutputDocument } from "../../src/views/board/dashboard.ts";
import { openStream } from "./ask.ts";
import { readEvents } from "./sse.ts";

export interface FollowOptions {
  readonly stories: readonly string[];
  /** Starts shortly before the current end of the output, and continues with new lines. */
  readonly isTail: boolean;
  /** The reader's position in each story's output; passed by callers that follow other stories later. */
  readonly places?: Map<string, OutputPosition>;
  onLines(story: string, lines: readonly OutputLine[]): void;
}

const LONGEST_PAUSE_MS = 10_000;

/**
 * Streams the output of some stories until it is stopped; after a lost connection it continues at the same position.
 */
export function followOutput({ stories, isTail, places = new Map(), onLines }: FollowOptions): () => void {
  const over = new AbortController();
  const address = (): string => {
    const of = stories.map((story) => {
      const place = places.get(story);
      return place === undefined ? story : `${story}@${place.file}-${place.offset}`;
    });
    return `/output?${new URLSearchParams({ of: of.join(","), ...(isTail ? { tail: "1" } : {}) }).toString()}`;
  };
  const follow = async (): Promise<void> => {
    for (let pauseMs = 500; !over.signal.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      try {
        await readEvents(await openStream(address(), null, over.signal), (events) => {
          pauseMs = 500;
          for (const { name, data } of events) if (name === "output") take(JSON.parse(data) as OutputDocument);
        });
      } catch {
        // The frame around the page shows that the server is unreachable; this retries until it is back.
      }
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  };
  const take = ({ story, lines, place }: OutputDocument): void => {
    if (over.signal.aborted) return;
    places.set(story, place);
    onLines(story, lines);
  };
  void follow();
  return () => over.abort();
}
