import { RemandError } from "../../domain/error.ts";
import type { Clock } from "../../ports/clock.ts";

export interface GithubOptions {
  /** `https://api.github.com`, or a company's own. */
  readonly api: string;
  /** `null` asks without one: enough for public repositories. Never journalled, never printed. */
  readonly token: string | null;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
}

export interface Question {
  readonly method: string;
  readonly url: string;
  readonly body: object | null;
  readonly etag: string | undefined;
}

/**
 * Asks until there is an answer that means something. What passes by itself is waited for and asked again: a limit
 * until it ends, a server's own trouble with growing pauses.
 */
export function createPatience({ api, token, clock, fetch: ask = fetch }: GithubOptions) {
  const once = ({ method, url, body, etag }: Question, signal: AbortSignal): Promise<Response> => {
    const headers: Record<string, string> = {
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "remand",
      ...(body === null ? {} : { "content-type": "application/json" }),
      // A login goes to the host it is for, and nowhere a link of that host may point.
      ...(token === null || !isWithin(api, url) ? {} : { authorization: `Bearer ${token}` }),
      ...(etag === undefined ? {} : { "if-none-match": etag }),
    };
    return ask(url, { method, headers, signal, ...(body === null ? {} : { body: JSON.stringify(body) }) });
  };

  return async (question: Question, signal: AbortSignal): Promise<Response> => {
    let trouble = "";
    for (let attempt = 0; attempt < MOST_TRIES && !signal.aborted; attempt++) {
      const response = await once(question, signal).catch((error: unknown) => unreachable(error, signal));
      const waitMs = typeof response === "string" ? null : limitedForMs(response, clock.now());
      if (typeof response !== "string" && waitMs === null && response.status < 500) return response;
      if (waitMs !== null && waitMs > LONGEST_WAIT_MS) throw tooLimited(waitMs);
      trouble = typeof response === "string" ? response : `it answers ${response.status}`;
      if (typeof response !== "string") await response.body?.cancel();
      // Creating something twice is worse than asking a person: only what can be repeated is repeated.
      if (waitMs === null && question.method !== "GET") break;
      await clock.sleep(waitMs ?? FIRST_PAUSE_MS * 2 ** attempt, signal);
    }
    throw new RemandError(
      "forge-unreachable",
      `${api} cannot be asked: ${trouble}`,
      "Try again later; nothing is lost.",
    );
  };
}

const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_WAIT_MS = 15 * 60_000;

export const isWithin = (api: string, url: string): boolean =>
  URL.canParse(url) && new URL(url).origin === new URL(api).origin;

function unreachable(error: unknown, signal: AbortSignal): string {
  if (signal.aborted)
    throw new RemandError("forge-unreachable", "asking was stopped", "Run it again.", { cause: error });
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

/** How long the forge wants to be left alone; `null` when it does not say so. */
function limitedForMs(response: Response, nowMs: number): number | null {
  if (response.status !== 403 && response.status !== 429) return null;
  const after = Number(response.headers.get("retry-after") ?? NaN);
  if (Number.isFinite(after)) return after * 1000;
  if (response.headers.get("x-ratelimit-remaining") === "0") {
    const reset = Number(response.headers.get("x-ratelimit-reset") ?? NaN);
    return Number.isFinite(reset) ? Math.max(1000, reset * 1000 - nowMs) : 60_000;
  }
  return response.status === 429 ? 60_000 : null;
}

function tooLimited(waitMs: number): RemandError {
  const minutes = Math.ceil(waitMs / 60_000);
  return new RemandError(
    "forge-unreachable",
    `the forge takes no more requests for ${minutes} min`,
    "Wait until then, or use a login with a higher limit.",
  );
}
