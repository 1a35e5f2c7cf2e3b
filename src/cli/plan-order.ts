import type { Story } from "../domain/story.ts";

/** The order in which stories would begin: what they depend on first, then by priority, then as they were read. */
export function startOrder(stories: readonly Story[]): Story[] {
  const order: Story[] = [];
  const placed = new Set<string>();
  const waiting = stories.toSorted((a, b) => a.priority - b.priority);
  const known = new Set<string>(stories.map(({ id }) => id));
  while (waiting.length > 0) {
    const at = waiting.findIndex(({ dependsOn }) => dependsOn.every((id) => placed.has(id) || !known.has(id)));
    // Cycles are refused where stories are read; what would be left over here is put behind all the same.
    const [story] = waiting.splice(Math.max(0, at), 1);
    order.push(story!);
    placed.add(story!.id);
  }
  return order;
}

/** The stories that were asked for and everything they wait for. */
export function withDependencies(stories: readonly Story[], asked: readonly string[]): Story[] {
  const byId = new Map<string, Story>(stories.map((story) => [story.id, story]));
  const wanted = new Set<string>();
  const open = [...asked];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (wanted.has(id)) continue;
    wanted.add(id);
    open.push(...(byId.get(id)?.dependsOn ?? []));
  }
  return stories.filter(({ id }) => wanted.has(id));
}
