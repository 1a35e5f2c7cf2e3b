import { useEffect, useRef, useState } from "preact/hooks";
import type { BoardCard } from "../../src/views/board/board.ts";
import type { ListDocument } from "../../src/views/board/dashboard.ts";
import { ask } from "./ask.ts";
import { onRefresh } from "./refresh.ts";
import { onLines } from "./stream.ts";
import { asRefusal } from "./use-document.ts";
import type { Refusal } from "./ask.ts";

const PAGE = 100;
/** The shortest pause between two reloads of the visible rows, however much happens. */
const PAUSE_MS = 500;

export interface CardPages {
  /** The number of matching stories; `null` until it is known. */
  readonly matching: number | null;
  readonly problem: Refusal | null;
  at(index: number): BoardCard | undefined;
  /** Loads the missing cards of these rows. */
  want(first: number, last: number): void;
}

interface Loaded {
  readonly asked: string;
  readonly matching: number;
  readonly pages: ReadonlyMap<number, readonly BoardCard[]>;
}

/**
 * The matching stories, loaded page by page as they become visible. After a change of the query, the old rows stay
 * until the new ones have loaded.
 */
export function useCardPages(asked: string): CardPages {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const current = useRef({ asked, view: [0, 0] as readonly [number, number], busy: new Map<string, Promise<void>>() });
  current.current.asked = asked;
  const load = (page: number, isFresh: boolean): Promise<void> => {
    const { busy } = current.current;
    const key = `${asked} ${page}`;
    const loading = busy.get(key) ?? read(page, isFresh).finally(() => busy.delete(key));
    busy.set(key, loading);
    return loading;
  };
  const read = async (page: number, isFresh: boolean): Promise<void> => {
    try {
      const { matching, cards } = await ask<ListDocument>(`/list?${asked}&offset=${page * PAGE}`);
      if (current.current.asked !== asked) return;
      setProblem(null);
      setLoaded((before) => {
        const known = before?.asked === asked && !isFresh ? before.pages : new Map<number, readonly BoardCard[]>();
        return { asked, matching, pages: new Map(known).set(page, cards) };
      });
    } catch (error) {
      setProblem(asRefusal(error));
    }
  };
  /** Reloads the visible rows, and drops the others, which are loaded when they become visible. */
  const refresh = async (): Promise<void> => {
    const [first, last] = current.current.view;
    const pages = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    // Requests from before this call may return older data.
    await Promise.all(current.current.busy.values());
    setLoaded((before) => (before === null ? null : { ...before, pages: pagesOf(before, pages) }));
    await Promise.all(pages.map((page) => load(page, false)));
  };
  useFresh(asked, () => load(0, true), refresh);
  return {
    matching: loaded?.matching ?? null,
    problem,
    at: (index) => loaded?.pages.get(Math.floor(index / PAGE))?.[index % PAGE],
    want: (first, last) => {
      const pages = [Math.floor(first / PAGE), Math.floor(Math.max(first, last) / PAGE)] as const;
      current.current.view = pages;
      if (loaded?.asked !== asked) return;
      for (let page = pages[0]; page <= pages[1]; page++) if (!loaded.pages.has(page)) void load(page, false);
    },
  };
}

/** Loads at first, and again when something has happened. */
function useFresh(asked: string, begin: () => Promise<void>, refresh: () => Promise<void>): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    void begin();
    const stop = onLines(() => {
      timer ??= setTimeout(() => {
        timer = null;
        void refresh();
      }, PAUSE_MS);
    });
    const forget = onRefresh(refresh);
    return () => {
      stop();
      forget();
      if (timer !== null) clearTimeout(timer);
    };
  }, [asked]);
}

function pagesOf({ pages }: Loaded, wanted: readonly number[]): Loaded["pages"] {
  return new Map([...pages].filter(([page]) => wanted.includes(page)));
}
