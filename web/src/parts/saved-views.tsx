import { useState } from "preact/hooks";
import { go, Link, place } from "../router.tsx";

/** A named filter. */
interface SavedView {
  readonly name: string;
  readonly search: string;
}

const PLACE = "remand-views";
const MOST = 20;

function readViews(): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(kept) ? (kept as SavedView[]).filter(({ name, search }) => Boolean(name && search)) : [];
  } catch {
    // Saved by another version: there are no views.
    return [];
  }
}

/** Saves the current filter in this browser under a name. */
export function SavedViews() {
  const [views, setViews] = useState(readViews);
  const [name, setName] = useState<string | null>(null);
  const keep = (next: readonly SavedView[]): void => {
    setViews(next);
    localStorage.setItem(PLACE, JSON.stringify(next));
  };
  const { search } = place.value;
  const save = (event: Event): void => {
    event.preventDefault();
    const called = name?.trim() ?? "";
    if (called === "") return;
    keep([...views.filter((view) => view.name !== called), { name: called, search }].slice(-MOST));
    setName(null);
  };
  const shown = views.find((view) => view.search === search);
  return (
    <>
      {views.map((view) => (
        <Link to={`/stories${view.search}`} current={view.search === search} class="chip" key={view.name}>
          {view.name}
        </Link>
      ))}
      {shown !== undefined && (
        <button
          type="button"
          onClick={() => {
            keep(views.filter((view) => view !== shown));
            go("/stories?view=list");
          }}
        >
          Delete view
        </button>
      )}
      {shown === undefined && name === null && (
        <button type="button" onClick={() => setName("")}>
          Save view
        </button>
      )}
      {name !== null && (
        <form class="tools-inline" onSubmit={save}>
          <label>
            <span class="unseen">Name of the view</span>
            <input
              placeholder="Name of the view"
              required
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Save</button>
        </form>
      )}
    </>
  );
}
