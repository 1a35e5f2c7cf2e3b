import type { Journal } from "../../ports/journal.ts";

/** Tells the lines that were appended here from those that others wrote. */
export interface OwnLines {
  /** The same journal, but what is appended through it is known to be ours. */
  around<J extends Pick<Journal, "append">>(journal: J): J;
  /** Calls back as soon as it is known whose line it is: at once, or when the appends that are under way have ended. */
  whose(position: number, told: (isOurs: boolean) => void): void;
}

/**
 * A line may be folded before the append that wrote it has resolved, because somebody read on in between. So whoever
 * asks is answered when both are known, and each line is asked about once.
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
            const told = waiting.get(position);
            waiting.delete(position);
            if (told === undefined) ours.add(position);
            else told(true);
          }
          return appended;
        } finally {
          appending--;
          if (appending === 0) {
            const others = [...waiting.values()];
            waiting.clear();
            for (const told of others) told(false);
          }
        }
      },
    }),
    whose: (position, told) => {
      if (ours.delete(position)) told(true);
      else if (appending > 0) waiting.set(position, told);
      else told(false);
    },
  };
}
