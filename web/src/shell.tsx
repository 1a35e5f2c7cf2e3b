import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { HelloDocument } from "../../src/views/board/dashboard.ts";
import { Announcer } from "./announcer.tsx";
import { hello } from "./hello.ts";
import { Board } from "./pages/board.tsx";
import { Diff } from "./pages/diff.tsx";
import { Health } from "./pages/health.tsx";
import { Inbox } from "./pages/inbox.tsx";
import { Ledger } from "./pages/ledger.tsx";
import { Story } from "./pages/story.tsx";
import { Trail } from "./pages/trail.tsx";
import { Problem } from "./parts/problem.tsx";
import { Link, place } from "./router.tsx";
import { connection } from "./stream.ts";
import { ThemeChoice } from "./theme.tsx";
import { useDocument } from "./use-document.ts";

const PAGES = [
  ["/", "Board"],
  ["/inbox", "Inbox"],
  ["/ledger", "Ledger"],
  ["/trail", "Trail"],
  ["/health", "Health"],
] as const;

/** What stands around every page: where one is, where one can go, and whether what is shown is what there is. */
export function Shell() {
  const { data, problem } = useDocument<HelloDocument>("/hello");
  useEffect(() => void (hello.value = data), [data]);
  const { path } = place.value;
  const questions = data?.questions ?? 0;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="side">
        <Link to="/" class="brand">
          <img src="/icon.svg" alt="" width="28" height="28" />
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
                  {to === "/inbox" && questions > 0 && (
                    <span class="count">
                      {questions}
                      <span class="unseen"> waiting for you</span>
                    </span>
                  )}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-end">
          <Connection />
          {data?.readOnly === true && <p class="muted">Read-only</p>}
          <ThemeChoice />
        </div>
      </header>
      <Main>{problem?.status === 401 ? <Problem problem={problem} /> : <Page path={path} />}</Main>
      <Announcer />
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

const CONNECTION = { connecting: "connecting…", live: "live", lost: "not connected; trying again", refused: "refused" };

function Connection() {
  return (
    <p class={`connection ${connection.value}`}>
      <span class="dot" aria-hidden="true" /> {CONNECTION[connection.value]}
    </p>
  );
}

function Page({ path }: { readonly path: string }) {
  const [, id = "", isDiff] = /^\/story\/([^/]+)(\/diff)?$/.exec(path) ?? [];
  if (id !== "") return isDiff === undefined ? <Story id={id} key={id} /> : <Diff id={id} key={id} />;
  switch (path) {
    case "/inbox":
      return <Inbox />;
    case "/ledger":
      return <Ledger />;
    case "/trail":
      return <Trail />;
    case "/health":
      return <Health />;
    default:
      return <Board />;
  }
}
