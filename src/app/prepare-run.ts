import type { Config } from "../config/config.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Problem } from "../core/events/error.ts";
import type { Story } from "../core/stories/story.ts";
import type { Checkout } from "./command.ts";
import { type ConfigOptions, loadConfig, loadStories, storiesFolder } from "./load-config.ts";
import { knownIds } from "./option-values.ts";

export interface PreparedRun {
  readonly config: Config;
  readonly policy: Policy;
  /** In the order in which they would begin, with everything they depend on. */
  readonly stories: readonly Story[];
  readonly asked: readonly StoryId[];
}

export type PrepareResult =
  | { readonly prepared: PreparedRun; readonly problems: readonly Problem[] }
  | { readonly prepared: null; readonly wrong: "config" | "stories"; readonly problems: readonly Problem[] };

/** What a run would work on, and by which rules; `null` where a file of a person's is wrong. */
export async function prepareRun(
  checkout: Checkout,
  typed: readonly string[],
  options: ConfigOptions,
): Promise<PrepareResult> {
  const { config, policy, problems } = await loadConfig(checkout, options);
  if (config === null || policy === null) return { prepared: null, wrong: "config", problems };
  const reading = await loadStories(checkout, storiesFolder(checkout, config));
  const all = [...problems, ...reading.problems];
  if (reading.problems.some(({ severity }) => severity === "error"))
    return { prepared: null, wrong: "stories", problems: all };
  const ids = knownIds(
    typed,
    reading.stories.map(({ id }) => id),
  );
  const stories = startOrder(ids.length === 0 ? reading.stories : withDependencies(reading.stories, ids));
  // Stories in the backlog run only when they are named.
  const asked = ids.length > 0 ? ids : stories.filter(({ shelf }) => shelf !== "backlog").map(({ id }) => id);
  return { prepared: { config, policy, stories, asked }, problems: all };
}

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
function withDependencies(stories: readonly Story[], asked: readonly string[]): Story[] {
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
