import { useEffect, useRef, useState } from "preact/hooks";
import type { OutputLine } from "../../../src/core/events/output-line.ts";
import { followOutput } from "../follow-output.ts";
import { createOutputList, inNextFrame, type OutputList } from "../output-list.ts";
import { Filter } from "./filter.tsx";

const MOST_KEPT = 20_000;
const MOST_SHOWN = 2000;

interface PaneProps {
  readonly label: string;
  /** A single step such as `attempt 2`; empty: all steps. */
  readonly step?: string;
  /** Passes lines to the list until it is stopped. */
  follow(onLines: (lines: readonly OutputLine[]) => void): () => void;
  readonly most?: number;
  readonly hasTools?: boolean;
}

/** Earlier output and live output. Scrolling up stops following; the button continues it. */
export function OutputPane({ label, step = "", follow, most = MOST_SHOWN, hasTools = true }: PaneProps) {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<OutputList | null>(null);
  const following = useRef(true);
  const [isFollowing, setFollowing] = useState(true);
  const [query, setQuery] = useState("");
  const [counts, setCounts] = useState({ all: 0, matching: 0 });
  const setFollow = (isOn: boolean): void => {
    following.current = isOn;
    setFollowing(isOn);
    if (isOn) toEnd(box.current);
  };
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const own = createOutputList(element, hasTools ? MOST_KEPT : most, most);
    list.current = own;
    own.show({ step, query: "" });
    // Counts are shown only with a search; otherwise it matters only whether there are lines.
    const count = (): void => setCounts((before) => (hasTools || before.matching === 0 ? own.counts() : before));
    const writer = lineWriter(own, hasTools ? MOST_KEPT : most, {
      count,
      scroll: () => (following.current ? toEnd(element) : undefined),
    });
    const stops = [follow(writer.add), watchView(element, writer.setInView)];
    return () => {
      for (const stop of stops) stop();
    };
    // `follow` does not change while the pane exists.
  }, []);
  useEffect(() => {
    list.current?.show({ step, query });
    setCounts(list.current?.counts() ?? { all: 0, matching: 0 });
    toEnd(box.current);
  }, [step, query]);
  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    if (isAtEnd !== following.current) setFollow(isAtEnd);
  };
  return (
    <div class="output-pane">
      {hasTools && (
        <div class="output-tools-row">
          <Filter label={`Search ${label}`} value="" onInput={setQuery} />
          <span class="muted" role="status">
            {query === "" ? "" : `${counts.matching} of ${counts.all} lines match`}
          </span>
          <FollowBox label={label} isFollowing={isFollowing} onChange={setFollow} />
        </div>
      )}
      <div class="output" role="log" aria-live="off" aria-label={label} tabIndex={0} ref={box} onScroll={onScroll} />
      {counts.matching === 0 && (
        <p class="muted output-none">{query === "" ? "Nothing was printed yet." : "No line matches."}</p>
      )}
    </div>
  );
}

/** Lines for a hidden pane are written when it becomes visible: of twenty panes, a screen shows six. */
function watchView(element: HTMLElement, onChange: (isInView: boolean) => void): () => void {
  const observer = new IntersectionObserver(([entry]) => onChange(entry?.isIntersecting ?? true), {
    rootMargin: "200px",
  });
  observer.observe(element);
  return () => observer.disconnect();
}

interface LineWriter {
  add(lines: readonly OutputLine[]): void;
  setInView(isInView: boolean): void;
}

/** Collects lines until the next frame in which the pane is visible. Lines beyond the list's limit are dropped. */
function lineWriter(
  list: OutputList,
  mostKept: number,
  { count, scroll }: { count(): void; scroll(): void },
): LineWriter {
  let pending: OutputLine[] = [];
  let isInView = true;
  const write = (): void => {
    list.add(pending);
    pending = [];
    count();
  };
  const work = { write, scroll };
  return {
    add: (lines) => {
      pending.push(...lines);
      if (pending.length > 2 * mostKept) pending = pending.slice(-mostKept);
      if (isInView) inNextFrame(work);
    },
    setInView: (isNow) => {
      isInView = isNow;
      if (isNow && pending.length > 0) inNextFrame(work);
    },
  };
}

interface FollowBoxProps {
  readonly label: string;
  readonly isFollowing: boolean;
  onChange(isFollowing: boolean): void;
}

/** A page may show several panes, so each box names its own. */
function FollowBox({ label, isFollowing, onChange }: FollowBoxProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        aria-label={`Follow ${label}`}
        checked={isFollowing}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      Follow
    </label>
  );
}

const NEAR_END_PX = 30;

function toEnd(element: HTMLElement | null): void {
  if (element !== null) element.scrollTop = element.scrollHeight;
}

/** All stored output of a story. */
export function StoryOutput({ story, step }: { readonly story: string; readonly step?: string }) {
  return (
    <OutputPane
      label={`output of ${step === undefined || step === "" ? story : step}`}
      step={step ?? ""}
      follow={(onLines) => followOutput({ stories: [story], isTail: false, onLines: (_, lines) => onLines(lines) })}
      key={story}
    />
  );
}
