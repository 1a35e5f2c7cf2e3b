import { COLUMN_TITLES, COLUMNS, type BoardCard, type Column } from "../../../src/views/board/board.ts";
import type { ListDocument } from "../../../src/views/board/dashboard.ts";
import { Loading } from "../parts/loading.tsx";
import { Badge, GateStrip, Money, Why } from "../parts/marks.tsx";
import { Link, setSearchParam, searchParam } from "../router.tsx";
import { useDocument } from "../use-document.ts";

const PAGE = 100;

/** Every story on a line, in pages: for thousands of them. */
export function StoryList({ query }: { readonly query: string }) {
  const column = searchParam("column");
  const offset = Number(searchParam("offset")) || 0;
  const asked = new URLSearchParams({ q: query, column, offset: String(offset) });
  const loaded = useDocument<ListDocument>(`/list?${asked.toString()}`);
  return (
    <>
      <label class="tools">
        <span>Column</span>
        <select value={column} onChange={(event) => setSearchParam("column", event.currentTarget.value)}>
          <option value="">all</option>
          {COLUMNS.map((name) => (
            <option value={name} key={name}>
              {COLUMN_TITLES[name]}
            </option>
          ))}
        </select>
      </label>
      <Loading loaded={loaded}>
        {(list) => (
          <>
            <ListTable list={list} />
            <Pages list={list} />
          </>
        )}
      </Loading>
    </>
  );
}

function ListTable({ list }: { readonly list: ListDocument }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Stories">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Story</th>
            <th scope="col">Where</th>
            <th scope="col">Why</th>
            <th scope="col">Gates</th>
            <th scope="col">Spent</th>
          </tr>
        </thead>
        <tbody>
          {list.cards.map((card) => (
            <Row card={card} key={card.id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ card }: { readonly card: BoardCard }) {
  return (
    <tr>
      <th scope="row">
        <Link to={`/story/${card.id}`}>{card.title}</Link>
        <div class="muted">{card.id}</div>
      </th>
      <td>
        <Badge word={card.status} label={columnTitle(card.column)} />
      </td>
      <td>
        <Why card={card} />
      </td>
      <td>
        <GateStrip gates={card.gates} />
      </td>
      <td>
        <Money usd={card.costUsd} unknown={card.costUnknown} limit={card.costLimitUsd} />
      </td>
    </tr>
  );
}

const columnTitle = (column: Column): string => COLUMN_TITLES[column];

function Pages({ list: { matching, offset, cards } }: { readonly list: ListDocument }) {
  const turn = (to: number): void => setSearchParam("offset", to <= 0 ? "" : String(to));
  return (
    <p class="pages">
      <button type="button" disabled={offset === 0} onClick={() => turn(offset - PAGE)}>
        Before
      </button>
      <span>{matching === 0 ? "No story matches" : `${offset + 1} to ${offset + cards.length} of ${matching}`}</span>
      <button type="button" disabled={offset + cards.length >= matching} onClick={() => turn(offset + PAGE)}>
        After
      </button>
    </p>
  );
}
