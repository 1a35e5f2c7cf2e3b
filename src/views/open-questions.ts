import type { StoryId } from "../domain/ids.ts";
import { isAsking, type RunOutline } from "../domain/outline.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";

/** How many questions wait for a person: those of the stories, and the one about the whole run, which concerns them all. */
export function questionCount(
  { escalation, stories }: Pick<RunOutline, "escalation" | "stories">,
  asked: readonly StoryId[] | null,
): number {
  const known =
    asked === null
      ? [...entries(stories)].map(([, state]) => state)
      : asked.flatMap((id) => lookup(stories, id, byText) ?? []);
  return (escalation === null ? 0 : 1) + known.filter(isAsking).length;
}
