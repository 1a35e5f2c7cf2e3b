import { useEffect, useRef } from "preact/hooks";
import type { OutputLine, OutputPosition } from "../../../src/core/events/output-line.ts";
import type { NowDocument } from "../../../src/views/board/dashboard.ts";
import { followOutput } from "../follow-output.ts";
import { Loading } from "../parts/loading.tsx";
import { OutputPane } from "../parts/output-pane.tsx";
import { Link, searchParam } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

/** The live output of all running agents and checks, side by side. */
export function LivePage() {
  useTitle("Live");
  const loaded = useDocument<NowDocument>("/now");
  // `/live?of=login,search`: these stories, even if they are not running.
  const of = searchParam("of").split(",").filter(Boolean);
  return (
    <>
      <div class="head">
        <h1>Live</h1>
      </div>
      <Loading loaded={loaded}>{({ working }) => <Panes shown={of.length === 0 ? working : of.map(named)} />}</Loading>
    </>
  );
}

interface Shown {
  readonly id: string;
  readonly title: string;
  readonly what: string;
}

const named = (id: string): Shown => ({ id, title: id, what: "" });

type Listener = (lines: readonly OutputLine[]) => void;

/** A pane shows about ten lines at once; the story's page has all of them. */
const MOST_LINES = 120;

function Panes({ shown }: { readonly shown: readonly Shown[] }) {
  const listeners = useRef(new Map<string, Listener>());
  const places = useRef(new Map<string, OutputPosition>());
  const stories = shown.map(({ id }) => id);
  // One stream for all panes, because a browser allows only six connections to a server.
  useEffect(() => {
    if (stories.length === 0) return undefined;
    return followOutput({
      stories,
      isTail: true,
      places: places.current,
      onLines: (story, lines) => listeners.current.get(story)?.(lines),
    });
  }, [stories.join(",")]);
  if (shown.length === 0) return <p class="empty">Nothing is being worked on.</p>;
  return (
    <div class="live" style={{ "--rows": Math.min(3, Math.ceil(shown.length / 3)) }}>
      {shown.map(({ id, title, what }) => (
        <section aria-label={title} key={id}>
          <h2>
            <Link to={`/story/${id}`}>{title}</Link> <span class="muted">{what}</span>
          </h2>
          <OutputPane
            label={`output of ${id}`}
            most={MOST_LINES}
            hasTools={false}
            follow={(onLines) => {
              listeners.current.set(id, onLines);
              return () => listeners.current.delete(id);
            }}
          />
        </section>
      ))}
    </div>
  );
}
