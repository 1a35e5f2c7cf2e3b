import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGroupWriter, type Write } from "../../../src/adapters/journal/group-writer.ts";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import { A, B, lines, startedEvent } from "../../contract/journal.ts";

let folder: string;
let ours: Journal;
let theirs: Journal;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "remand-writers-"));
  ours = await createSqliteJournal(join(folder, "journal.db"));
  theirs = await createSqliteJournal(join(folder, "journal.db"));
});
afterEach(async () => {
  await ours.close();
  await theirs.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("two writers of one file", () => {
  test("reject an append that is based on an old state, with the current position", async () => {
    await ours.append(A, 0, [startedEvent("us")], 1);
    expect((await theirs.append(A, 1, [startedEvent("them")], 2)).ok).toBe(true);
    expect(await ours.append(A, 1, [startedEvent("us")], 3)).toEqual({
      ok: false,
      conflict: { expected: 1, actual: 2 },
    });
    expect((await ours.append(A, 2, [startedEvent("us")], 4)).ok).toBe(true);
    expect((await lines(ours)).map(({ event }) => event)).toEqual(["us", "them", "us"].map(startedEvent));
  });

  test("write the first line of a story once", async () => {
    await ours.append(A, 0, [startedEvent()], 1);
    await theirs.append(B, 0, [startedEvent("them")], 2);
    expect(await ours.append(B, 0, [startedEvent("us")], 3)).toEqual({
      ok: false,
      conflict: { expected: 0, actual: 1 },
    });
  });

  test("may append lines of different stories alternately, and the chain is intact", async () => {
    await ours.append(A, 0, [startedEvent()], 1);
    await theirs.append(B, 0, [startedEvent()], 2);
    const appended = await ours.append(A, 1, [startedEvent()], 3);
    expect(appended).toMatchObject({ ok: true, stored: [{ position: 3, seq: 2 }] });
    expect(await theirs.verify()).toMatchObject({ ok: true, head: { position: 3 } });
  });

  test("count each story's lines in any order, and the chain is intact", async () => {
    const streams = ["one", "two", "three"].map(storyId);
    const lengths = new Map(streams.map((stream) => [stream, 0]));
    let refused = 0;
    for (let i = 0; i < 300; i++) {
      const journal = (i * 7) % 5 < 2 ? ours : theirs;
      const stream = streams[(i * 11) % 3]!;
      const length = lengths.get(stream)!;
      // Now and then with the length of two lines ago.
      const expected = i % 13 === 0 ? Math.max(0, length - 2) : length;
      const { ok } = await journal.append(stream, expected, [startedEvent(`${i}`)], i);
      expect(ok).toBe(expected === length);
      if (ok) lengths.set(stream, length + 1);
      else refused++;
    }
    expect(refused).toBeGreaterThan(10);
    expect(await ours.verify()).toMatchObject({ ok: true, head: { position: 300 - refused } });
  });
});

test("a caller that writes without a pause does not block the event loop", async () => {
  let turns = 0;
  let isOver = false;
  const takeTurns = async (): Promise<void> => {
    for (; !isOver; turns++) await nextTurn();
  };
  const others = takeTurns();
  for (let seq = 0; turns <= 5 && seq < 5000; seq++) await ours.append(A, seq, [startedEvent()], 1);
  isOver = true;
  await others;
  expect(turns).toBeGreaterThan(5);
});

describe("writes of the same moment share one commit", () => {
  const append = (name: string): Write => ({ stream: storyId(name), expectedSeq: 0, events: [], at: 0 });
  const groups: number[] = [];
  const writer = (commitMs: number) =>
    createGroupWriter(async (group) => {
      groups.push(group.length);
      const end = performance.now() + commitMs;
      while (performance.now() < end);
      return group.map(() => ({ ok: true, stored: [] }));
    });
  beforeEach(() => void groups.splice(0));

  test("if callers write in one turn, after any number of microtasks", async () => {
    const { write } = writer(0);
    await write(append("first"));
    const later = async (steps: number): Promise<void> => {
      for (let i = 0; i < steps; i++) await Promise.resolve();
      await write(append(`after-${steps}`));
    };
    await Promise.all([later(0), later(5), later(50)]);
    expect(groups).toEqual([1, 3]);
  });

  test("if callers write in the same turn of the event loop and commits are slow", async () => {
    const { write } = writer(3);
    await write(append("first"));
    await sleep(2);
    const later = async (name: string): Promise<void> => {
      await nextTurn();
      await write(append(name));
    };
    await Promise.all([later("a"), later("b"), later("c")]);
    expect(groups).toEqual([1, 3]);
  });
});
