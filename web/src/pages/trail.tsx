import { countText } from "../../../src/stdx/plain-text.ts";
import { useState } from "preact/hooks";
import type { TrailDocument, VerifyDocument } from "../../../src/views/board/dashboard.ts";
import { ask } from "../ask.ts";
import { Filter } from "../parts/filter.tsx";
import { Loading } from "../parts/loading.tsx";
import { RawLine } from "../parts/raw-line.tsx";
import { setSearchParam, searchParam } from "../router.tsx";
import { asRefusal, useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

/** Every event with its hash, newest first; and whether all of them are unchanged. */
export function Trail() {
  useTitle("Events");
  const [query, before] = [searchParam("q"), searchParam("before")];
  const kind = searchParam("kind");
  const asked = new URLSearchParams({ q: query, kind, ...(before === "" ? {} : { before }) });
  const loaded = useDocument<TrailDocument>(`/trail?${asked.toString()}`, () => before === "");
  const search = (text: string): void => {
    setSearchParam("before", "");
    setSearchParam("q", text);
  };
  return (
    <>
      <div class="head">
        <h1>Events</h1>
        {loaded.data?.head != null && (
          <p class="summary">
            {loaded.data.head.position} events, the last is <code>{loaded.data.head.hash.slice(0, 16)}</code>
          </p>
        )}
      </div>
      <div class="tools">
        <Filter label="Search events" value={query} onInput={search} />
        <Verify />
      </div>
      <Kinds />
      <Loading loaded={loaded}>
        {(trail) => (
          <>
            {trail.lines.length === 0 && <p class="empty">No event matches.</p>}
            <ol class="timeline events" reversed>
              {trail.lines.map((line) => (
                <RawLine line={line} key={line.position} />
              ))}
            </ol>
            <p class="pages">
              <button type="button" disabled={before === ""} onClick={() => setSearchParam("before", "")}>
                Newest
              </button>
              <button
                type="button"
                disabled={!trail.more}
                onClick={() => setSearchParam("before", String(trail.before))}
              >
                Earlier
              </button>
            </p>
          </>
        )}
      </Loading>
    </>
  );
}

/** Kinds of events, by the start of their type. */
const KINDS = [
  ["", "All"],
  ["story", "Stories"],
  ["attempt", "Attempts"],
  ["gate", "Gates"],
  ["blame", "Blame"],
  ["work", "Sent back"],
  ["escalation", "Questions"],
  ["person", "Answers"],
] as const;

function Kinds() {
  const kind = searchParam("kind");
  const choose = (name: string): void => {
    setSearchParam("before", "");
    setSearchParam("kind", kind === name ? "" : name);
  };
  return (
    <div class="chips" role="group" aria-label="Kind of event">
      {KINDS.map(([name, label]) => (
        <button type="button" aria-pressed={kind === name} onClick={() => choose(name)} key={name}>
          {label}
        </button>
      ))}
    </div>
  );
}

function verifiedText({ ok, position, problem, replaced }: VerifyDocument): string {
  if (!ok) return `✖ Not intact${position === 0 ? "" : `, line ${position}`}: ${problem}`;
  const lines = countText(position, "line");
  if (replaced === undefined) return `✔ Intact: ${lines}.`;
  return `⚠ ${lines}, none changed. This journal replaced another with ${countText(replaced.lost.position, "line")}, by ${replaced.by}: ${replaced.lost.why}`;
}

/** Verifies the full chain of hashes, on the server. */
function Verify() {
  const [status, setStatus] = useState("");
  const verify = async (): Promise<void> => {
    setStatus("Checking every line…");
    try {
      setStatus(verifiedText(await ask<VerifyDocument>("/verify")));
    } catch (error) {
      setStatus(asRefusal(error).message);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void verify()}>
        Verify the chain
      </button>
      <span role="status">{status}</span>
    </>
  );
}
