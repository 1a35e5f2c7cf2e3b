import { useState } from "preact/hooks";
import { ANSWER_LABELS } from "../../../src/views/answers/likely-answers.ts";
import type { OpenAnswer } from "../../../src/views/board/dashboard.ts";
import { say } from "../ask.ts";
import { Link } from "../router.tsx";
import { asRefusal } from "../use-document.ts";
import { Ago } from "./marks.tsx";

/** Recent answers on which no work has started: these can still be undone. */
export function Answered({ answered, onUndone }: { readonly answered: readonly OpenAnswer[]; onUndone(): void }) {
  const [status, setStatus] = useState("");
  const undo = async (story: string): Promise<void> => {
    try {
      await say("/undo", { about: story });
      setStatus(`Undone: ${story} is as it was before the answer.`);
    } catch (error) {
      const { message, hint } = asRefusal(error);
      setStatus(`${message}. ${hint}`);
    }
    onUndone();
  };
  return (
    <section aria-label="Answered" class={answered.length === 0 && status === "" ? "quiet" : ""}>
      <p role="status">{status}</p>
      {answered.length > 0 && <h2 class="label">Recent answers</h2>}
      <ul class="rows answered">
        {answered.map(({ story, title, verb, by, message, at }) => (
          <li key={story}>
            <p>
              <Link to={`/story/${story}`}>{title}</Link>: {by} answered <strong>{ANSWER_LABELS[verb]}</strong>
              {message !== "" && `: ${message}`}{" "}
              <span class="muted">
                <Ago at={at} />
              </span>
            </p>
            <button type="button" onClick={() => void undo(story)}>
              Undo<span class="unseen"> the answer to {title}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
