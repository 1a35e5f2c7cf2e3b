import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";

/** The story whose page is opened; it was sent back many times. */
export const LONG_STORY = "sent-back-often";
const EVENTS = 1000;
const MODEL = "story-0";

/** Adds a story of a thousand events: those of another story up to its rework, repeated attempt by attempt. */
export async function addLongStory(file: string): Promise<void> {
  const journal = await createSqliteJournal(file);
  try {
    const model: Event[] = [];
    for await (const { story, event } of journal.read(0)) if (story === MODEL) model.push(event);
    const own = JSON.parse(JSON.stringify(model).replaceAll(MODEL, LONG_STORY)) as Event[];
    const begins = own.findIndex(({ type }) => type === "attempt.started");
    if (begins < 0 || own.at(-1)?.type !== "work.sent-back") throw new Error("the model's events are others now");
    const events = [...own];
    for (let round = 2; events.length < EVENTS; round++)
      events.push(
        ...own.slice(begins).map((event): Event => ("attempt" in event ? { ...event, attempt: round } : event)),
      );
    const appended = await journal.append(storyId(LONG_STORY), 0, events.slice(0, EVENTS), Date.now());
    if (!appended.ok) throw new Error("another process wrote to this journal, too");
  } finally {
    await journal.close();
  }
}
