import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Event } from "../../src/core/events/event.ts";
import { storyId, type StoryId } from "../../src/core/events/ids.ts";
import type { AppendResult, Journal, SnapshotPart, StoredEvent } from "../../src/ports/journal.ts";

/** Creates and removes a journal under test. */
export interface JournalMaker {
  open(): Promise<Journal>;
  /** Called after each test, when its journal is closed. */
  clear(): Promise<void>;
}

/** Tests what every journal guarantees, whatever its store. */
export function journalContract(name: string, maker: JournalMaker): void {
  describe(`${name} keeps the journal's contract`, () => {
    let journal: Journal;
    beforeEach(async () => {
      journal = await maker.open();
    });
    afterEach(async () => {
      await journal.close();
      await maker.clear();
    });
    appending(() => journal);
    conflicts(() => journal);
    chain(() => journal);
    describe("snapshots", () => {
      snapshots(() => journal);
    });
    watching(() => journal);
  });
}

export const A = storyId("A");
export const B = storyId("B");

export const startedEvent = (by = "test"): Event => ({ type: "story.started", by });

export async function lines(journal: Pick<Journal, "read">, after = 0, only?: StoryId): Promise<StoredEvent[]> {
  const all: StoredEvent[] = [];
  for await (const line of journal.read(after, only)) all.push(line);
  return all;
}

function written(appended: AppendResult): readonly StoredEvent[] {
  if (!appended.ok) throw new Error(`conflict: ${JSON.stringify(appended.conflict)}`);
  return appended.stored;
}

function appending(journal: () => Journal): void {
  test("an empty journal has no lines and a head at 0", async () => {
    expect(await lines(journal())).toEqual([]);
    expect(await journal().head()).toEqual({ position: 0, hash: "0".repeat(64) });
    expect(await journal().verify()).toEqual({ ok: true, head: { position: 0, hash: "0".repeat(64) } });
  });

  test("appended events are read back, in order, with their position", async () => {
    const first = written(
      await journal().append(A, 0, [startedEvent("x"), { type: "story.accepted" }], 1_700_000_000_123),
    );
    const second = written(
      await journal().append(null, 0, [{ type: "infrastructure.blocked", issue: "no network" }], 5),
    );
    const third = written(await journal().append(A, 2, [{ type: "story.held", by: "p" }], 7.5));
    const all = await lines(journal());
    expect(all).toEqual([...first, ...second, ...third]);
    expect(all.map(({ position, story, seq, at, v }) => ({ position, story, seq, at, v }))).toEqual([
      { position: 1, story: "A", seq: 1, at: 1_700_000_000_123, v: 1 },
      { position: 2, story: "A", seq: 2, at: 1_700_000_000_123, v: 1 },
      { position: 3, story: null, seq: 1, at: 5, v: 1 },
      { position: 4, story: "A", seq: 3, at: 7.5, v: 1 },
    ]);
    expect(all[0]!.event).toEqual(startedEvent("x"));
    expect(await journal().head()).toEqual({ position: 4, hash: all[3]!.hash });
  });

  test("reading starts after the given position", async () => {
    await journal().append(A, 0, [startedEvent("1"), startedEvent("2"), startedEvent("3")], 1);
    expect((await lines(journal(), 1)).map((line) => line.position)).toEqual([2, 3]);
    expect(await lines(journal(), 3)).toEqual([]);
    expect(await lines(journal(), 99)).toEqual([]);
  });

  test("the lines of one story are read alone, over many pages too, and from the given position", async () => {
    for (let at = 0; at < 250; at++) {
      await journal().append(A, at, [startedEvent(`a${at}`)], 1);
      await journal().append(B, at * 2, [startedEvent("b"), startedEvent("b")], 1);
    }
    await journal().append(null, 0, [{ type: "infrastructure.blocked", issue: "no network" }], 1);
    const own = (await lines(journal())).filter(({ story }) => story === A);
    expect(own).toHaveLength(250);
    expect(await lines(journal(), 0, A)).toEqual(own);
    expect(await lines(journal(), own[99]!.position, A)).toEqual(own.slice(100));
    expect(await lines(journal(), 0, storyId("nobody"))).toEqual([]);
  });

  test("no events make no lines", async () => {
    expect(await journal().append(A, 0, [], 1)).toEqual({ ok: true, stored: [] });
    expect(await lines(journal())).toEqual([]);
  });

  test("text of every script, null characters and half surrogates are unchanged", async () => {
    const texts = ["üñ€😀", "日本語\u2028\u2029", "a\u0000b", '"\\\r\n\t', "\ud800x", "\u202eright to left", ""];
    await journal().append(A, 0, texts.map(startedEvent), 1);
    expect((await lines(journal())).map((line) => line.event)).toEqual(texts.map(startedEvent));
    expect(await journal().verify()).toMatchObject({ ok: true });
  });

  test("an event of many megabytes is read back completely", async () => {
    const big = "line of output €\n".repeat(400_000);
    await journal().append(A, 0, [startedEvent(big), startedEvent("after")], 1);
    const [line] = await lines(journal());
    expect(line!.event).toEqual(startedEvent(big));
  });

  test("five hundred streams are numbered independently", async () => {
    const ids = Array.from({ length: 500 }, (_, i) => storyId(`story-${i}`));
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(
        ids.map((id) => journal().append(id, round, [startedEvent(`${round}`)], round)),
      );
      expect(results.every((result) => result.ok)).toBe(true);
    }
    const all = await lines(journal());
    expect(all.map((line) => line.position)).toEqual(Array.from({ length: 1500 }, (_, i) => i + 1));
    for (const id of ids) expect(all.filter((line) => line.story === id).map((line) => line.seq)).toEqual([1, 2, 3]);
  });

  test("a caller's later change to its event does not reach the journal", async () => {
    const event = { type: "infrastructure.blocked", issue: "as written" };
    await journal().append(null, 0, [event as Event], 1);
    event.issue = "changed";
    const [line] = await lines(journal());
    expect(line!.event).toEqual({ type: "infrastructure.blocked", issue: "as written" });
  });

  test("an event that is not JSON is rejected, and other events are unaffected", async () => {
    const noJson = { type: "story.started", by: 1n } as unknown as Event;
    const bad = journal().append(A, 0, [startedEvent(), noJson], 1);
    const good = journal().append(B, 0, [startedEvent()], 1);
    await expect(bad).rejects.toThrow(/BigInt/);
    expect((await good).ok).toBe(true);
    expect((await lines(journal())).map((line) => line.story)).toEqual(["B"]);
  });

  test("a closed journal accepts nothing", async () => {
    await journal().close();
    await expect(journal().append(A, 0, [startedEvent()], 1)).rejects.toThrow("closed");
  });
}

function conflicts(journal: () => Journal): void {
  test("a writer that lost its place is rejected, with the current one", async () => {
    await journal().append(A, 0, [startedEvent("1"), startedEvent("2")], 1);
    expect(await journal().append(A, 1, [startedEvent("late")], 2)).toEqual({
      ok: false,
      conflict: { expected: 1, actual: 2 },
    });
    expect(await journal().append(A, 3, [startedEvent("early")], 2)).toEqual({
      ok: false,
      conflict: { expected: 3, actual: 2 },
    });
    expect(await journal().append(B, 1, [startedEvent("early")], 2)).toEqual({
      ok: false,
      conflict: { expected: 1, actual: 0 },
    });
    expect(await lines(journal())).toHaveLength(2);
  });

  test("of many writers in one turn that want the same position one wins, and other streams continue", async () => {
    const rivals = Array.from({ length: 20 }, (_, i) => journal().append(A, 0, [startedEvent(`rival ${i}`)], i));
    const others = Array.from({ length: 20 }, (_, i) =>
      journal().append(storyId(`other-${i}`), 0, [startedEvent()], i),
    );
    const results = await Promise.all(rivals);
    expect(results.map((result) => result.ok)).toEqual([true, ...Array.from({ length: 19 }, () => false)]);
    expect((await Promise.all(others)).every((result) => result.ok)).toBe(true);
    expect(results[19]).toEqual({ ok: false, conflict: { expected: 0, actual: 1 } });
    expect(await lines(journal())).toHaveLength(21);
    expect(await journal().verify()).toMatchObject({ ok: true });
  });

  test("appends of one turn are written in order", async () => {
    const all = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        journal().append(i % 2 === 0 ? A : B, Math.floor(i / 2), [startedEvent(`${i}`)], i),
      ),
    );
    expect(all.flatMap(written).map((line) => line.position)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
    expect((await lines(journal())).map((line) => line.at)).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });

  test("a line is readable as soon as its append has resolved", async () => {
    const writer = async (id: StoryId): Promise<void> => {
      for (let seq = 0; seq < 25; seq++) {
        const [line] = written(await journal().append(id, seq, [startedEvent(`${seq}`)], seq));
        const [read] = await lines(journal(), line!.position - 1);
        expect(read).toEqual(line);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, i) => writer(storyId(`writer-${i}`))));
    expect(await lines(journal())).toHaveLength(250);
  });
}

function chain(journal: () => Journal): void {
  test("every line's hash depends on its content and on the lines before", async () => {
    await journal().append(A, 0, [startedEvent("same"), startedEvent("same"), startedEvent("other")], 1);
    const hashes = (await lines(journal())).map((line) => line.hash);
    expect(new Set(hashes).size).toBe(3);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("the hash is the same in every journal, on every machine", async () => {
    await journal().append(A, 0, [startedEvent("x")], 1000);
    expect((await journal().head()).hash).toBe(FIRST_HASH);
  });

  test("a recorded head shows a truncated end and a rewritten chain", async () => {
    await journal().append(A, 0, [startedEvent("1"), startedEvent("2")], 1);
    const head = await journal().head();
    const [first] = await lines(journal());
    expect(await journal().verify(head)).toEqual({ ok: true, head });
    expect(await journal().verify({ position: 1, hash: first!.hash })).toEqual({ ok: true, head });
    const cut = await journal().verify({ position: 4, hash: "f".repeat(64) });
    expect(cut).toEqual({ ok: false, position: 3, problem: "the end is cut off: 2 lines up to 4 existed once" });
    const verified = await journal().verify({ position: 1, hash: head.hash });
    expect(verified).toMatchObject({ ok: false, position: 1, problem: expect.stringContaining("it was rewritten") });
  });
}

/** Computed once with `sha256sum` over 64 zeros and the canonical JSON of the line. */
const FIRST_HASH = "4cab3346e03c5a840bca79702619c61c70c420207614aedccde064c95de6feec";

function snapshots(journal: () => Journal): void {
  const part = (name: string, text = `state of ${name}`) => ({ name, text, outline: `outline of ${text}` });
  const snapshot = (position: number, format: string, ...parts: SnapshotPart[]) => ({ position, format, parts });
  beforeEach(() => journal().append(A, 0, [startedEvent("1"), startedEvent("2"), startedEvent("3")], 1));

  test("a snapshot is found by its format, with parts ordered by name", async () => {
    expect(await journal().latestSnapshot("1")).toBeNull();
    expect(await journal().latestOutlines("1")).toBeNull();
    const long = part("", "€".repeat(1_000_000));
    expect(await journal().saveSnapshot(snapshot(2, "1", part("b"), part("a"), long), null)).toBe(true);
    expect(await journal().latestSnapshot("1")).toEqual(snapshot(2, "1", long, part("a"), part("b")));
    expect(await journal().latestSnapshot("2")).toBeNull();
    expect(await journal().latestOutlines("2")).toBeNull();
  });

  test("a later snapshot has the changed parts and the unchanged ones", async () => {
    await journal().saveSnapshot(snapshot(1, "1", part("a"), part("b")), null);
    expect(await journal().saveSnapshot(snapshot(3, "1", part("b", "new"), part("c")), 1)).toBe(true);
    expect(await journal().latestSnapshot("1")).toEqual(snapshot(3, "1", part("a"), part("b", "new"), part("c")));
  });

  test("a complete snapshot replaces any other", async () => {
    await journal().saveSnapshot(snapshot(3, "1", part("a"), part("b")), null);
    await journal().saveSnapshot(snapshot(2, "2", part("b", "new")), null);
    expect(await journal().latestSnapshot("1")).toBeNull();
    expect(await journal().latestSnapshot("2")).toEqual(snapshot(2, "2", part("b", "new")));
  });

  test("changes to a missing snapshot are rejected, and nothing is written", async () => {
    expect(await journal().saveSnapshot(snapshot(2, "1", part("a")), 1)).toBe(false);
    await journal().saveSnapshot(snapshot(1, "1", part("a")), null);
    expect(await journal().saveSnapshot(snapshot(3, "1", part("a", "new")), 2)).toBe(false);
    expect(await journal().saveSnapshot(snapshot(3, "2", part("a", "new")), 1)).toBe(false);
    expect(await journal().latestSnapshot("1")).toEqual(snapshot(1, "1", part("a")));
  });

  test("outlines are read alone, and parts by name", async () => {
    await journal().saveSnapshot(snapshot(2, "1", part("a"), part("b")), null);
    expect(await journal().latestOutlines("1")).toEqual({
      position: 2,
      parts: 2,
      outlines: [
        { name: "a", text: part("a").outline },
        { name: "b", text: part("b").outline },
      ],
    });
    expect(await journal().latestOutlines("1", ["b", "unknown"])).toEqual({
      position: 2,
      parts: 2,
      outlines: [{ name: "b", text: part("b").outline }],
    });
    expect(await journal().latestOutlines("1", [])).toEqual({ position: 2, parts: 2, outlines: [] });
    expect(await journal().snapshotParts("1", 2, ["b", "unknown"])).toEqual([part("b")]);
    expect(await journal().snapshotParts("1", 2, [])).toEqual([]);
    expect(await journal().snapshotParts("1", 1, ["b"])).toBeNull();
    expect(await journal().snapshotParts("2", 2, ["b"])).toBeNull();
  });

  test("a snapshot of lines that do not exist is an error", async () => {
    await expect(journal().saveSnapshot(snapshot(4, "1", part("a")), null)).rejects.toThrow("lines that exist");
  });
}

/** Waits for a condition, even on a busy machine. */
const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, 60_000);

function watching(journal: () => Journal): void {
  test("a watcher is notified of new lines, and of nothing after it has stopped", async () => {
    const notice = vi.fn<() => void>();
    const stop = journal().watch(notice);
    const result = await journal().append(A, 0, [startedEvent()], 1);
    expect(result.ok).toBe(true);
    await eventually(() => expect(notice).toHaveBeenCalled());
    stop();
    notice.mockClear();
    await journal().append(A, 1, [startedEvent()], 1);
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(notice).not.toHaveBeenCalled();
  });

  test("a watcher can read the lines it is notified of", async () => {
    const seen: number[] = [];
    const stop = journal().watch(() => void lines(journal()).then((all) => seen.push(all.length)));
    await journal().append(A, 0, [startedEvent(), startedEvent()], 1);
    await eventually(() => expect(seen.at(-1)).toBe(2));
    stop();
  });

  test("several watchers are notified, and each can stop alone", async () => {
    const one = vi.fn<() => void>();
    const two = vi.fn<() => void>();
    const stopOne = journal().watch(one);
    const stopTwo = journal().watch(two);
    stopOne();
    await journal().append(A, 0, [startedEvent()], 1);
    await eventually(() => expect(two).toHaveBeenCalled());
    expect(one).not.toHaveBeenCalled();
    stopTwo();
  });
}
