import type { Event } from "../domain/event.ts";
import type { StoryId } from "../domain/ids.ts";
import type { Running } from "../domain/story-state.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Writes what came of something that ran. A person may have said something to the same story meanwhile, and that must
 * not cost the result: it is written behind their word. It is dropped only when it is not ours to give any more,
 * because another engine has taken the story over.
 */
export async function appendWhile(
  ledger: Ledger,
  story: StoryId,
  isOurs: (running: Running) => boolean,
  events: readonly Event[],
): Promise<boolean> {
  for (;;) {
    if (await ledger.append(story, events)) return true;
    const { running } = ledger.story(story);
    if (running === null || !isOurs(running)) return false;
  }
}
