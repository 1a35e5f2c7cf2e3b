import type { Event } from "../../src/core/events/event.ts";
import { storyId, treeId } from "../../src/core/events/ids.ts";
import type { Journal } from "../../src/ports/journal.ts";

/** Reads a journal to its end, which must come after this many lines. */
export async function countLines(journal: Journal, lines: number): Promise<void> {
  let count = 0;
  for await (const _ of journal.read(0)) count++;
  if (count !== lines) throw new Error(`${count} lines were read`);
}

/** Appends one event to a story's stream, to which no other process writes. */
export async function appendLines(journal: Journal, story: string, seq: number): Promise<void> {
  const result = await journal.append(storyId(story), seq, [event(seq)], seq);
  if (!result.ok) throw new Error("a conflict although no other process writes");
}

/** An event of typical size. */
export function event(i: number): Event {
  return {
    type: "attempt.finished",
    attempt: i,
    outcome: { type: "ready" },
    tree: treeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
    changed: ["src/decide/decide.ts", "test/decide/decide.test.ts"],
    productChanged: true,
    summary: `Step ${i}: the second look at a gate asks only for what the rework could have changed.`,
    costUsd: 0.12,
    tokens: 12_345,
    durationMs: 61_000,
  };
}
