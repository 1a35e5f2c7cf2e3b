import { setImmediate as nextTurn } from "node:timers/promises";
import { RemandError } from "../../core/events/error.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { AppendResult } from "../../ports/journal.ts";
import { assert } from "../../stdx/assert.ts";
import { ownRedactor } from "../process/own-secrets.ts";
import type { EventText } from "./chain.ts";

/** The write of one caller: all of it or nothing. */
export type Write = Append | Put;

export interface Append {
  readonly stream: StoryId | null;
  readonly expectedSeq: number;
  readonly events: readonly EventText[];
  readonly at: number;
}

/** A text for the outbox. It adds no line. */
export interface Put {
  readonly key: string;
  readonly text: string;
}

export interface GroupWriter {
  write(write: Write): Promise<AppendResult>;
  /** Resolves when everything is written; `false` if the writer was already closed. */
  close(): Promise<boolean>;
}

interface PendingWrite {
  readonly write: Write;
  resolve(appended: AppendResult): void;
  reject(error: unknown): void;
}

/** Collects the writes of one moment and commits them together, one group after the other. */
export function createGroupWriter(commit: (group: readonly Write[]) => Promise<readonly AppendResult[]>): GroupWriter {
  let waiting: PendingWrite[] = [];
  let running: Promise<void> | null = null;
  let closed = false;
  const gathered = createGathering();

  const settle = async (group: readonly PendingWrite[]): Promise<void> => {
    try {
      const outcomes = await commit(group.map((each) => each.write));
      for (const [i, each] of group.entries()) each.resolve(outcomes[i]!);
    } catch (error) {
      // Retry one by one: when the group fails (say, for the last space on a disk), single writes may still succeed.
      const oneByOne = group.length > 1 && !isAboutAll(error);
      for (const each of group) {
        if (oneByOne) await settle([each]);
        else each.reject(error);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const timed = await gathered();
      const group = waiting;
      waiting = [];
      await settle(group);
      timed();
    }
    running = null;
  };

  return {
    write: async (write) => {
      assert(!closed, "the journal is closed");
      return new Promise<AppendResult>((resolve, reject) => {
        waiting.push({ write: withoutSecrets(write), resolve, reject });
        running ??= run();
      });
    },
    close: async () => {
      const isFirst = !closed;
      closed = true;
      await running;
      return isFirst;
    },
  };
}

/** Redacts texts of the outbox. Events were redacted when they were serialized; see `keptEvent`. */
const withoutSecrets = (write: Write): Write =>
  "key" in write ? { ...write, text: ownRedactor().json(write.text) } : write;

/**
 * Waits for writes that come at the same moment. If commits are slow, it waits a whole turn of the event loop, so that
 * all pending callers can write. If they are quick, a turn would cost more than it saves, so it waits only until the
 * callers of this turn await something. The returned function must be called after the commit.
 */
function createGathering(): () => Promise<() => void> {
  let tookMs = Infinity;
  let turnedAt = -Infinity;
  return async () => {
    // Without a full turn now and then, a caller that writes without a pause would block signals, timers and program
    // output.
    if (tookMs > QUICK_MS || performance.now() - turnedAt > TURN_MS) {
      await nextTurn();
      turnedAt = performance.now();
    } else await new Promise<void>((resolve) => process.nextTick(resolve));
    const begin = performance.now();
    return () => {
      tookMs = performance.now() - begin;
    };
  };
}

const QUICK_MS = 1;
const TURN_MS = 10;

/** Whether the error would hit every write: retrying each one would only wait as long again. */
const isAboutAll = (error: unknown): boolean =>
  error instanceof RemandError && ["journal-locked", "journal-unreachable"].includes(error.code);
