import { useState } from "preact/hooks";
import type { AnswerVerb } from "../../../src/core/stories/escalation.ts";
import { ANSWER_LABELS } from "../../../src/views/answers/likely-answers.ts";
import { countText } from "../../../src/stdx/plain-text.ts";
import { refusalText, say } from "../ask.ts";
import { isReadOnly } from "../hello.ts";
import { asRefusal } from "../use-document.ts";
import { addReceipt, sendAnswer } from "./receipts.tsx";

const VERBS: readonly AnswerVerb[] = ["send-back", "abandon"];

/** What can be done with several stories at once. */
export function BulkActions({ stories, onDone }: { readonly stories: readonly string[]; onDone(): void }) {
  const [verb, setVerb] = useState<AnswerVerb | null>(null);
  const [problem, setProblem] = useState("");
  if (stories.length === 0) return null;
  const run = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      setVerb(null);
      setProblem("");
      onDone();
    } catch (error) {
      setProblem(refusalText(asRefusal(error)));
    }
  };
  const setPaused = (isHeld: boolean): Promise<void> =>
    run(async () => {
      const [about, ...also] = stories;
      await say(isHeld ? "/hold" : "/release", { about, also });
      addReceipt(`${isHeld ? "Paused" : "Resumed"} ${countText(stories.length, "story", "stories")}.`);
    });
  return (
    <div class="together" role="group" aria-label="Selected stories">
      <strong>{stories.length} selected</strong>
      <button type="button" disabled={isReadOnly()} onClick={() => void setPaused(true)}>
        Pause
      </button>
      <button type="button" disabled={isReadOnly()} onClick={() => void setPaused(false)}>
        Resume
      </button>
      {VERBS.map((each) => (
        <button
          type="button"
          disabled={isReadOnly()}
          aria-expanded={verb === each}
          onClick={() => setVerb(verb === each ? null : each)}
          key={each}
        >
          {ANSWER_LABELS[each]}…
        </button>
      ))}
      <button type="button" class="plain" onClick={onDone}>
        Clear
      </button>
      {verb !== null && (
        <BulkMessage
          verb={verb}
          onSend={(message) => void run(() => sendAnswer(stories, { verb, message }))}
          key={verb}
        />
      )}
      {problem !== "" && (
        <p class="need-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function BulkMessage({ verb, onSend }: { readonly verb: AnswerVerb; onSend(message: string): void }) {
  const [message, setMessage] = useState("");
  return (
    <form
      class="need-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(message);
      }}
    >
      <label>
        {verb === "send-back" ? "Instructions for the next attempt" : "Reason, recorded with your name"}
        <textarea rows={2} required value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
      </label>
      <button type="submit" class="primary">
        {ANSWER_LABELS[verb]}
      </button>
    </form>
  );
}
