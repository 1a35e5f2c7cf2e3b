import { useState } from "preact/hooks";
import type { HeldDocument, StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import { say } from "../ask.ts";
import { hello } from "../hello.ts";
import { asRefusal } from "../use-document.ts";

/** Pauses and resumes a story, like `remand stop` and `remand resume`. */
export function Hold({ story, onChanged }: { readonly story: StoryPageDocument; onChanged(): void }) {
  const { card, isHeld, isRunning } = story;
  const [status, setStatus] = useState("");
  if (card.endedAt !== null) return null;
  const isOff = hello.value?.readOnly !== false;
  const tell = async (path: string, more: object, words: string): Promise<void> => {
    try {
      await say<HeldDocument>(path, { about: story.story.id, ...more });
      setStatus(words);
    } catch (error) {
      const { message, hint } = asRefusal(error);
      setStatus(`${message}. ${hint}`);
    }
    onChanged();
  };
  const hold = (now: boolean): void => {
    const ends = now
      ? "what runs for it is ended"
      : isRunning
        ? "what runs for it ends by itself"
        : "nothing runs for it";
    void tell("/hold", now ? { now } : {}, `Paused: ${ends}, and nothing new starts.`);
  };
  const goOn = "Resumed: a running engine continues with it, otherwise remand run does.";
  return (
    <section aria-label="Pause or resume" class="hold">
      {isHeld ? (
        <button type="button" disabled={isOff} onClick={() => void tell("/release", {}, goOn)}>
          Resume
        </button>
      ) : (
        <button type="button" disabled={isOff} onClick={() => hold(false)}>
          Pause
        </button>
      )}
      {isRunning && !isHeld && (
        <button type="button" disabled={isOff} onClick={() => hold(true)}>
          Pause and stop what runs
        </button>
      )}
      <p role="status">{status}</p>
    </section>
  );
}
