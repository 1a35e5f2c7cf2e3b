import { RemandError } from "../core/events/error.ts";
import { createLineIndex, type StoryLineIndex } from "./line-index.ts";
import type { Live, CurrentRun, DashboardSource } from "./live.ts";
import { cleanText, withoutSecrets } from "../parse/secrets/secrets.ts";

/** What all routes of the server share. */
export interface ServerContext {
  readonly source: DashboardSource;
  readonly live: Live;
  readonly index: StoryLineIndex;
  /** The current run; throws where nothing has run yet. */
  currentRun(): Promise<CurrentRun>;
  clean(text: string): string;
  /** Sends data without secrets. All data leaves through this function. */
  send(value: object): Response;
}

/** Pages request mostly unchanged data again, so up to this many cleaned short texts are cached. */
const MOST_KEPT_TEXTS = 20_000;

export function createServerContext(source: DashboardSource, live: Live): ServerContext {
  const kept = new Map<string, string>();
  return {
    source,
    live,
    index: createLineIndex(),
    currentRun: async () => {
      const now = await live.now();
      if (now !== null) return now;
      throw new RemandError("usage", "nothing has run here yet", "Start with remand run, remand loop or remand demo.");
    },
    clean: (text) => cleanText(text, source.secrets),
    send: (value) => {
      if (kept.size > MOST_KEPT_TEXTS) kept.clear();
      return Response.json(withoutSecrets(value, source.secrets, kept));
    },
  };
}

export function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

export const queryIn = (text: string | undefined): string => (text ?? "").trim().slice(0, 200);
