import { withLine } from "../engine/fold-journal.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Journal, StoredEvent } from "../ports/journal.ts";
import type { Event } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { SecretRules } from "../parse/secrets/secrets.ts";
import type { HealthDocument, VerifyDocument } from "../views/board/dashboard.ts";

/** The state of the run, kept in step with a journal that another process writes. */
export interface Live {
  /** What there is now; `null` while nothing has run here. */
  now(): Promise<CurrentRun | null>;
  /** Resolves when there may be new lines, or when the signal says stop. */
  changed(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface CurrentRun {
  readonly state: RunState;
  readonly view: RunView;
}

/** How often a journal that is not there yet is looked for. */
const LOOK_EVERY_MS = 500;

export function createLive(source: Pick<DashboardSource, "openView">): Live {
  const waiting = new Set<() => void>();
  let view: RunView | null = null;
  let folded: ReturnType<typeof withLine> | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  let unwatch = (): void => undefined;
  let closed = false;

  const tell = (): void => {
    for (const wake of waiting) wake();
  };
  const open = async (): Promise<void> => {
    if (view !== null || closed) return;
    view = await source.openView();
    if (view === null) return;
    folded = { state: view.state, position: view.state.position, seqs: new Map(), odd: new Set() };
    unwatch = view.journal.watch(tell);
    clearInterval(timer);
  };
  const catchUp = async (): Promise<CurrentRun | null> => {
    await open();
    if (view === null || folded === null || closed) return null;
    for await (const line of view.lines(folded.position)) folded = withLine(folded, line);
    return { state: folded.state, view };
  };
  /** One after the other: two at once would fold a line twice. An error is returned to its own caller. */
  const now = (): Promise<CurrentRun | null> => {
    const next = turn.then(catchUp, catchUp);
    turn = next;
    return next;
  };
  // A failure is reported to the next request.
  const timer = setInterval(
    () => void now().then((currentRun) => (currentRun === null ? null : tell()), tell),
    LOOK_EVERY_MS,
  );
  timer.unref();

  return {
    now,
    changed: (signal) => whenWoken(waiting, signal),
    close: async () => {
      closed = true;
      clearInterval(timer);
      unwatch();
      tell();
      await turn.catch(() => null);
      await view?.close();
    },
  };
}

function whenWoken(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const wake = (): void => {
      waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      done();
    };
    waiting.add(wake);
    signal.addEventListener("abort", wake);
    if (signal.aborted) wake();
  });
}

/** At most so many lines after a place. */
export async function someLines(view: RunView, after: number, most: number): Promise<readonly StoredEvent[]> {
  const lines: StoredEvent[] = [];
  if (most <= 0) return lines;
  for await (const line of view.lines(after)) {
    lines.push(line);
    if (lines.length >= most) break;
  }
  return lines;
}

/** What the server asks of the world. It owns nothing: another process may run the engine. */
export interface DashboardSource {
  /** The name of the project, for the top of the page. */
  readonly project: string;
  readonly version: string;
  /** Whose word an answer is. */
  readonly by: string;
  readonly readOnly: boolean;
  /** What is never sent, beyond the well-known patterns. */
  readonly secrets: SecretRules;
  /** The built pages, by their address. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** `null` while nothing has run here. */
  openView(): Promise<RunView | null>;
  appendEvents(stream: StoryId | null, events: readonly Event[]): Promise<void>;
  verify(): Promise<VerifyDocument | null>;
  health(): Promise<HealthDocument>;
  /** Where the story's files are, if they are there. */
  placeOf(story: StoryId): string | null;
  now(): number;
}

/** A look at the journal that stays open. */
export interface RunView {
  readonly state: RunState;
  readonly journal: Pick<Journal, "head" | "watch">;
  readonly evidence: Pick<Evidence, "read">;
  lines(after: number): AsyncIterable<StoredEvent>;
  workspace(): Promise<Pick<Workspace, "diff">>;
  close(): Promise<void>;
}

export interface Asset {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
