import { setImmediate as nextTurn } from "node:timers/promises";
import { RemandError } from "../../domain/error.ts";
import type { StoryId } from "../../domain/ids.ts";
import type { Appended } from "../../ports/journal.ts";
import { assert } from "../../stdx/assert.ts";

/** What one caller wants written, all of it or nothing. */
export type Write = Append | Put;

export interface Append {
  readonly stream: StoryId | null;
  readonly expectedSeq: number;
  /** The events as they are kept. */
  readonly texts: readonly string[];
  readonly at: number;
}

/** A text for the outbox. It makes no line. */
export interface Put {
  readonly key: string;
  readonly text: string;
}

export interface GroupWriter {
  write(write: Write): Promise<Appended>;
  /** Resolves when all is written; `false` when it was closed before. */
  close(): Promise<boolean>;
}

interface Waiting {
  readonly write: Write;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** Gathers what comes in one turn of the event loop, and has it committed in one go, one group after the other. */
export function createGroupWriter(commit: (group: readonly Write[]) => Promise<readonly Appended[]>): GroupWriter {
  let waiting: Waiting[] = [];
  let running: Promise<void> | null = null;
  let closed = false;

  const settle = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const outcomes = await commit(group.map((each) => each.write));
      for (const [i, each] of group.entries()) each.resolve(outcomes[i]!);
    } catch (error) {
      // What one of them cannot have the others may: the last room on a disk, say.
      const oneByOne = group.length > 1 && !isAboutAll(error);
      for (const each of group) {
        if (oneByOne) await settle([each]);
        else each.reject(error);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      await nextTurn();
      const group = waiting;
      waiting = [];
      await settle(group);
    }
    running = null;
  };

  return {
    write: async (write) => {
      assert(!closed, "the journal is closed");
      return new Promise<Appended>((resolve, reject) => {
        waiting.push({ write, resolve, reject });
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

/** Each of them would wait as long again, for nothing. */
const isAboutAll = (error: unknown): boolean =>
  error instanceof RemandError && ["journal-locked", "journal-unreachable"].includes(error.code);
