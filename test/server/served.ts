import { request } from "node:http";
import { onTestFinished } from "vitest";
import { storyId } from "../../src/core/events/ids.ts";
import type { DashboardSource } from "../../src/server/live.ts";
import { startDashboard, type Dashboard } from "../../src/server/app.ts";
import { fakeHost, type FakeHost } from "../kit/fake-host.ts";
import { hostAfterRun } from "../kit/finished-run.ts";
import { world as scripted } from "../seeds/scripted-run.ts";
import { story } from "../kit/story-world.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;

/** One story that asks a person, and one that is done. */
export const stuck = (): Promise<FakeHost> =>
  hostAfterRun([story("login"), story("done")], scripted({ gates: { checks: [SAME, SAME, SAME] }, story: "login" }));

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows which document it asked for
  json<T = Record<string, never>>(): T;
}

export interface Asking {
  readonly method?: string;
  /** `null` removes a header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string;
}

export interface Served {
  readonly host: FakeHost;
  readonly dashboard: Dashboard;
  /** Sends the token and the right Host header, unless `asking` says otherwise. */
  ask(path: string, asking?: Asking): Promise<Answer>;
  answer(body: object, asking?: Asking): Promise<Answer>;
  /** Reads this many lines of the stream. */
  stream(
    count: number,
    headers?: Readonly<Record<string, string>>,
    started?: () => void,
  ): Promise<readonly { id: number; event: string }[]>;
}

/** Serves for the duration of a test. */
export async function startServer(host: FakeHost, more: Partial<DashboardSource> = {}): Promise<Served> {
  const server = await serving(host, more);
  onTestFinished(() => server.close());
  return server;
}

export const servedStuck = async (more: Partial<DashboardSource> = {}): Promise<Served> =>
  startServer(await stuck(), more);

export async function serving(
  host: FakeHost = fakeHost(),
  more: Partial<DashboardSource> = {},
): Promise<Served & { close(): Promise<void> }> {
  const text = (value: string, type: string) => ({ type, bytes: new TextEncoder().encode(value) });
  const source: DashboardSource = {
    project: "shop",
    version: "1.2.3",
    by: "ada",
    readOnly: false,
    secrets: {},
    assets: new Map([
      ["/index.html", text("<!doctype html><title>Remand</title>", "text/html; charset=utf-8")],
      ["/assets/app.js", text("export {};", "text/javascript; charset=utf-8")],
    ]),
    openView: () => host.openView("/work"),
    appendEach: (streams) => host.appendEach("/work", streams),
    verify: async () => ({ ok: true, position: 1, problem: null, hash: "h" }),
    health: async () => ({ probes: [], config: [] }),
    placeOf: () => null,
    now: () => Date.UTC(2026, 1, 22),
    engine: async () => ({ pid: 1, since: Date.UTC(2026, 1, 21) }),
    startEngine: () => Promise.reject(new Error("no engine in this test")),
    stories: {
      read: async () => null,
      write: () => Promise.reject(new Error("no files in this test")),
    },
    output: {
      read: async () => ({ lines: [], place: { file: 0, offset: 0 }, hasMore: false }),
      lastPlace: async () => null,
      lastLine: async () => null,
    },
    ...more,
  };
  const dashboard = await startDashboard(source, 0);
  const ask = (path: string, asking: Asking = {}): Promise<Answer> => asked(dashboard, path, asking);
  return {
    host,
    dashboard,
    ask,
    answer: (body, asking = {}) =>
      ask("/api/answers", {
        method: "POST",
        body: JSON.stringify(body),
        ...asking,
        headers: { "content-type": "application/json", ...asking.headers },
      }),
    stream: (count, headers = {}, started = () => undefined) => streamed(dashboard, count, headers, started),
    close: () => dashboard.close(),
  };
}

function headersOf(dashboard: Dashboard, more: Readonly<Record<string, string | null>> = {}): Record<string, string> {
  const all = { host: `127.0.0.1:${dashboard.port}`, authorization: `Bearer ${dashboard.token}`, ...more };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

/** Sends a raw request, because `fetch` would normalize the path and set its own Host header. */
function asked(dashboard: Dashboard, path: string, { method = "GET", headers, body }: Asking): Promise<Answer> {
  return new Promise((done, failed) => {
    const options = { host: "127.0.0.1", port: dashboard.port, path, method, headers: headersOf(dashboard, headers) };
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () =>
        done({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) }),
      );
    });
    sent.on("error", failed);
    sent.end(body);
  });
}

async function streamed(
  dashboard: Dashboard,
  count: number,
  headers: Readonly<Record<string, string>>,
  started: () => void,
) {
  const over = new AbortController();
  const response = await fetch(`http://127.0.0.1:${dashboard.port}/api/events`, {
    headers: { authorization: `Bearer ${dashboard.token}`, ...headers },
    signal: over.signal,
  });
  const decoder = new TextDecoder();
  let text = "";
  const found = (): { id: number; event: string }[] =>
    [...text.matchAll(/^id: (\d+)\nevent: (\w+)\ndata: .*\n\n/gm)].map(([, id, event]) => ({
      id: Number(id),
      event: event!,
    }));
  for await (const part of response.body!) {
    text += decoder.decode(part, { stream: true });
    if (text.includes("event: start")) started();
    if (found().length >= count) break;
  }
  over.abort();
  return found();
}

export const LOGIN = storyId("login");
