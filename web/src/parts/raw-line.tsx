import { useState } from "preact/hooks";
import { localTime } from "../time.ts";
import type { StoryLine } from "../../../src/views/story/story-lines.ts";
import { ask } from "../ask.ts";
import { asRefusal } from "../use-document.ts";

/** A journal line as it was written: its position, type and hash, and the full text when it is opened. */
export function RawLine({ line }: { readonly line: StoryLine }) {
  const [whole, setWhole] = useState("");
  const loadText = (event: { readonly currentTarget: HTMLDetailsElement }): void => {
    if (!event.currentTarget.open || whole !== "") return;
    ask<object>(`/lines/${line.position}`).then(
      (value) => setWhole(JSON.stringify(value, null, 2)),
      (error: unknown) => setWhole(asRefusal(error).message),
    );
  };
  return (
    <li class="raw">
      <details onToggle={loadText}>
        <summary>
          <span class="raw-line">
            <span class="muted number">{line.position}</span> <strong>{line.story ?? "the run"}</strong>{" "}
            <code>{line.type}</code> <span class="raw-words">{line.words}</span>{" "}
            <time dateTime={new Date(line.at).toISOString()}>{localTime(line.at)}</time>{" "}
            <code class="hash" title={line.hash}>
              {line.hash.slice(0, 10)}
            </code>
          </span>
        </summary>
        {whole !== "" && <pre tabIndex={0}>{whole}</pre>}
      </details>
    </li>
  );
}
