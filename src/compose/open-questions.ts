import { nextReminderAt, type Notification } from "../domain/notification.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Clock } from "../ports/clock.ts";
import { inboxItems } from "../views/inbox.ts";
import { questionWords } from "../views/notifications.ts";

export interface OpenQuestions {
  /** Those that were open before this engine began; from now on they are raised again when it is time. */
  resume(state: RunState): void;
  /** A question came up (`isAsked`), or one was closed. */
  changed(state: RunState, at: number, isAsked: boolean): void;
  close(): Promise<void>;
}

interface Asked {
  readonly raisedAt: number;
  /** Reminders up to here were somebody's business before. */
  mindedUntil: number;
}

/** Tells of each open question when it comes up, and again as long as nobody has answered it. */
export function createOpenQuestions(
  earlier: { readonly raised: ReadonlyMap<string, number>; readonly lastAt: number },
  clock: Clock,
  tell: (words: Omit<Notification, "project">) => void,
): OpenQuestions {
  const asked = new Map<string, Asked>();
  const closing = new AbortController();
  let turn = new AbortController();
  let newest: RunState | null = null;
  let reminding: Promise<void> = Promise.resolve();

  const mind = (state: RunState, whenNew: (id: string) => Asked, isAsked: boolean, at: number): void => {
    newest = state;
    const open = inboxItems(state);
    const ids = new Set<string>(open.map(({ id }) => id));
    for (const id of asked.keys()) if (!ids.has(id)) asked.delete(id);
    for (const item of open) {
      if (asked.has(item.id)) continue;
      asked.set(item.id, whenNew(item.id));
      if (isAsked) tell(questionWords(item, at, null));
    }
    turn.abort();
  };
  const remindAll = (): void => {
    const now = clock.now();
    for (const item of newest === null ? [] : inboxItems(newest)) {
      const known = asked.get(item.id);
      if (known === undefined || nextReminderAt(known.raisedAt, known.mindedUntil) > now) continue;
      known.mindedUntil = now;
      tell(questionWords(item, now, now - known.raisedAt));
    }
  };
  const remind = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      remindAll();
      turn = new AbortController();
      const due = [...asked.values()].map((each) => nextReminderAt(each.raisedAt, each.mindedUntil) - clock.now());
      await clock.sleep(Math.max(1, Math.min(LONGEST_MS, ...due)), AbortSignal.any([closing.signal, turn.signal]));
    }
  };
  return {
    resume: (state) => {
      const now = clock.now();
      const before = (id: string): Asked => ({
        raisedAt: earlier.raised.get(id) ?? now,
        mindedUntil: earlier.lastAt,
      });
      mind(state, before, false, now);
      reminding = remind();
    },
    changed: (state, at, isAsked) => mind(state, () => ({ raisedAt: at, mindedUntil: at }), isAsked, at),
    close: async () => {
      closing.abort();
      await reminding;
    },
  };
}

const LONGEST_MS = 86_400_000;
