import type { Journal } from "../../ports/journal.ts";
import type { SqliteDatabase } from "./sqlite.ts";

/** Tells watchers of this process's lines at once, and of other processes' by looking. */
export interface Watch {
  watch: Journal["watch"];
  /** There are new lines of this process. */
  tell(): void;
  close(): void;
}

/** How often the file is asked. SQLite answers from shared memory, so it costs next to nothing. */
const POLL_MS = 100;

export function createWatch(db: SqliteDatabase): Watch {
  const asked = db.prepare("PRAGMA data_version");
  const watchers = new Set<Parameters<Journal["watch"]>[0]>();
  let timer: NodeJS.Timeout | null = null;
  let seen: unknown;

  const tell = (whose: "ours" | "others"): void => {
    for (const watcher of watchers) watcher(whose);
  };
  /** The number changes when, and only when, another connection has written. */
  const version = (): unknown => (asked.get() as { data_version: number }).data_version;
  const look = (): void => {
    let now: unknown;
    try {
      now = version();
    } catch {
      // Whoever watches reads next, and reading says in full what is wrong with the file.
      tell("others");
      return;
    }
    if (now === seen) return;
    seen = now;
    tell("others");
  };
  const rest = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };

  return {
    watch: (notice) => {
      // A watcher of its own for each call, so that the same function can watch twice.
      const watcher: typeof notice = (whose) => notice(whose);
      watchers.add(watcher);
      if (timer === null) {
        seen = version();
        timer = setInterval(look, POLL_MS);
      }
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0) rest();
      };
    },
    tell: () => tell("ours"),
    close: () => {
      watchers.clear();
      rest();
    },
  };
}
