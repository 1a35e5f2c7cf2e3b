import type { Config } from "../config/config.ts";
import { type Problem, RemandError } from "../core/events/error.ts";
import { GATES, type GateName } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Story } from "../core/stories/story.ts";
import { nearMiss } from "../stdx/plain-text.ts";
import { matchName, parseNumber } from "./option-values.ts";
import { isRecord } from "../stdx/assert.ts";
import type { Checkout, World } from "./command.ts";
import type { GatePlan } from "./host.ts";
import { type ConfigOptions, loadConfig, loadStories, storiesFolder } from "./load-config.ts";

export interface GateSpec extends ConfigOptions {
  /** Names of gates, and of one story at most. */
  readonly names: readonly string[];
  readonly at: string | null;
  readonly base: string | null;
  readonly all: boolean;
  /** Existing tests that the work may change, besides those that the story names: names, files or patterns. */
  readonly testsMayChange?: readonly string[] | undefined;
}

export type PlannedGates = Pick<
  GatePlan,
  "config" | "policy" | "story" | "gates" | "isNamed" | "all" | "at" | "base" | "testsMayChange"
>;

/** Plans which work is judged by which gates; `null` where a file of the project has an error. */
export async function planGates(
  checkout: Checkout,
  spec: GateSpec,
): Promise<{ readonly plan: PlannedGates | null; readonly problems: readonly Problem[] }> {
  const { config, policy, problems } = await loadConfig(checkout, spec);
  if (config === null || policy === null) return { plan: null, problems };
  const words = spec.names.filter((name) => !isGate(name));
  const story = words.length === 0 ? null : await storyNamed(checkout, config, words);
  const named = GATES.filter((gate) => spec.names.includes(gate));
  const gates = named.length > 0 ? inOrder(policy, named) : gatesOfWork(policy);
  const { at, base, all, testsMayChange = [] } = spec;
  // A story's work is on its branch, whatever the checkout has checked out.
  const plan = { config, policy, story, gates, isNamed: named.length > 0, all, base, testsMayChange };
  return { plan: { ...plan, at: at ?? (story === null ? null : `remand/${story.id}`) }, problems };
}

const isGate = (name: string): name is GateName => (GATES as readonly string[]).includes(name);

const gatesOfWork = ({ phases }: Policy): readonly GateName[] => [
  ...new Set(phases.filter(({ phase }) => phase === "implement").flatMap(({ gates }) => gates)),
];

/** Puts the named gates in the order in which they would judge the work, not the order in which they were typed. */
function inOrder(policy: Policy, named: readonly GateName[]): readonly GateName[] {
  const order = gatesOfWork(policy);
  return [...order.filter((gate) => named.includes(gate)), ...named.filter((gate) => !order.includes(gate))];
}

async function storyNamed(checkout: Checkout, config: Config, words: readonly string[]): Promise<Story> {
  const { stories } = await loadStories(checkout, storiesFolder(checkout, config));
  const [word = ""] = words;
  const meantId = matchName(
    word,
    stories.map(({ id }) => id),
  );
  const story = stories.find(({ id }) => id === meantId);
  if (story !== undefined && words.length === 1) return story;
  if (story !== undefined)
    throw new RemandError("usage", `${words.join(" and ")} cannot be checked together`, "Name one story.");
  const meant = nearMiss(word, [...GATES, ...stories.map(({ id }) => id)]);
  const hint = meant === undefined ? `Gates are ${GATES.join(", ")}.` : `Did you mean ${meant}?`;
  throw new RemandError("usage", `there is no gate and no story ${word}`, hint);
}

/**
 * The number of the pull request: the one that was named, else the one that a GitHub workflow runs for; `null` where
 * there is none.
 */
export async function pullRequestNumber(
  { env, files }: Pick<World, "env" | "files">,
  named: string | undefined,
): Promise<number | null> {
  if (named !== undefined) return parseNumber("--pull-request", named, 1, 999_999_999);
  if (env["GITHUB_ACTIONS"] !== "true") return null;
  const inRef = /^refs\/pull\/(\d{1,9})\//.exec(env["GITHUB_REF"] ?? "")?.[1];
  if (inRef !== undefined) return Number(inRef);
  // Some events of a pull request run on its target branch.
  const file = env["GITHUB_EVENT_PATH"] ?? "";
  return file === "" ? null : numberIn((await files.read(file)) ?? "");
}

function numberIn(event: string): number | null {
  let read: unknown;
  try {
    read = JSON.parse(event);
  } catch {
    // The file does not come from GitHub, so it names no pull request.
    return null;
  }
  const pullRequest = isRecord(read) ? read["pull_request"] : null;
  const number = isRecord(pullRequest) ? pullRequest["number"] : null;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : null;
}
