import { useState } from "preact/hooks";
import { clockTime, localTime } from "../time.ts";
import { now } from "../clock.ts";
import { Words } from "./words.tsx";
import { UNICODE_GLYPHS, durationText } from "../../../src/views/text/words.ts";
import type { StoryLine } from "../../../src/views/story/story-lines.ts";
import { KeptText } from "./kept-text.tsx";
import { RawLine } from "./raw-line.tsx";

const DEPTHS = ["summary", "bars", "raw events"] as const;
/** How many are shown until the user asks for more. */
const SHOWN = 100;

/** What happened, newest last, at three depths. */
export function Timeline({ lines }: { readonly lines: readonly StoryLine[] }) {
  const [depth, setDepth] = useState<(typeof DEPTHS)[number]>("summary");
  const [most, setMost] = useState(SHOWN);
  const told = depth === "summary" ? lines.filter(({ entry }) => entry !== null) : lines;
  const shown = told.slice(-most);
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
      {depth !== "bars" && told.length > shown.length && (
        <button type="button" onClick={() => setMost(most + 500)}>
          {told.length - shown.length} earlier
        </button>
      )}
      {depth === "bars" ? (
        <Bars lines={lines} />
      ) : (
        <ol class="timeline">
          {shown.map((line) =>
            depth === "summary" ? (
              <Told line={line} key={line.position} />
            ) : (
              <RawLine line={line} key={line.position} />
            ),
          )}
        </ol>
      )}
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

/** What has started and not ended: it grows until now. */
function runningBars(lines: readonly StoryLine[]) {
  const last = lines.findLast(({ bar, start }) => bar !== null || start !== null);
  if (last?.start == null) return [];
  const { label, lane } = last.start;
  return [{ lane, from: last.at, to: now.value, label, result: "running" as const, position: last.position }];
}

/** Who was busy when. The same in words stands in the summary. */
function Bars({ lines }: { readonly lines: readonly StoryLine[] }) {
  const ended = lines.flatMap(({ at, bar, position }) => (bar === null ? [] : [{ ...bar, to: at, position }]));
  const bars = [...ended, ...runningBars(lines)];
  if (bars.length === 0) return <p class="muted">Nothing has started yet.</p>;
  const from = Math.min(...bars.map((bar) => bar.from));
  const span = Math.max(1, Math.max(...bars.map((bar) => bar.to)) - from);
  return (
    <ul class="bars">
      {bars.map((bar) => (
        <li key={bar.position}>
          <span class="bar-label">{bar.label}</span>
          <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            <rect
              class={`bar-${bar.result}`}
              x={((bar.from - from) / span) * 1000}
              width={Math.max(3, ((bar.to - bar.from) / span) * 1000)}
              height="10"
              rx="2"
            />
          </svg>
          <span class="muted">{durationText(bar.to - bar.from)}</span>
        </li>
      ))}
    </ul>
  );
}
