import { useState } from "preact/hooks";
import { clockTime, localTime } from "../time.ts";
import { Words } from "./words.tsx";
import { UNICODE_GLYPHS } from "../../../src/views/text/words.ts";
import type { StoryLine } from "../../../src/views/story/story-lines.ts";
import { KeptText } from "./kept-text.tsx";
import { RawLine } from "./raw-line.tsx";

const DEPTHS = ["summary", "raw events"] as const;
/** How many entries are shown until the user asks for more. */
const SHOWN = 100;

/** The events, newest last, as text or as raw events. */
export function Timeline({ lines }: { readonly lines: readonly StoryLine[] }) {
  const [depth, setDepth] = useState<(typeof DEPTHS)[number]>("summary");
  const [most, setMost] = useState(SHOWN);
  const entries = depth === "summary" ? lines.filter(({ entry }) => entry !== null) : lines;
  const shown = entries.slice(-most);
  return (
    <section>
      <div class="section-head">
        <h2>What happened</h2>
        <fieldset class="switch">
          <legend class="unseen">Depth</legend>
          {DEPTHS.map((each) => (
            <label key={each}>
              <input type="radio" name="depth" checked={depth === each} onChange={() => setDepth(each)} />
              {each}
            </label>
          ))}
        </fieldset>
      </div>
      {entries.length > shown.length && (
        <button type="button" onClick={() => setMost(most + 500)}>
          {entries.length - shown.length} earlier
        </button>
      )}
      <ol class="timeline">
        {shown.map((line) =>
          depth === "summary" ? <Told line={line} key={line.position} /> : <RawLine line={line} key={line.position} />,
        )}
      </ol>
    </section>
  );
}

function Told({ line: { at, entry, kept } }: { readonly line: StoryLine }) {
  if (entry === null) return null;
  return (
    <li class={`mark-${entry.mark}`}>
      <span class="sign" aria-hidden="true">
        {UNICODE_GLYPHS.marks[entry.mark]}
      </span>
      <div>
        <p>
          <Words text={entry.text} />
        </p>
        {entry.details.length > 0 && <pre tabIndex={0}>{entry.details.join("\n")}</pre>}
        {kept.map(({ id, label }) => (
          <KeptText id={id} label={label} isProse={!label.startsWith("evidence")} key={id} />
        ))}
      </div>
      <time dateTime={new Date(at).toISOString()} title={localTime(at)}>
        {clockTime(at)}
      </time>
    </li>
  );
}
