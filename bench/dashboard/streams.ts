import { connect, type Socket } from "node:net";
import type { BenchResult } from "../bench-result.ts";
import type { BenchServer } from "./served.ts";
import { writeTo } from "./writing.ts";

const READERS = 19;
/** Lines until caches have their usual size. */
const WARM_UP = 20_000;
const LINES = 100_000;

/**
 * A hundred thousand lines to twenty readers, one of which has stopped reading: what the server refers to must not grow.
 * Resident memory says little about that: it depends on when Node collects garbage.
 */
export async function measureStreams(server: BenchServer, file: string): Promise<readonly BenchResult[]> {
  const writing = await writeTo(file);
  const { position } = (await (await server.ask("/hello")).json()) as { position: number };
  const stuck = stuckReader(server);
  const over = new AbortController();
  const readers = Array.from({ length: READERS }, () => reader(server, position, over.signal));
  try {
    await writing.lines(WARM_UP);
    await Promise.all(readers.map((each) => each.has(WARM_UP)));
    const before = await server.liveMb();
    const residentBefore = server.memoryMb();
    const start = performance.now();
    await writing.lines(LINES);
    await Promise.all(readers.map((each) => each.has(WARM_UP + LINES)));
    const seconds = (performance.now() - start) / 1000;
    const residentMb = server.memoryMb();
    const after = await server.liveMb();
    const against = `${before.toFixed(0)} MB before`;
    return [
      {
        name: "dashboard: lines to 20 readers",
        value: LINES / seconds,
        unit: "lines/s",
        ratio: 1,
        against: "-",
        limit: null,
      },
      { name: "dashboard: memory after 100,000", value: after, unit: "MB", ratio: after / before, against, limit: 1.2 },
      {
        name: "dashboard: resident, with garbage",
        value: residentMb,
        unit: "MB",
        ratio: residentMb / residentBefore,
        against: `${residentBefore.toFixed(0)} MB before`,
        limit: null,
      },
    ];
  } finally {
    over.abort();
    stuck.destroy();
    await writing.close();
  }
}

function stuckReader({ origin, token }: BenchServer): Socket {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /api/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  socket.pause();
  return socket;
}

function reader({ origin, token }: BenchServer, after: number, signal: AbortSignal) {
  const state = { last: after, wanted: Infinity, done: (): void => undefined };
  const read = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, "last-event-id": String(after) };
    const { body } = await fetch(`${origin}/api/events`, { headers, signal });
    const decoder = new TextDecoder();
    let rest = "";
    for await (const part of body!) {
      const text = rest + decoder.decode(part, { stream: true });
      state.last = Math.max(state.last, ...[...text.matchAll(/id: (\d+)\n/g)].map(([, id]) => Number(id)));
      // A line's id may be split at the end of a chunk.
      rest = text.slice(-40);
      if (state.last >= state.wanted) state.done();
    }
  };
  const failed = read();
  return {
    /** Resolves when the reader has this many lines. */
    has: (count: number): Promise<void> =>
      Promise.race([
        failed,
        new Promise<void>((done) => {
          state.wanted = after + count;
          state.done = done;
          if (state.last >= state.wanted) done();
        }),
      ]),
  };
}
