import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ListDocument } from "../../../src/views/board/dashboard.ts";
import { ask } from "../ask.ts";
import { dialog, hasKeys, KEYS, setKeys } from "../keys.ts";
import { go } from "../router.tsx";

/** A native dialog: the browser keeps the focus inside, and restores it afterwards. */
function Dialog({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next key, so that fast typing goes into the dialog.
  useLayoutEffect(() => {
    const { current } = element;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-label={label}
      onClose={() => (dialog.value = null)}
      onClick={(event) => (event.target === element.current ? (dialog.value = null) : undefined)}
    >
      {children}
    </dialog>
  );
}

export function Dialogs() {
  if (dialog.value === "palette") return <Palette />;
  return dialog.value === "help" ? <Help /> : null;
}

function Help() {
  return (
    <Dialog label="Keyboard shortcuts">
      <h2>Keyboard shortcuts</h2>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="choice">
        <input type="checkbox" checked={hasKeys.value} onChange={(event) => setKeys(event.currentTarget.checked)} />
        <span>Single keys are shortcuts</span>
      </label>
      <button type="button" onClick={() => (dialog.value = null)}>
        Close
      </button>
    </Dialog>
  );
}

interface Entry {
  readonly name: string;
  readonly detail: string;
  readonly to: string;
}

const PLACES: readonly Entry[] = [
  { name: "Now", detail: "what needs you, what is worked on", to: "/" },
  { name: "Live", detail: "what agents and checks print now", to: "/live" },
  { name: "Stories", detail: "board and list", to: "/stories" },
  { name: "Graph", detail: "which story waits for which", to: "/graph" },
  { name: "New story", detail: "write a file of the stories", to: "/new" },
  { name: "Cost", detail: "what was spent, on what", to: "/cost" },
  { name: "Events", detail: "the journal", to: "/events" },
  { name: "Settings", detail: "checks of the environment, config", to: "/settings" },
];

const MOST_ENTRIES = 9;

/** The pages and the stories that match. */
function useEntries(query: string): readonly Entry[] {
  const [stories, setStories] = useState<readonly Entry[]>([]);
  useEffect(() => {
    const over = new AbortController();
    const asked = new URLSearchParams({ q: query });
    ask<ListDocument>(`/list?${asked.toString()}`, over.signal).then(
      ({ cards }) =>
        setStories(
          cards.map(({ id, title, status }) => ({ name: title, detail: `${id} · ${status}`, to: `/story/${id}` })),
        ),
      // The page itself shows the error of the server.
      () => undefined,
    );
    return () => over.abort();
  }, [query]);
  return useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const isCalled = ({ name, detail }: Entry): boolean =>
      words.every((word) => `${name} ${detail}`.toLowerCase().includes(word));
    // Entries with a matching name come before those that only mention it.
    const named = stories.filter(isCalled);
    const others = stories.filter((entry) => !isCalled(entry));
    return [...PLACES.filter(isCalled), ...named, ...others].slice(0, MOST_ENTRIES);
  }, [query, stories]);
}

/** Finds a page or a story by a few letters. */
function Palette() {
  const [query, setQuery] = useState("");
  const [picked, setPicked] = useState(0);
  const entries = useEntries(query);
  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    dialog.value = null;
    go(entry.to);
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      setPicked((picked + by + entries.length) % Math.max(1, entries.length));
    }
    if (event.key === "Enter") {
      event.preventDefault();
      open(entries[picked]);
    }
  };
  return (
    <Dialog label="Search">
      <input
        type="text"
        role="combobox"
        aria-label="Search pages and stories"
        aria-expanded={true}
        aria-controls="palette-list"
        aria-activedescendant={entries.length === 0 ? undefined : `palette-${picked}`}
        placeholder="Search pages and stories"
        value={query}
        onKeyDown={onKey}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setPicked(0);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found" class="palette">
        {entries.map((entry, index) => (
          <li
            role="option"
            id={`palette-${index}`}
            aria-selected={index === picked}
            key={entry.to}
            onClick={() => open(entry)}
            onMouseMove={() => setPicked(index)}
          >
            <span>{entry.name}</span> <span class="muted">{entry.detail}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="muted">Nothing matches.</p>}
    </Dialog>
  );
}
