import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { HelloDocument } from "../../src/views/board/dashboard.ts";
import { Announcer } from "./announcer.tsx";
import { EngineBanner, EngineBar } from "./engine-bar.tsx";
import { showHello } from "./hello.ts";
import { dialog } from "./keys.ts";
import { notifies, setNotifies } from "./notify.ts";
import { Diff } from "./pages/diff.tsx";
import { EditStory, NewStory } from "./pages/edit-story.tsx";
import { Graph } from "./pages/graph.tsx";
import { Health } from "./pages/health.tsx";
import { Ledger } from "./pages/ledger.tsx";
import { LivePage } from "./pages/live.tsx";
import { Now } from "./pages/now.tsx";
import { Question } from "./pages/question.tsx";
import { Stories } from "./pages/stories.tsx";
import { Story } from "./pages/story.tsx";
import { Trail } from "./pages/trail.tsx";
import { Dialogs } from "./parts/dialogs.tsx";
import { Problem } from "./parts/problem.tsx";
import { Receipts } from "./parts/receipts.tsx";
import { Link, place } from "./router.tsx";
import { ThemeChoice } from "./theme.tsx";
import { useDocument } from "./use-document.ts";
import { pageTitle, showCount, useTitle } from "./use-title.ts";

const PAGES = [
  ["/", "Now"],
  ["/stories", "Stories"],
  ["/graph", "Graph"],
  ["/cost", "Cost"],
  ["/events", "Events"],
  ["/settings", "Settings"],
] as const;

/** The frame of every page: the current page, the menu, and the engine's state. */
export function Shell() {
  const { data, problem } = useDocument<HelloDocument>("/hello", () => true, false);
  useEffect(() => void showHello(data), [data]);
  const { path } = place.value;
  const questions = data?.questions ?? 0;
  const title = pageTitle.value;
  useEffect(() => showCount(title, questions), [title, questions]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="side">
        <Link to="/" class="brand">
          <img src="/icon.svg" alt="" width="20" height="20" />
          <span>
            Remand <small>{data?.project ?? ""}</small>
          </span>
        </Link>
        <nav aria-label="Pages">
          <ul>
            {PAGES.map(([to, name]) => (
              <li key={to}>
                <Link to={to} current={path === to}>
                  {name}
                  {to === "/" && questions > 0 && (
                    <span class="count">
                      {questions}
                      <span class="unseen"> waiting for you</span>
                    </span>
                  )}
                  {to === "/stories" && data !== null && <span class="total">{data.stories}</span>}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <SideEnd isReadOnly={data?.readOnly === true} />
      </header>
      <div class="page">
        <EngineBar />
        <EngineBanner />
        <Main>{problem?.status === 401 ? <Problem problem={problem} /> : <Page path={path} />}</Main>
        <Receipts />
      </div>
      <Announcer />
      <Dialogs />
    </div>
  );
}

function SideEnd({ isReadOnly }: { readonly isReadOnly: boolean }) {
  return (
    <div class="side-end">
      {isReadOnly && <p class="muted">Read-only</p>}
      <button type="button" class="plain" onClick={() => (dialog.value = "palette")}>
        Search <kbd>Ctrl K</kbd>
      </button>
      <button type="button" class="plain needs-keys" onClick={() => (dialog.value = "help")}>
        Shortcuts <kbd>?</kbd>
      </button>
      {notifies.value !== null && (
        <label class="check">
          <input
            type="checkbox"
            checked={notifies.value}
            onChange={(event) => void setNotifies(event.currentTarget.checked)}
          />
          Notify me
        </label>
      )}
      <ThemeChoice />
    </div>
  );
}

/** Moves the focus to the new page after a navigation, so that a screen reader reads out its name. */
function Main({ children }: { readonly children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const { path } = place.value;
  useEffect(() => {
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [path]);
  return (
    <main id="main" tabIndex={-1} ref={main}>
      {children}
    </main>
  );
}

function Page({ path }: { readonly path: string }) {
  const [, id = "", part] = /^\/story\/([^/]+)(?:\/(diff|edit))?$/.exec(path) ?? [];
  if (id !== "" && part === "edit") return <EditStory id={id} key={id} />;
  if (id !== "") return part === undefined ? <Story id={id} key={id} /> : <Diff id={id} key={id} />;
  const [, question = ""] = /^\/question\/([^/]+)$/.exec(path) ?? [];
  if (question !== "") return <Question id={question} key={question} />;
  switch (path) {
    case "/":
    case "/inbox":
      return <Now />;
    case "/live":
      return <LivePage />;
    case "/stories":
      return <Stories />;
    case "/new":
      return <NewStory />;
    case "/graph":
      return <Graph />;
    case "/cost":
    case "/ledger":
      return <Ledger />;
    case "/events":
    case "/trail":
      return <Trail />;
    case "/settings":
    case "/health":
      return <Health />;
    default:
      return <NotFound />;
  }
}

function NotFound() {
  useTitle("Not found");
  return (
    <div class="empty">
      <h1>There is no page here</h1>
      <p>
        <Link to="/">Now</Link> shows what needs you; <Link to="/stories">Stories</Link> lists every story.
      </p>
    </div>
  );
}
