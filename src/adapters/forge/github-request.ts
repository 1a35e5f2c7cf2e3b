import { RemandError } from "../../core/events/error.ts";
import type { Clock } from "../../ports/clock.ts";

interface GithubResponse {
  readonly body: unknown;
  readonly next: string | null;
}

export interface GithubRequest {
  json(method: string, path: string, body: object | null, signal: AbortSignal): Promise<GithubResponse>;
  /** Reads all pages of a list; `pick` extracts the list from a page. */
  pages<T>(path: string, pick: (body: unknown) => readonly T[], signal: AbortSignal): Promise<T[]>;
  text(path: string, signal: AbortSignal): Promise<{ readonly text: string; readonly isPartial: boolean } | null>;
}

/**
 * Sends requests to GitHub's REST API. Problems that a person must fix (no login, no access, no such repository) are
 * errors with a hint.
 */
export function createGithubRequest(options: GithubOptions): GithubRequest {
  const ask = createPatience(options);
  const known = new Map<string, { readonly etag: string; readonly answer: GithubResponse }>();
  const root = options.api.replace(/\/+$/, "");

  async function json(method: string, path: string, body: object | null, signal: AbortSignal): Promise<GithubResponse> {
    const url = path.startsWith("http") ? path : `${root}${path}`;
    const earlier = method === "GET" ? known.get(url) : undefined;
    const response = await ask({ method, url, body, etag: earlier?.etag }, signal);
    if (response.status === 304 && earlier !== undefined) return earlier.answer;
    const text = await response.text().catch(brokenOff);
    refuse(response.status, path, text);
    const answer = { body: parseJson(text), next: nextOf(response.headers.get("link")) };
    const etag = response.headers.get("etag");
    if (method === "GET" && etag !== null && response.status === 200) {
      if (known.size > MOST_KNOWN) known.clear();
      known.set(url, { etag, answer });
    }
    return answer;
  }

  return {
    json,
    async pages(path, pick, signal) {
      const all = [];
      let next: string | null = path;
      for (let page = 0; next !== null && page < MOST_PAGES; page++) {
        const answer: GithubResponse = await json("GET", next, null, signal);
        all.push(...pick(answer.body));
        // Do not follow a link to another host.
        next = answer.next !== null && isWithin(root, answer.next) ? answer.next : null;
      }
      return all;
    },
    async text(path, signal) {
      const response = await ask({ method: "GET", url: `${root}${path}`, body: null, etag: undefined }, signal);
      if (response.status === 404 || response.status === 410) return null;
      if (!response.ok) refuse(response.status, path, await response.text());
      return cappedText(response);
    },
  };
}

const MOST_PAGES = 20;
const MOST_KNOWN = 200;
const MOST_BYTES = 20_000_000;

function refuse(status: number, path: string, text: string): void {
  if (status < 400) return;
  const said = (parseJson(text) as { message?: unknown } | null)?.message;
  const why = typeof said === "string" ? said.slice(0, 200) : `it answers ${status}`;
  if (status === 401)
    throw new RemandError(
      "forge-refused",
      `the forge rejected this login: ${why}`,
      "Set GITHUB_TOKEN to a valid token.",
    );
  if (status === 403)
    throw new RemandError(
      "forge-refused",
      `the forge does not allow ${path}: ${why}`,
      "Give the token the rights: contents, pull requests, checks and actions of this repository.",
    );
  if (status === 404)
    throw new RemandError(
      "forge-refused",
      `the forge has no ${path}`,
      "Look at `forge.repository`; a private repository that the token may not see looks the same.",
    );
  throw new RemandError("forge-refused", `the forge refuses ${path}: ${why}`, "See what the forge says.");
}

function brokenOff(error: unknown): never {
  throw new RemandError(
    "forge-unreachable",
    `the forge's answer was cut off: ${(error as Error).message}`,
    "Try again later; nothing is lost.",
    { cause: error },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy replied with a page of its own; the status is enough.
    return null;
  }
}

function nextOf(link: string | null): string | null {
  return /<([^>]+)>;\s*rel="next"/.exec(link ?? "")?.[1] ?? null;
}

/** Reads a response up to a size limit. Of a long log the end is kept, because it says what failed. */
async function cappedText(response: Response): Promise<{ text: string; isPartial: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isPartial = false;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk as Uint8Array);
      size += (chunk as Uint8Array).length;
      while (size - chunks[0]!.length > MOST_BYTES) {
        size -= chunks.shift()!.length;
        isPartial = true;
      }
    }
  } catch {
    // The connection broke: return what arrived, marked as partial.
    isPartial = true;
  }
  return { text: Buffer.concat(chunks).toString("utf8"), isPartial };
}

export interface GithubOptions {
  /** `https://api.github.com`, or the API of an own GitHub server. */
  readonly api: string;
  /** `null`: unauthenticated, which is enough for public repositories. Never journaled or printed. */
  readonly token: string | null;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
}

export interface GithubForgeOptions extends GithubOptions {
  /** `owner/name`. */
  readonly repository: string;
}

export interface GithubCall {
  readonly method: string;
  readonly url: string;
  readonly body: object | null;
  readonly etag: string | undefined;
}

/**
 * Repeats a call until it has a final response. Waits for a rate limit to end, and for server errors with growing
 * pauses.
 */
function createPatience({ api, token, clock, fetch: ask = fetch }: GithubOptions) {
  const once = ({ method, url, body, etag }: GithubCall, signal: AbortSignal): Promise<Response> => {
    const headers: Record<string, string> = {
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "remand",
      ...(body === null ? {} : { "content-type": "application/json" }),
      // Send the token only to the host it is for, and not to a host that a link names.
      ...(token === null || !isWithin(api, url) ? {} : { authorization: `Bearer ${token}` }),
      ...(etag === undefined ? {} : { "if-none-match": etag }),
    };
    return ask(url, { method, headers, signal, ...(body === null ? {} : { body: JSON.stringify(body) }) });
  };

  return async (question: GithubCall, signal: AbortSignal): Promise<Response> => {
    let trouble = "";
    for (let attempt = 0; attempt < MOST_TRIES && !signal.aborted; attempt++) {
      const response = await once(question, signal).catch((error: unknown) => unreachable(error, signal));
      const waitMs = typeof response === "string" ? null : limitedForMs(response, clock.now());
      if (typeof response !== "string" && waitMs === null && response.status < 500) return response;
      if (waitMs !== null && waitMs > LONGEST_WAIT_MS) throw tooLimited(waitMs);
      trouble = typeof response === "string" ? response : `it answers ${response.status}`;
      if (typeof response !== "string") await response.body?.cancel();
      // Only requests that are safe to repeat are repeated: creating something twice is worse than asking a person.
      if (waitMs === null && question.method !== "GET") break;
      await clock.sleep(waitMs ?? FIRST_PAUSE_MS * 2 ** attempt, signal);
    }
    throw new RemandError(
      "forge-unreachable",
      `${api} cannot be reached: ${trouble}`,
      "Try again later; nothing is lost.",
    );
  };
}

const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_WAIT_MS = 15 * 60_000;

const isWithin = (api: string, url: string): boolean =>
  URL.canParse(url) && new URL(url).origin === new URL(api).origin;

function unreachable(error: unknown, signal: AbortSignal): string {
  if (signal.aborted)
    throw new RemandError("forge-unreachable", "the request was canceled", "Run it again.", { cause: error });
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

/** Returns how long a rate limit lasts; `null` if the response states none. */
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
    `the forge's rate limit is reached for ${minutes} min`,
    "Wait until then, or use a login with a higher limit.",
  );
}
