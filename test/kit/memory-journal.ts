import type { Event } from "../../src/core/events/event.ts";
import type { StoryId } from "../../src/core/events/ids.ts";
import type { AppendResult, Head, Journal, Snapshot, StoredEvent } from "../../src/ports/journal.ts";
import { assert } from "../../src/stdx/assert.ts";
import { byText } from "../../src/stdx/sorted-map.ts";
import {
  keptEvent,
  lineAfter,
  readLine,
  START,
  storedOf,
  verifyChain,
  type Line,
} from "../../src/adapters/journal/chain.ts";

/** What is about to be written, or has just been. */
export interface MemoryAppend {
  readonly stream: StoryId | null;
  readonly expectedSeq: number;
  readonly events: readonly Event[];
  /** Of the first of its lines. */
  readonly position: number;
  /** `before`: a throw means that nothing was written. `after`: it was written, but the writer never hears of it. */
  readonly stage: "before" | "after";
}

export interface MemoryOptions {
  /** For tests and the simulator: called around every append that is no conflict. What it throws, the writer gets. */
  onAppend?(append: MemoryAppend): void;
}

/** A journal that lives as long as its process. It keeps text, as the others do, so no caller shares an object with it. */
export function createMemoryJournal({ onAppend }: MemoryOptions = {}): Journal {
  const lines: Line[] = [];
  const seqs = new Map<StoryId | null, number>();
  const watchers = new Set<() => void>();
  const snapshots = createMemorySnapshots();
  let closed = false;
  const head = (): Head => lines.at(-1) ?? START;

  const append: Journal["append"] = async (stream, expectedSeq, events, at): Promise<AppendResult> => {
    assert(!closed, "the journal is closed");
    const kept = events.map(keptEvent);
    const actual = seqs.get(stream) ?? 0;
    if (actual !== expectedSeq) return { ok: false, conflict: { expected: expectedSeq, actual } };
    const about = { stream, expectedSeq, events, position: lines.length + 1 };
    onAppend?.({ ...about, stage: "before" });
    const stored = kept.map(({ text, event }, i) => {
      const line = lineAfter(head(), stream, expectedSeq + i + 1, at, text);
      lines.push(line);
      return storedOf(line, event);
    });
    seqs.set(stream, expectedSeq + stored.length);
    if (stored.length > 0) for (const notice of watchers) queueMicrotask(notice);
    onAppend?.({ ...about, stage: "after" });
    return { ok: true, stored };
  };

  return {
    id: null,
    append,
    read: (after, only) => readFrom(lines, after, only),
    head: async () => ({ position: head().position, hash: head().hash }),
    watch: (notice) => {
      // A watcher of its own for each call, so that the same function can watch twice.
      const watcher = (): void => void (watchers.has(watcher) && notice("ours"));
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    saveSnapshot: async (snapshot, since) => {
      assert(snapshot.position <= head().position, "a snapshot is of lines that exist");
      return snapshots.save(snapshot, since);
    },
    latestSnapshot: async (format) => snapshots.latest(format),
    latestOutlines: async (format, names) => {
      const latest = snapshots.latest(format);
      if (latest === null) return null;
      return { position: latest.position, parts: latest.parts.length, outlines: outlinesIn(latest, names) };
    },
    snapshotParts: async (format, position, names) => {
      const latest = snapshots.latest(format);
      if (latest?.position !== position) return null;
      return latest.parts.filter(({ name }) => names.includes(name));
    },
    verify: (noted, onProgress) => verifyChain(lines, noted, onProgress),
    close: async () => {
      closed = true;
      watchers.clear();
    },
  };
}

const outlinesIn = ({ parts }: Snapshot, names: readonly string[] | undefined) =>
  parts.filter(({ name }) => names?.includes(name) ?? true).map(({ name, outline }) => ({ name, text: outline }));

function createMemorySnapshots() {
  let kept: Snapshot | null = null;
  const latest = (format: string): Snapshot | null => (kept?.format === format ? kept : null);
  return {
    latest,
    save: ({ position, format, parts }: Snapshot, since: number | null): boolean => {
      const before = latest(format);
      if (since !== null && before?.position !== since) return false;
      const all = new Map((since === null ? [] : before!.parts).map((part) => [part.name, part]));
      for (const part of parts) all.set(part.name, part);
      const sorted = [...all.values()].sort((a, b) => byText(a.name, b.name));
      kept = { position, format, parts: sorted };
      return true;
    },
  };
}

const WHERE = "the journal in memory";

async function* readFrom(lines: readonly Line[], after: number, only?: StoryId): AsyncGenerator<StoredEvent> {
  // Positions count from 1 without a gap, so a position is also a place in the list.
  for (let i = Math.max(0, after); i < lines.length; i++)
    if (only === undefined || lines[i]!.stream === only) yield readLine(lines[i]!, WHERE);
}
