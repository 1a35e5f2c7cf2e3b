import type { OutputPlace } from "../core/events/output-line.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { OutputReader } from "../ports/evidence.ts";
import type { OutputDocument } from "../views/board/dashboard.ts";
import { numberIn } from "./context.ts";

/** A story whose output is followed, and the place after which it goes on. */
export interface FollowedStory {
  readonly story: StoryId;
  readonly after: OutputPlace | null;
}

export interface OutputStreamOptions {
  readonly output: OutputReader;
  readonly stories: readonly FollowedStory[];
  readonly signal: AbortSignal;
  /** A text without secrets and without what could steer a terminal. */
  clean(text: string): string;
}

/** How often the files are looked at: faster than the eye reads, slower than the engine writes. */
const LOOK_EVERY_MS = 200;
/** How long a connection may be silent before something is sent, so that both ends know that it stands. */
const PULSE_MS = 15_000;

/**
 * What is printed for some stories, as server-sent events. The reader pulls: who does not read holds places in files
 * and no lines, and a reader who was away goes on with what the files still have.
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
  /** Waits for lines, or for the time to show that the connection stands. `null`: it is over. */
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
      // Not more often than the eye reads, however much is printed.
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

/** Colors stay where nothing else has to be taken out: a secret may be cut in two by them. */
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

/** `3-1024`: the third file, after so many bytes. */
function placeIn(text: string | undefined): OutputPlace | null {
  const [file, offset] = (text ?? "").split("-").map(numberIn);
  return file == null || offset == null ? null : { file, offset };
}

/** Stories that one stream may follow. */
const MOST_STORIES = 40;

/** `login@3-1024,search`: each story, with the place after which it goes on where the reader has one. */
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

/** Who has no place yet begins shortly before the end. */
export function fromTheEnd(
  followed: readonly FollowedStory[],
  output: OutputReader,
): Promise<readonly FollowedStory[]> {
  return Promise.all(
    followed.map(async ({ story, after }) => ({ story, after: after ?? (await output.lastPlace(story)) })),
  );
}
