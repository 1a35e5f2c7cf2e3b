import { countText } from "../../../src/stdx/plain-text.ts";
import { COLUMN_TITLES, GROUP_TITLES } from "../../../src/views/board/columns.ts";
import type { BoardCard } from "../../../src/views/board/board.ts";
import { type BoardColumn, type BoardDocument } from "../../../src/views/board/dashboard.ts";
import { Export } from "../parts/export.tsx";
import { Filter } from "../parts/filter.tsx";
import { Loading } from "../parts/loading.tsx";
import { Ago, Badge, GateStrip, Money, Why } from "../parts/marks.tsx";
import { Link, setSearchParam, searchParam } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";
import { SavedViews } from "../parts/saved-views.tsx";
import { StoryList } from "./story-list.tsx";

/** All stories, as a board of four columns by who must act, or as a table. */
export function Stories() {
  useTitle("Stories");
  const query = searchParam("q");
  const isList = searchParam("view") === "list";
  const loaded = useDocument<BoardDocument>(`/board?q=${encodeURIComponent(query)}${isList ? "&cards=0" : ""}`);
  return (
    <>
      <div class="head">
        <h1>Stories</h1>
        {loaded.data !== null && <Summary board={loaded.data} />}
      </div>
      <div class="tools">
        <Filter label="Filter stories" value={query} onInput={(text) => setSearchParam("q", text)} />
        <fieldset class="switch">
          <legend class="unseen">View</legend>
          {["board", "list"].map((view) => (
            <label key={view}>
              <input
                type="radio"
                name="view"
                checked={isList === (view === "list")}
                onChange={() => setSearchParam("view", view === "list" ? "list" : "")}
              />
              {view}
            </label>
          ))}
        </fieldset>
        {loaded.data?.hasJournal === true && (
          <Export path="/report" file="run.html" label="Save the run as one HTML file" />
        )}
      </div>
      {isList && loaded.data !== null && <Chips board={loaded.data} />}
      {isList ? (
        <StoryList query={query} />
      ) : (
        <Loading loaded={loaded}>{(board) => <Columns board={board} isFiltered={query !== ""} />}</Loading>
      )}
    </>
  );
}

/** Filters by column of the board with one click; the number shows how many stories match. */
function Chips({ board }: { readonly board: BoardDocument }) {
  const chosen = searchParam("column");
  // The address may name a column that is a part of a column of the board.
  const finer = board.columns.find(({ name }) => name === chosen && !board.groups.some((each) => each.name === name));
  return (
    <div class="chips" role="group" aria-label="Column">
      <button type="button" aria-pressed={chosen === ""} onClick={() => setSearchParam("column", "")}>
        All {board.matching}
      </button>
      {finer !== undefined && (
        <button type="button" aria-pressed onClick={() => setSearchParam("column", "")}>
          {COLUMN_TITLES[finer.name]} {finer.total}
        </button>
      )}
      {board.groups
        .filter(({ name, total }) => total > 0 || name === chosen)
        .map(({ name, total }) => (
          <button
            type="button"
            aria-pressed={chosen === name}
            onClick={() => setSearchParam("column", chosen === name ? "" : name)}
            key={name}
          >
            {GROUP_TITLES[name]} {total}
          </button>
        ))}
      <SavedViews />
    </div>
  );
}

function Summary({ board }: { readonly board: BoardDocument }) {
  const { counts, spentUsd, costUnknown, limitUsd } = board;
  const { needsYou } = counts;
  const parts = [
    countText(counts.stories, "story", "stories"),
    ...(counts.accepted > 0 ? [`${counts.accepted} accepted`] : []),
    ...(counts.running > 0 ? [`${counts.running} working`] : []),
    ...(counts.deferred > 0 ? [`${counts.deferred} deferred`] : []),
    ...(counts.dismissed > 0 ? [`${counts.dismissed} dismissed`] : []),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
  ];
  return (
    <p class="summary">
      {needsYou > 0 && (
        <Link to="/" class="needs">
          {needsYou} {needsYou === 1 ? "needs" : "need"} you
        </Link>
      )}
      <span>{parts.join(" · ")}</span>
      <Money usd={spentUsd} unknown={costUnknown} limit={limitUsd} />
    </p>
  );
}

function Columns({ board, isFiltered }: { readonly board: BoardDocument; readonly isFiltered: boolean }) {
  if (!board.hasJournal)
    return (
      <div class="empty">
        <h2>Nothing has run here yet</h2>
        <p>
          Begin with <code>remand run</code>, <code>remand loop</code> or <code>remand demo</code>. This page shows it
          as soon as it happens.
        </p>
      </div>
    );
  if (board.matching === 0)
    return <p class="empty">{isFiltered ? "No story matches." : "There is no story yet: write one in stories/."}</p>;
  return (
    <div class="board">
      {board.groups.map((column) => (
        <Column column={column} key={column.name} />
      ))}
    </div>
  );
}

function Column({ column }: { readonly column: BoardColumn }) {
  const { name, total, cards } = column;
  return (
    <section class={`column ${name}${total === 0 ? " none" : ""}`} aria-labelledby={`column-${name}`}>
      <h2 id={`column-${name}`}>
        {GROUP_TITLES[name]} <span class="total">{total}</span>
      </h2>
      {total === 0 && <p class="muted">{NONE[name]}</p>}
      <ul>
        {cards.map((card) => (
          <Card card={card} key={card.id} />
        ))}
      </ul>
      {total > cards.length && (
        <p>
          <Link to={`/stories?view=list&column=${name}`}>All {total}</Link>
        </p>
      )}
    </section>
  );
}

const NONE: Readonly<Record<BoardColumn["name"], string>> = {
  "needs-you": "No question is open.",
  active: "Nothing is being worked on.",
  idle: "Nothing waits.",
  done: "Nothing has ended yet.",
};

/** States that the column of the board does not show. */
const FINER = new Set(["in-gates", "sent-back", "ready", "backlog", "stopped"]);

function Card({ card }: { readonly card: BoardCard }) {
  const since = card.since ?? card.endedAt ?? card.startedAt;
  return (
    <li class="card" data-row>
      <h3>
        <Link to={`/story/${card.id}`} isMain>
          {card.title}
        </Link>
      </h3>
      <p class="muted">
        {FINER.has(card.column) && (
          <>
            <Badge word={card.status} label={COLUMN_TITLES[card.column]} />{" "}
          </>
        )}
        {card.id}
        {card.agent !== null && ` · ${card.agent}`}
        {card.attempt > 0 && ` · attempt ${card.attempt}`}
      </p>
      {card.column !== "accepted" && (
        <p class="card-why">
          <Why card={card} />
        </p>
      )}
      {card.finding !== null && card.column !== "needs-you" && <p class="card-finding">{card.finding}</p>}
      <GateStrip gates={card.gates} />
      <p class="card-foot muted">
        <Money usd={card.costUsd} unknown={card.costUnknown} limit={card.costLimitUsd} />
        {since !== null && <Ago at={since} />}
      </p>
    </li>
  );
}
