import type { Config } from "../config/config.ts";
import type { StoryId } from "../core/events/ids.ts";
import { readComments as pollComments } from "../engine/pr-comments.ts";
import type { Ledger } from "../engine/ledger.ts";
import type { EngineWorld } from "../engine/world.ts";

export interface PrCommentPoller {
  /** Asks the forge for new comments, unless it was asked a moment ago. */
  poll(signal: AbortSignal): Promise<boolean>;
  /** Asks every few minutes and calls back on new comments. Returns a function that stops it. */
  keepPolling(onNew: () => void): () => void;
}

/** Reads the comments on proposed work from the forge; without a forge, does nothing. */
export function prCommentPoller(
  ledger: Ledger,
  { forge, clock }: Pick<EngineWorld, "forge" | "clock">,
  only: ReadonlySet<StoryId> | null,
  people: Config["people"],
  onNotice: (text: string) => void,
): PrCommentPoller {
  if (forge === null) return { poll: () => Promise.resolve(false), keepPolling: () => () => undefined };
  const accounts = Object.values(people).map(({ github }) => github);
  let askedAt = -Infinity;
  const poll: PrCommentPoller["poll"] = (signal) => {
    if (clock.now() - askedAt < OFTEN_ENOUGH_MS) return Promise.resolve(false);
    askedAt = clock.now();
    return pollComments({ ledger, forge, only, people: accounts, onNotice }, signal);
  };
  const pollAgain = async (onNew: () => void, signal: AbortSignal): Promise<void> => {
    for (;;) {
      await clock.sleep(OFTEN_ENOUGH_MS, signal);
      if (signal.aborted) return;
      if (await poll(signal)) onNew();
    }
  };
  return {
    poll,
    keepPolling: (onNew) => {
      const stop = new AbortController();
      // An error of the journal is reported by its next use.
      pollAgain(onNew, stop.signal).catch(onNew);
      return () => stop.abort();
    },
  };
}

const OFTEN_ENOUGH_MS = 3 * 60_000;
