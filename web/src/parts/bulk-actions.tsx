import { useState } from "preact/hooks";
import type { AnswerVerb } from "../../../src/core/stories/escalation.ts";
import { ANSWER_LABELS } from "../../../src/views/answers/likely-answers.ts";
import { countText } from "../../../src/stdx/plain-text.ts";
import { refusalText, say } from "../ask.ts";
import { isReadOnly } from "../hello.ts";
import { asRefusal } from "../use-document.ts";
import { AnswerProblem, MessageForm } from "./needs-you.tsx";
import { addReceipt, sendAnswer } from "./receipts.tsx";

/** Answers for several stories at once, with their effects. */
const VERBS = {
  "send-back": "Your instructions go into the next brief of each",
  abandon: "Each story ends as failed; its branch stays",
} as const satisfies { readonly [V in AnswerVerb]?: string };
type BulkVerb = keyof typeof VERBS;

/** Actions for the selected stories. */
export function BulkActions({ stories, onDone }: { readonly stories: readonly string[]; onDone(): void }) {
  const [verb, setVerb] = useState<BulkVerb | null>(null);
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
      {(Object.keys(VERBS) as BulkVerb[]).map((each) => (
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
        <MessageForm
          answer={{ verb, label: ANSWER_LABELS[verb], does: VERBS[verb], price: "" }}
          onSend={(message) => void run(() => sendAnswer(stories, { verb, message }))}
          onCancel={() => setVerb(null)}
          key={verb}
        />
      )}
      <AnswerProblem text={problem} />
    </div>
  );
}
