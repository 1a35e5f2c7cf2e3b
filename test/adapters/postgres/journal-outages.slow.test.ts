import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createPostgresJournal, type PostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { A, B, lines, startedEvent } from "../../contract/journal.ts";
import { startProxy, type Proxy } from "../../kit/proxy.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let proxy: Proxy;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.newDatabase();
  // Create the tables here, because the tests use short timeouts.
  await (await createPostgresJournal(url)).close();
  proxy = await startProxy(server.port);
});
/** Waits for a condition, even on a busy machine. */
const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, 60_000);

const opened: PostgresJournal[] = [];
afterEach(async () => {
  proxy.network("well");
  for (const journal of opened.splice(0)) await journal.close();
  await proxy.close();
});

async function open(place = url, options: Parameters<typeof createPostgresJournal>[1] = {}): Promise<PostgresJournal> {
  const journal = await createPostgresJournal(place, options);
  opened.push(journal);
  return journal;
}

/** Appends one event after the other to a stream, and continues from the journal's position after a rejection. */
async function write(journal: PostgresJournal, name: string, count: number): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let seq = 0; seq < count; seq++) {
    const appended = await journal.append(storyId(name), seq, [startedEvent(`${name} ${seq}`)], seq);
    if (!appended.ok) throw new Error(`${name} was refused at ${seq}: ${JSON.stringify(appended.conflict)}`);
    acknowledged.push(appended.stored[0]!.hash);
  }
  return acknowledged;
}

describe("a server that crashes while writers write", () => {
  test("no acknowledged line is lost or duplicated, and no writer is rejected", async () => {
    const journals = [await open(), await open(), await open()];
    let isDone = false;
    const crashes = (async () => {
      for (let i = 0; i < 4 && !isDone; i++) {
        await sleep(150);
        await server.restart("immediate");
      }
    })();
    const names = journals.flatMap((journal, i) => [`x-${i}`, `y-${i}`, `z-${i}`].map((name) => ({ journal, name })));
    const written = await Promise.all(names.map(({ journal, name }) => write(journal, name, 150)));
    isDone = true;
    await crashes;
    const all = await lines(journals[0]!);
    expect(all.map((line) => line.position)).toEqual(Array.from({ length: 9 * 150 }, (_, i) => i + 1));
    expect(new Set(written.flat())).toEqual(new Set(all.map((line) => line.hash)));
    for (const { name } of names)
      expect(all.filter((line) => line.story === name).map((line) => line.seq)).toEqual(
        Array.from({ length: 150 }, (_, i) => i + 1),
      );
    expect(await journals[1]!.verify()).toMatchObject({ ok: true });
  });

  test("a reader waits for the server, and continues where it was", async () => {
    const journal = await open();
    await journal.append(
      A,
      0,
      Array.from({ length: 3000 }, (_, i) => startedEvent(`${i}`)),
      1,
    );
    const seen: number[] = [];
    for await (const { position } of journal.read(0)) {
      seen.push(position);
      if (position === 150) await server.halt("immediate");
      if (position === 200) void sleep(300).then(() => server.start());
    }
    expect(seen).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
  });
});

describe("an append whose reply is lost", () => {
  test.each([
    ["is known again when the connection breaks", 20_000],
    ["is known again when the server seems to be silent", 300],
  ])("%s", async (_title, tryMs) => {
    const journal = await open(proxy.url(url), { tryMs });
    await journal.append(A, 0, [startedEvent("first")], 1);
    proxy.network("lose-answers");
    const rival = [startedEvent("of a rival")];
    const appended = Promise.all([
      journal.append(A, 1, [startedEvent("second"), startedEvent("third")], 2),
      journal.append(A, 1, rival, 2),
      journal.append(B, 0, [startedEvent("another")], 2),
      journal.outbox.put("key", "text"),
    ]);
    const beside = await open();
    await eventually(async () => expect(await lines(beside)).toHaveLength(4));
    // Another writer appends after it, before the first writer gets its answer.
    expect(await beside.append(A, 3, [startedEvent("fourth")], 3)).toMatchObject({ ok: true });
    if (tryMs > 1000) proxy.cut();
    proxy.network("well");
    const [second, refused, another] = await appended;
    const all = await lines(beside);
    expect(second).toEqual({ ok: true, stored: [all[1], all[2]] });
    expect(refused).toEqual({ ok: false, conflict: { expected: 1, actual: 4 } });
    expect(another).toEqual({ ok: true, stored: [all[3]] });
    expect(all.map((line) => line.event)).toEqual(
      ["first", "second", "third", "another", "fourth"].map((by) => startedEvent(by)),
    );
    expect(await beside.outbox.get("key")).toBe("text");
  });

  test("is written once even if the first attempt still runs when the second starts", async () => {
    const journal = await open(proxy.url(url), { tryMs: 300 });
    await journal.append(A, 0, [startedEvent("first")], 1);
    // This session holds the turn to append, so both attempts wait on the server.
    const held = server.sql("BEGIN; SELECT FROM remand.turn FOR UPDATE; SELECT pg_sleep(1.2); COMMIT", url);
    const appended = await journal.append(A, 1, [startedEvent("second")], 2);
    await held;
    expect(appended).toMatchObject({ ok: true, stored: [{ seq: 2 }] });
    expect(await lines(journal)).toHaveLength(2);
    const left = await server.sql(
      "SELECT pid FROM pg_stat_activity WHERE query LIKE '%append_2%' AND state = 'active' AND pid <> pg_backend_pid()",
      url,
    );
    expect(left).toEqual([]);
  });
});

describe("patience", () => {
  test("ends, with an error that says what happened, without the password", async () => {
    const journal = await open(proxy.url(url), { patienceMs: 2000, tryMs: 500 });
    await journal.append(A, 0, [startedEvent()], 1);
    proxy.network("freeze");
    const error = await journal.append(A, 1, [startedEvent()], 1).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "journal-unreachable" });
    expect((error as Error).message).toContain("does not answer");
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("s3cret");
    proxy.network("well");
    // Nothing was written, and the journal works again.
    expect(await journal.append(A, 1, [startedEvent("again")], 1)).toMatchObject({ ok: true });
  });

  test("ends at once when the journal is closed", async () => {
    const journal = await createPostgresJournal(proxy.url(url));
    await journal.append(A, 0, [startedEvent()], 1);
    proxy.network("freeze");
    const reading = lines(journal);
    const refusal = reading.then(
      () => null,
      (error: Error) => error.message,
    );
    await sleep(50);
    proxy.cut();
    await proxy.close();
    await journal.close();
    expect(await refusal).toMatch(/closed|does not answer|cannot be reached/);
    proxy = await startProxy(server.port);
  });
});

describe("watching", () => {
  test("reports others' lines at once, and own lines as own", async () => {
    const [ours, theirs] = [await open(url, { pollMs: 60_000 }), await open()];
    const heard: string[] = [];
    const stop = ours.watch((whose) => heard.push(whose));
    // The first notification comes when it listens.
    await eventually(() => expect(heard).toEqual(["others"]));
    await theirs.append(A, 0, [startedEvent()], 1);
    await eventually(() => expect(heard).toEqual(["others", "others"]));
    await ours.append(A, 1, [startedEvent()], 1);
    expect(heard).toEqual(["others", "others", "ours"]);
    stop();
  });

  test("listens again after a lost connection, and says that something may have been missed", async () => {
    const [ours, theirs] = [await open(url, { pollMs: 60_000 }), await open()];
    const heard = vi.fn<() => void>();
    const stop = ours.watch(heard);
    await eventually(() => expect(heard).toHaveBeenCalled());
    await server.restart("immediate");
    await theirs.append(A, 0, [startedEvent()], 1);
    await eventually(async () => expect(await lines(ours)).toHaveLength(1));
    await eventually(() => expect(heard.mock.calls.length).toBeGreaterThanOrEqual(2));
    heard.mockClear();
    await theirs.append(A, 1, [startedEvent()], 1);
    await eventually(() => expect(heard).toHaveBeenCalled());
    stop();
  });

  test("reports after a reconnect what was written meanwhile", async () => {
    const [ours, theirs] = [await open(proxy.url(url), { pollMs: 3_600_000 }), await open()];
    const heard = vi.fn<() => void>();
    const stop = ours.watch(heard);
    await eventually(() => expect(heard).toHaveBeenCalledOnce());
    proxy.network("freeze");
    proxy.cut();
    await theirs.append(A, 0, [startedEvent()], 1);
    await sleep(100);
    expect(heard).toHaveBeenCalledOnce();
    proxy.network("well");
    // Cut attempts from in between, which got no reply and must be repeated.
    proxy.cut();
    await eventually(() => expect(heard).toHaveBeenCalledTimes(2));
    stop();
  });

  test("detects a silently dead connection by polling", async () => {
    const [ours, theirs] = [await open(proxy.url(url), { pollMs: 100, tryMs: 200 }), await open()];
    const heard = vi.fn<() => void>();
    const stop = ours.watch(heard);
    await eventually(() => expect(heard).toHaveBeenCalled());
    heard.mockClear();
    proxy.network("freeze");
    await theirs.append(A, 0, [startedEvent()], 1);
    const before = proxy.connections();
    await eventually(() => expect(proxy.connections()).toBeGreaterThan(before));
    expect(heard).not.toHaveBeenCalled();
    proxy.network("well");
    await eventually(() => expect(heard).toHaveBeenCalled());
    stop();
  });
});
