import type { RunState } from "../../core/stories/run-state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Journal, StoredEvent, Watcher } from "../../ports/journal.ts";
import type { RoleRegistry } from "../../ports/agent.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { type OtelApi, flush } from "./load-api.ts";
import { type TelemetryMeasures, type Tally, createMeasures, createTally } from "./measures.ts";
import { type Traces, createTraces, observeRoleRegistry } from "./traces.ts";
import { type LinePieces, piecesIn } from "./work-pieces.ts";

/**
 * Traces and metrics of what this process does. Every worker folds the same journal, so each reports only the lines
 * that it wrote itself: the engine must write to the journal returned from here.
 */
export interface Telemetry {
  /** Wraps the journal that the engine writes to. */
  journal<J extends Pick<Journal, "append">>(journal: J): J;
  /** Wraps a watcher and sees what it sees. */
  watcher(watcher: Watcher): Watcher;
  roleRegistry(roleRegistry: RoleRegistry): RoleRegistry;
  /**
   * Sets the state after the ledger was opened: this process may have to report the end of work that another one began.
   */
  resume(state: RunState): void;
  /** Counts jobs taken over from a lost worker. */
  tookOver(jobs: number): void;
  /** Sends pending telemetry, as far as the SDK can, and stops reporting. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  readonly api: OtelApi;
  readonly version: string;
  readonly project: string;
  /** The worker's name; `null` for a single engine. */
  readonly worker: string | null;
  readonly clock: Clock;
  /** The hash of the journal's first line, which is unique to a journal; `null` while it has no line. */
  readonly identity: string | null;
}

export function createTelemetry({ api, version, project, worker, clock, identity }: TelemetryOptions): Telemetry {
  let mark = identity;
  let latest: RunState | null = null;
  const tally = createTally();
  const own = createOwnLines();
  const always = { "remand.project": project, ...(worker === null ? {} : { "remand.worker": worker }) };
  const traces = createTraces({ api, version, always, identity: () => mark });
  const measures = createMeasures(api, version, { state: () => latest, tally });
  const teller = createLineRecorder({ own, traces, measures, tally });
  return {
    journal: (journal) => own.around(journal),
    watcher: (watcher) => ({
      onOutput: (command, line) => watcher.onOutput(command, line),
      onLines: (lines, state) => {
        mark ??= lines.find(({ position }) => position === 1)?.hash ?? null;
        latest = state;
        teller.see(lines, state);
        watcher.onLines(lines, state);
      },
    }),
    roleRegistry: (roleRegistry) => observeRoleRegistry(roleRegistry, { api, clock, traces, measures }),
    resume: (state) => {
      latest = state;
      teller.resume(state);
      tally.count(state);
    },
    tookOver: (jobs) => measures.tookOver(jobs),
    close: async () => {
      measures.close();
      await flush(api);
    },
  };
}

export interface LineRecorderParts {
  readonly own: OwnLines;
  readonly traces: Traces;
  readonly measures: TelemetryMeasures;
  readonly tally: Tally;
}

export interface LineRecorder {
  /** Sets the state before the next lines. */
  resume(state: RunState): void;
  see(lines: readonly StoredEvent[], state: RunState): void;
}

/** Makes spans and counts from this process's own lines of the journal. */
function createLineRecorder({ own, traces, measures, tally }: LineRecorderParts): LineRecorder {
  let before: RunState | null = null;
  const tell = (story: StoryId, { line, begun, ended }: LinePieces, isOurs: boolean): void => {
    for (const piece of ended) {
      // No worker owns a line that a person wrote: the worker that was doing the interrupted piece reports it.
      if (isOurs || (isPersons(line) && traces.holds(story, piece))) {
        traces.ended(story, piece);
        measures.ended(piece);
      } else traces.givenUp(story, piece);
    }
    if (isOurs && begun !== null) traces.begun(story, begun);
  };
  const seenOf = (story: StoryId | null, lines: readonly StoredEvent[], state: RunState): readonly LinePieces[] => {
    const [past, present] = [storyIn(before, story), storyIn(state, story)];
    if (present === undefined) return lines.map((line) => ({ line, begun: null, ended: [] }));
    tally.moved(past, present);
    return piecesIn(lines, past, present);
  };
  return {
    resume: (state) => {
      before = state;
    },
    see: (lines, state) => {
      for (const [story, storyLines] of byStory(lines))
        for (const seen of seenOf(story, storyLines, state))
          own.whose(seen.line.position, (isOurs) => {
            if (isOurs) measures.step(seen.line.event);
            if (story !== null) tell(story, seen, isOurs);
          });
      before = state;
    },
  };
}

const isPersons = ({ event }: StoredEvent): boolean => event.type === "person.answered" || event.type === "story.held";

function storyIn(run: RunState | null, story: StoryId | null): StoryState | undefined {
  return run === null || story === null ? undefined : lookup(run.stories, story, byText);
}

function byStory(lines: readonly StoredEvent[]): ReadonlyMap<StoryId | null, readonly StoredEvent[]> {
  const groups = new Map<StoryId | null, StoredEvent[]>();
  for (const line of lines) {
    const known = groups.get(line.story);
    if (known === undefined) groups.set(line.story, [line]);
    else known.push(line);
  }
  return groups;
}

/** Tells lines that were appended here from those of other processes. */
export interface OwnLines {
  /** Wraps a journal; what is appended through it counts as this process's own. */
  around<J extends Pick<Journal, "append">>(journal: J): J;
  /** Calls back as soon as it is known who wrote the line: at once, or after the pending appends have ended. */
  whose(position: number, reply: (isOurs: boolean) => void): void;
}

/**
 * A line may be folded before the append that wrote it has resolved, because another caller read the journal in
 * between. So the answer waits until the pending appends have ended. Ask about each line once.
 */
export function createOwnLines(): OwnLines {
  const ours = new Set<number>();
  const waiting = new Map<number, (isOurs: boolean) => void>();
  let appending = 0;
  return {
    around: (journal) => ({
      ...journal,
      append: async (stream, expectedSeq, events, at) => {
        appending++;
        try {
          const appended = await journal.append(stream, expectedSeq, events, at);
          for (const { position } of appended.ok ? appended.stored : []) {
            const reply = waiting.get(position);
            waiting.delete(position);
            if (reply === undefined) ours.add(position);
            else reply(true);
          }
          return appended;
        } finally {
          appending--;
          if (appending === 0) {
            const others = [...waiting.values()];
            waiting.clear();
            for (const reply of others) reply(false);
          }
        }
      },
    }),
    whose: (position, reply) => {
      if (ours.delete(position)) reply(true);
      else if (appending > 0) waiting.set(position, reply);
      else reply(false);
    },
  };
}
