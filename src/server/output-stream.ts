import type { OutputPosition } from "../core/events/output-line.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { OutputReader } from "../ports/evidence.ts";
import type { OutputDocument } from "../views/board/dashboard.ts";
import { numberIn } from "./context.ts";

/** A story whose output is streamed, and the position after which to continue. */
export interface FollowedStory {
  readonly story: StoryId;
  readonly after: OutputPosition | null;
}

export interface OutputStreamOptions {
  readonly output: OutputReader;
  readonly stories: readonly FollowedStory[];
  readonly signal: AbortSignal;
  /** Removes secrets and terminal control codes from a text. */
  clean(text: string): string;
}

/** How often the files are read: faster than people read, slower than the engine writes. */
const LOOK_EVERY_MS = 200;
/** How long a connection may be silent before a keep-alive is sent. */
const PULSE_MS = 15_000;

/**
 * Streams the output of some stories as server-sent events. The reader pulls: a slow reader costs file positions and no
 * buffered lines, and a reader that comes back continues with what the files still contain.
 */
export function outputStream({ output, stories, signal, clean }: OutputStreamOptions): ReadableStream<Uint8Array> {
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const encoder = new TextEncoder();
  const places = new Map(stories.map(({ story, after }) => [story, after]));

  const next = async (): Promise<string> => {
    const texts: string[] = [];
    for (const [story, after] of places) {
      const page = await output.read(story, after);
      places.set(story, page.place);
      if (page.lines.length > 0)
        texts.push(`event: output\ndata: ${JSON.stringify(cleanPage({ story, ...page }, clean))}\n\n`);
    }
    return texts.join("");
  };
  /** Waits for lines, or for the time of the next keep-alive. `null`: the stream has ended. */
  const nextText = async (): Promise<string | null> => {
    for (const pulse = Date.now() + PULSE_MS; !stop.aborted; await pause(LOOK_EVERY_MS, stop)) {
      const text = await next();
      if (text !== "") return text;
      if (Date.now() > pulse) return ": pulse\n\n";
    }
    return null;
  };

  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode("retry: 1000\n: connected\n\n")),
    pull: async (controller) => {
      const text = await nextText();
      if (text === null) return controller.close();
      controller.enqueue(encoder.encode(text));
      // Never faster than people can read, however much is printed.
      await pause(LOOK_EVERY_MS, stop);
    },
    cancel: () => over.abort(),
  });
}

const cleanPage = (page: OutputDocument, clean: (text: string) => string): OutputDocument => ({
  ...page,
  lines: page.lines.map((line) => ({ ...line, step: clean(line.step), text: withColors(line.text, clean) })),
});

// oxlint-disable-next-line no-control-regex -- how a terminal is told a color
const COLORS = /\u001b\[[0-9;:]*m/g;

/** Removes colors if anything else has to be removed: color codes could split a secret in two. */
function withColors(text: string, clean: (text: string) => string): string {
  const cleaned = clean(text);
  return text.replaceAll(COLORS, "") === cleaned ? text : cleaned;
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener("abort", end);
    if (stop.aborted) end();
  });
}

/** Parses `3-1024`: the third file, after this many bytes. */
function placeIn(text: string | undefined): OutputPosition | null {
  const [file, offset] = (text ?? "").split("-").map(numberIn);
  return file == null || offset == null ? null : { file, offset };
}

/** The maximum number of stories per stream. */
const MOST_STORIES = 40;

/** Parses `login@3-1024,search`: each story, with the position after which to continue if the reader has one. */
export function followedIn(text: string, known: (id: string) => StoryId): readonly FollowedStory[] {
  return text
    .split(",")
    .filter((each) => each !== "")
    .slice(0, MOST_STORIES)
    .map((each) => {
      const [id = "", place] = each.split("@");
      return { story: known(id), after: placeIn(place) };
    });
}

/** Stories without a position start shortly before the end. */
export function fromTheEnd(
  followed: readonly FollowedStory[],
  output: OutputReader,
): Promise<readonly FollowedStory[]> {
  return Promise.all(
    followed.map(async ({ story, after }) => ({ story, after: after ?? (await output.lastPlace(story)) })),
  );
}
