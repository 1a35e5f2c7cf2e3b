import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { StreamedLine } from "../../src/views/board/dashboard.ts";
import { ask, Refusal } from "./ask.ts";
import { onRefresh } from "./refresh.ts";
import { onLines } from "./stream.ts";

export interface Loaded<T> {
  readonly data: T | null;
  readonly problem: Refusal | null;
  reload(): void;
}

const EVERY_LINE = (): boolean => true;
/** The shortest pause between two requests for a document, however much happens. */
const PAUSE_MS = 400;

/** Loads a document from the server, and reloads it after a line that matters, or a change of the engine. */
export function useDocument<T>(
  path: string,
  matters: (line: StreamedLine) => boolean = EVERY_LINE,
  showsWork = true,
): Loaded<T> {
  const [data, setData] = useState<{ path: string; value: T } | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const mattering = useRef(matters);
  mattering.current = matters;
  const load = useRef<() => void>(() => undefined);
  useEffect(() => {
    const over = new AbortController();
    const state = { busy: false, again: false, waiting: [] as (() => void)[] };
    const turn = async (): Promise<void> => {
      if (state.busy) return void (state.again = true);
      state.busy = true;
      do {
        state.again = false;
        const waiting = state.waiting.splice(0);
        try {
          const value = await ask<T>(path, over.signal);
          setData({ path, value });
          setProblem(null);
        } catch (error) {
          if (!over.signal.aborted) setProblem(asRefusal(error));
        }
        for (const done of waiting) done();
        await new Promise((done) => setTimeout(done, PAUSE_MS));
      } while (state.again && !over.signal.aborted);
      state.busy = false;
    };
    load.current = () => void turn();
    void turn();
    const stop = onLines((lines) =>
      (lines?.some((line) => mattering.current(line)) ?? true) ? void turn() : undefined,
    );
    const refresh = (): Promise<void> =>
      new Promise((done) => {
        state.waiting.push(done);
        void turn();
      });
    const forget = showsWork ? onRefresh(refresh) : () => undefined;
    return () => {
      over.abort();
      stop();
      forget();
      for (const done of state.waiting) done();
    };
  }, [path]);
  const reload = useCallback(() => load.current(), []);
  // Data of another address is not shown for this one.
  return { data: data?.path === path ? data.value : null, problem, reload };
}

export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(0, { error: "the server does not answer", hint: "Is remand serve still running?" });
}
