import type { Config } from "../config/config.ts";
import type { StoryId } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Problem } from "../domain/problem.ts";
import type { Story } from "../domain/story.ts";
import type { Checkout } from "./command.ts";
import { loadConfig, type ConfigOptions } from "./load-config.ts";
import { loadStories, storiesFolder } from "./load-stories.ts";
import { knownIds } from "./option-values.ts";
import { startOrder, withDependencies } from "./plan-order.ts";

export interface Prepared {
  readonly config: Config;
  readonly policy: Policy;
  /** In the order in which they would begin, with everything they depend on. */
  readonly stories: readonly Story[];
  readonly asked: readonly StoryId[];
}

export type Preparing =
  | { readonly prepared: Prepared; readonly problems: readonly Problem[] }
  | { readonly prepared: null; readonly wrong: "config" | "stories"; readonly problems: readonly Problem[] };

/** What a run would work on, and by which rules; `null` where a file of a person's is wrong. */
export async function prepareRun(
  checkout: Checkout,
  typed: readonly string[],
  options: ConfigOptions,
): Promise<Preparing> {
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
  // What nobody has made ready was not asked for, unless it was named.
  const asked = ids.length > 0 ? ids : stories.filter(({ shelf }) => shelf !== "backlog").map(({ id }) => id);
  return { prepared: { config, policy, stories, asked }, problems: all };
}
