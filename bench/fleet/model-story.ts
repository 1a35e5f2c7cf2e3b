import { createMemoryJournal } from "../../test/kit/memory-journal.ts";
import type { Event } from "../../src/core/events/event.ts";
import { openEngine } from "../engine/driven.ts";

const MODEL = "the-model";

/** The events of one story as the engine writes them, from start to end, with this many reworks. */
export async function modelStory(failures = 0): Promise<readonly Event[]> {
  const journal = createMemoryJournal();
  const engine = await openEngine(journal, { atOnce: 20, failures });
  await engine.accept([MODEL]);
  const events: Event[] = [];
  for await (const { story, event } of journal.read(0)) if (story === MODEL) events.push(event);
  return events;
}

/** The same events for another story. */
export function retold(events: readonly Event[], name: string): Event[] {
  return JSON.parse(JSON.stringify(events).replaceAll(MODEL, name)) as Event[];
}
