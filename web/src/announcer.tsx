import { useEffect, useState } from "preact/hooks";
import type { StreamedLine } from "../../src/views/board/dashboard.ts";
import { onLines } from "./stream.ts";

/** The events that are announced to users of a screen reader. */
const ANNOUNCED: ReadonlySet<string> = new Set(["escalation.raised", "story.accepted", "story.failed"]);
/** News are collected for this long, and announced together. */
const GATHER_MS = 4000;

/** Announces events to users of a screen reader, without interrupting all the time. */
export function Announcer() {
  const [news, setNews] = useState("");
  useEffect(() => {
    let gathered: StreamedLine[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stop = onLines((lines) => {
      if (lines === null) return;
      gathered = [...gathered, ...lines.filter(({ type }) => ANNOUNCED.has(type))].slice(-20);
      if (gathered.length === 0 || timer !== null) return;
      timer = setTimeout(() => {
        const said = gathered.slice(-3).map(({ story, words }) => `${story ?? "the run"}: ${words}`);
        setNews(`${gathered.length > 3 ? `${gathered.length} news; the last: ` : ""}${said.join(". ")}`);
        gathered = [];
        timer = null;
      }, GATHER_MS);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, []);
  return (
    <p class="unseen" role="status">
      {news}
    </p>
  );
}
