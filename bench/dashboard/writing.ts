import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId, type StoryId } from "../../src/core/events/ids.ts";

/** A second writer of the journal while the dashboard serves it. */
export interface Writing {
  /** Writes one line for each story, from the first on, and starts over until `count` lines are written. */
  lines(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function writeTo(file: string): Promise<Writing> {
  const journal = await createSqliteJournal(file);
  const seqs = new Map<StoryId, number>();
  for await (const { story } of journal.read(0)) if (story !== null) seqs.set(story, (seqs.get(story) ?? 0) + 1);
  const stories = [...seqs.keys()];
  let next = 0;
  const one = async (): Promise<void> => {
    const story = storyId(stories[next % stories.length]!);
    const isHeld = Math.floor(next / stories.length) % 2 === 0;
    next++;
    const seq = seqs.get(story)!;
    seqs.set(story, seq + 1);
    const event: Event = { type: isHeld ? "story.held" : "story.released", by: "bench" };
    const appended = await journal.append(story, seq, [event], Date.now());
    if (!appended.ok) throw new Error("another process wrote to this journal, too");
  };
  return {
    lines: async (count) => {
      for (let left = count; left > 0; left -= 500)
        await Promise.all(Array.from({ length: Math.min(left, 500) }, () => one()));
    },
    close: () => journal.close(),
  };
}
