import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { A, startedEvent } from "../../contract/journal.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const part = (name: string, text = `state of ${name}`) => ({ name, text, outline: `outline of ${text}` });
const at = (position: number, ...parts: ReturnType<typeof part>[]) => ({ position, format: "1", parts });

test("of several workers, one keeps the snapshot, and another takes over when it becomes old", async () => {
  const url = `${server.url}?schema=keepers`;
  const options = { sharesSnapshots: true };
  const [one, two] = [await createPostgresJournal(url, options), await createPostgresJournal(url, options)];
  await one.append(
    A,
    0,
    Array.from({ length: 9000 }, (_, i) => startedEvent(`${i}`)),
    1,
  );
  expect(await one.saveSnapshot(at(1000, part("a"), part("b")), null)).toBe(true);
  expect((await two.latestSnapshot("1"))?.position).toBe(1000);
  // Both have folded more lines. The first one updates the snapshot; the changes of the second do not fit any more.
  expect(await one.saveSnapshot(at(2000, part("b", "new")), 1000)).toBe(true);
  expect(await two.saveSnapshot(at(2050, part("a", "of two")), 1000)).toBe(true);
  expect(await two.latestSnapshot("1")).toEqual(at(2000, part("a"), part("b", "new")));
  expect(await one.saveSnapshot(at(3000, part("a", "newer")), 2000)).toBe(true);
  await one.close();
  const all = at(8500, part("a", "of two"), part("b", "of two"));
  expect(await two.saveSnapshot(all, 2050)).toBe(false);
  expect(await two.saveSnapshot(all, null)).toBe(true);
  expect(await two.latestSnapshot("1")).toEqual(all);
  await two.close();
});

test("a worker that finds a damaged snapshot writes it again", async () => {
  const url = `${server.url}?schema=damaged`;
  const journal = await createPostgresJournal(url);
  await journal.append(A, 0, [startedEvent()], 1);
  await journal.saveSnapshot(at(1, part("a")), null);
  await journal.close();
  await server.sql("UPDATE damaged.part SET text = 'changed'");
  const next = await createPostgresJournal(url, { sharesSnapshots: true });
  expect(await next.latestSnapshot("1")).toBeNull();
  expect(await next.saveSnapshot(at(1, part("a")), null)).toBe(true);
  expect(await next.latestSnapshot("1")).toEqual(at(1, part("a")));
  await next.close();
});

test("a snapshot of many megabytes is saved and read in pieces, completely or not at all", async () => {
  const journal = await createPostgresJournal(`${server.url}?schema=large`);
  await journal.append(A, 0, [startedEvent()], 1);
  const parts = Array.from({ length: 12_000 }, (_, i) => part(`story-${String(i).padStart(5, "0")}`, "x".repeat(1000)));
  expect(await journal.saveSnapshot(at(1, ...parts), null)).toBe(true);
  expect(await journal.latestSnapshot("1")).toEqual(at(1, ...parts));
  expect((await journal.latestOutlines("1"))?.outlines).toHaveLength(12_000);
  const [row] = await server.sql("SELECT parts FROM large.snapshot");
  expect(row).toEqual({ parts: 12_000 });
  await journal.close();
});
