import type { StoryEditor } from "../ports/files.ts";
import { type FoldedJournal, withLine } from "../engine/fold-journal.ts";
import { type RunState, type WithEngine, withEngine } from "../core/stories/run-state.ts";
import type { Journal, StoredEvent, StreamEvents } from "../ports/journal.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Evidence, OutputReader } from "../ports/evidence.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { SecretRules } from "../parse/secrets/secrets.ts";
import type { EngineDocument, HealthDocument, VerifyDocument } from "../views/board/dashboard.ts";

/** The state of the run, kept up to date with a journal that another process writes. */
export interface Live {
  /** The current run; `null` while nothing has run here. */
  now(): Promise<CurrentRun | null>;
  /** Resolves when there may be new lines, or when the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface CurrentRun {
  readonly state: RunState & WithEngine;
  readonly view: RunView;
  readonly folded: FoldedJournal;
  readonly engine: EngineDocument;
}

/** How often the server looks for a journal that does not exist yet. */
const LOOK_EVERY_MS = 500;
/** How often the server checks whether the engine is still running. */
const ENGINE_EVERY_MS = 1000;

export function createLive(source: Pick<DashboardSource, "openView" | "engine">): Live {
  const waiting = new Set<() => void>();
  let view: RunView | null = null;
  let folded: FoldedJournal | null = null;
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
    // The snapshot is as large as the run, so only the state folded from it is kept.
    folded = { ...view.folded, kept: null };
    unwatch = view.journal.watch(tell);
    clearInterval(timer);
  };
  const follower = followEngine(source, tell);
  const catchUp = async (): Promise<CurrentRun | null> => {
    await open();
    if (view === null || folded === null || closed) return null;
    for await (const line of view.lines(folded.position)) folded = { ...folded, ...withLine(folded, line) };
    return { view, folded, ...(await follower.beside(folded.state)) };
  };
  /** One after the other: two at once would fold a line twice. An error is returned only to its own caller. */
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
      follower.close();
      unwatch();
      tell();
      await turn.catch(() => null);
      await view?.close();
    },
  };
}

interface EngineFollower {
  /** The state with what is known about the engine. Returns the same value as long as both are unchanged. */
  beside(state: RunState): Promise<Pick<CurrentRun, "state" | "engine">>;
  close(): void;
}

/** Checks every second whether an engine is running, and reports changes. */
function followEngine(source: Pick<DashboardSource, "engine">, onChange: () => void): EngineFollower {
  let owner: EngineOwner | "fleet" | null | undefined;
  let known: { from: RunState; value: Pick<CurrentRun, "state" | "engine"> } | null = null;
  const look = async (): Promise<void> => {
    const now = await source.engine();
    const isSame = JSON.stringify(now) === JSON.stringify(owner);
    const isFirst = owner === undefined;
    owner = now;
    if (isSame) return;
    known = null;
    if (!isFirst) onChange();
  };
  // An error is reported by the next request.
  const timer = setInterval(() => void look().catch(() => undefined), ENGINE_EVERY_MS);
  timer.unref();
  return {
    beside: async (from) => {
      await look();
      if (known?.from === from) return known.value;
      const state = withEngine(from, owner !== null);
      known = { from, value: { state, engine: engineDocument(state, owner ?? null) } };
      return known.value;
    },
    close: () => clearInterval(timer),
  };
}

function engineDocument(run: RunState & WithEngine, owner: EngineOwner | "fleet" | null): EngineDocument {
  const { developers, critics, auditors } = run.busy;
  const limits = run.policy?.concurrency;
  const isGone = run.engine === "gone";
  return {
    state: owner === "fleet" ? "fleet" : owner === null ? (isGone ? "gone" : "stopped") : "running",
    since: owner === null || owner === "fleet" ? null : owner.since,
    pid: owner === null || owner === "fleet" ? null : owner.pid,
    busy: owner === null ? 0 : developers + critics + auditors,
    most: limits === undefined ? null : limits.developers + limits.critics + limits.auditors,
  };
}

/** The process that drives the stories. */
export interface EngineOwner {
  readonly pid: number;
  readonly since: number;
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

/** At most `most` lines after a position. */
export async function someLines(view: RunView, after: number, most: number): Promise<readonly StoredEvent[]> {
  const lines: StoredEvent[] = [];
  if (most <= 0) return lines;
  for await (const line of view.lines(after)) {
    lines.push(line);
    if (lines.length >= most) break;
  }
  return lines;
}

/** What the server needs from outside. It owns nothing: another process may run the engine. */
export interface DashboardSource {
  /** The name of the project, for the top of the page. */
  readonly project: string;
  readonly version: string;
  /** The person in whose name answers are given. */
  readonly by: string;
  readonly readOnly: boolean;
  /** Secrets to remove, beyond the well-known patterns. */
  readonly secrets: SecretRules;
  /** The built pages, by path. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** `null` while nothing has run here. */
  openView(): Promise<RunView | null>;
  /** `known`: the state that was already folded, so that only newer lines are read. */
  appendEach(streams: readonly StreamEvents[], known: FoldedJournal): Promise<void>;
  verify(): Promise<VerifyDocument | null>;
  health(): Promise<HealthDocument>;
  /** The folder of the story's files, if it exists. */
  placeOf(story: StoryId): string | null;
  now(): number;
  /** The engine that works here now; `null` for none. */
  engine(): Promise<EngineOwner | "fleet" | null>;
  /** Starts an engine that outlives this server; throws, with the reason, if it does not start. */
  startEngine(): Promise<void>;
  readonly output: OutputReader;
  /** The story files. `write` throws, with the reason, if no person may have asked for the change. */
  readonly stories: StoryEditor;
  /** Hashes of the tokens that earlier servers of the same person issued, so that open tabs keep working. */
  readonly earlierTokens?: readonly string[];
}

/** An open view of the journal. */
export interface RunView {
  readonly folded: FoldedJournal;
  readonly journal: Pick<Journal, "head" | "watch">;
  readonly evidence: Pick<Evidence, "read">;
  lines(after: number): AsyncIterable<StoredEvent>;
  workspace(): Promise<Pick<Workspace, "diff" | "fileAt">>;
  close(): Promise<void>;
}

export interface Asset {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
