import type { StoryId } from "../core/events/ids.ts";
import { hearComments as pollComments } from "../engine/pr-comments.ts";
import type { Ledger } from "../engine/ledger.ts";
import type { EngineWorld } from "../engine/world.ts";

export interface PrCommentPoller {
  /** Asks the forge what people said, if that was not done a moment ago. */
  listen(signal: AbortSignal): Promise<boolean>;
  /** Asks every few minutes, and calls back when there is something new. Returns how to stop it. */
  keepPolling(heard: () => void): () => void;
}

/** Listens to what people say on the forge of the work that is proposed there; where there is no forge, to nothing. */
export function prCommentPoller(
  ledger: Ledger,
  { forge, clock }: Pick<EngineWorld, "forge" | "clock">,
  only: ReadonlySet<StoryId> | null,
  onNotice: (text: string) => void,
): PrCommentPoller {
  if (forge === null) return { listen: () => Promise.resolve(false), keepPolling: () => () => undefined };
  let askedAt = -Infinity;
  const poll: PrCommentPoller["listen"] = (signal) => {
    if (clock.now() - askedAt < OFTEN_ENOUGH_MS) return Promise.resolve(false);
    askedAt = clock.now();
    return pollComments({ ledger, forge, only, onNotice }, signal);
  };
  const staying = async (heard: () => void, signal: AbortSignal): Promise<void> => {
    for (;;) {
      await clock.sleep(OFTEN_ENOUGH_MS, signal);
      if (signal.aborted) return;
      if (await poll(signal)) heard();
    }
  };
  return {
    listen: poll,
    keepPolling: (heard) => {
      const stop = new AbortController();
      // Whatever is wrong with the journal is met, and told, by whoever works with it next.
      staying(heard, stop.signal).catch(heard);
      return () => stop.abort();
    },
  };
}

const OFTEN_ENOUGH_MS = 3 * 60_000;
