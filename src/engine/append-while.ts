import type { Event, Step } from "../domain/event.ts";
import type { StoryId } from "../domain/ids.ts";
import type { Running } from "../domain/story-state.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Writes what came of something that ran. A person may have said something to the same stream meanwhile, and that must
 * not cost the result: it is written behind their word. It is dropped only when it is not ours to give any more,
 * because another engine has taken over.
 */
async function appendUntil(
  ledger: Ledger,
  stream: StoryId | null,
  isOurs: () => boolean,
  events: readonly Event[],
): Promise<boolean> {
  for (;;) {
    if (await ledger.append(stream, events)) return true;
    if (!isOurs() || !ledger.mayWrite(stream)) return false;
  }
}

/** For a story: while what ran for it is still what the journal says runs. */
export function appendWhile(
  ledger: Ledger,
  story: StoryId,
  isOurs: (running: Running) => boolean,
  events: readonly Event[],
): Promise<boolean> {
  const isStillOurs = (): boolean => {
    const { running } = ledger.story(story);
    return running !== null && isOurs(running);
  };
  return appendUntil(ledger, story, isStillOurs, events);
}

/** For the project: while this try of remediation is the one that is under way. */
export function appendToRemediation(ledger: Ledger, attempt: number, events: readonly Event[]): Promise<boolean> {
  return appendUntil(ledger, null, () => ledger.state().remediation?.tries === attempt, events);
}

export const isStep =
  (step: Step) =>
  (running: Running): boolean =>
    running.type === "step" && running.step === step;
