import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { BoardCard } from "../../../src/views/board/board.ts";
import { BulkActions } from "../parts/bulk-actions.tsx";
import { GateStrip, Money, StateBadge, Why } from "../parts/marks.tsx";
import { Problem } from "../parts/problem.tsx";
import { Link, searchParam } from "../router.tsx";
import { type CardPages, useCardPages } from "../use-card-pages.ts";

/** The height of a row in pixels: the same for all, so that each row's position is known without drawing it. */
const ROW = 46;
const BESIDE = 6;
const STEP = 5;

/** All stories, one per line. Only visible rows are drawn, so ten thousand cost as much as a hundred. */
export function StoryList({ query }: { readonly query: string }) {
  const pages = useCardPages(new URLSearchParams({ q: query, column: searchParam("column") }).toString());
  const [selected, setSelected] = useState<readonly string[]>([]);
  const { matching, problem } = pages;
  if (matching === null) return problem === null ? <p class="muted">Loading…</p> : <Problem problem={problem} />;
  return (
    <>
      <BulkActions stories={selected} onDone={() => setSelected([])} />
      <p class="muted" role="status">
        {matching === 0 ? "No story matches" : `${matching} ${matching === 1 ? "story" : "stories"}`}
      </p>
      <Rows
        pages={pages}
        matching={matching}
        selected={selected}
        onSelect={(id, isOn) => setSelected(isOn ? [...selected, id] : selected.filter((each) => each !== id))}
      />
    </>
  );
}

interface RowsProps {
  readonly pages: CardPages;
  readonly matching: number;
  readonly selected: readonly string[];
  onSelect(id: string, isOn: boolean): void;
}

function Rows({ pages, matching, selected, onSelect }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ first: 0, last: 30 });
  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    // In steps, so that most scrolls draw nothing: nearby rows are already drawn.
    const first = Math.floor(element.scrollTop / ROW / STEP) * STEP - BESIDE;
    const last = Math.ceil((element.scrollTop + element.clientHeight) / ROW / STEP) * STEP + BESIDE;
    setView((before) => (before.first === first && before.last === last ? before : { first, last }));
  };
  useEffect(() => {
    look();
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  }, []);
  const first = Math.max(0, view.first);
  const last = Math.min(matching - 1, view.last);
  useEffect(() => pages.want(first, last));
  const current = useRef(onSelect);
  current.current = onSelect;
  const select = useCallback((id: string, isOn: boolean): void => current.current(id, isOn), []);
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  return (
    <div
      class="virtual"
      ref={box}
      onScroll={look}
      tabIndex={0}
      role="table"
      aria-label="Stories"
      aria-rowcount={matching + 1}
    >
      <Head />
      <div class="virtual-space" role="rowgroup" style={{ height: `${matching * ROW}px` }}>
        {rows.map((index) => {
          const card = pages.at(index);
          return (
            <div
              class="virtual-row"
              role="row"
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${index * ROW}px)` }}
              data-row
              key={card?.id ?? index}
            >
              {card === undefined ? (
                <span role="cell" class="muted">
                  …
                </span>
              ) : (
                <Cells card={card} isSelected={selected.includes(card.id)} onSelect={select} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const Head = () => (
  <div class="virtual-head" role="rowgroup">
    <div role="row" aria-rowindex={1}>
      {["Selected", "Story", "State", "Why", "Gates", "Spent"].map((head, index) => (
        <span role="columnheader" key={head}>
          {index === 0 ? <span class="unseen">{head}</span> : head}
        </span>
      ))}
    </div>
  </div>
);

interface CellsProps {
  readonly card: BoardCard;
  readonly isSelected: boolean;
  onSelect(id: string, isOn: boolean): void;
}

/** Drawn again only when the story or its selection changes. */
function Cells({ card, isSelected, onSelect }: CellsProps) {
  return useMemo(
    () => <CellTexts card={card} isSelected={isSelected} onSelect={onSelect} />,
    [card, isSelected, onSelect],
  );
}

function CellTexts({ card, isSelected, onSelect }: CellsProps) {
  return (
    <>
      <span role="cell">
        <input
          type="checkbox"
          aria-label={`Select ${card.title}`}
          checked={isSelected}
          onChange={(event) => onSelect(card.id, event.currentTarget.checked)}
        />
      </span>
      <span role="cell" class="virtual-title">
        <Link to={`/story/${card.id}`} isMain>
          {card.title}
        </Link>
        <span class="muted">{card.id}</span>
      </span>
      <span role="cell">
        <StateBadge card={card} />
      </span>
      <span role="cell" class="virtual-why">
        <Why card={card} />
      </span>
      <span role="cell" class="virtual-gates">
        <GateStrip gates={card.gates} isShort />
      </span>
      <span role="cell" class="number">
        <Money usd={card.costUsd} unknown={card.costUnknown} limit={card.costLimitUsd} />
      </span>
    </>
  );
}
