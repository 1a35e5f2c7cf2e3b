import type { RunPlan } from "../../src/app/host.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { setLayer } from "../../src/config/layer.ts";
import type { Story } from "../../src/core/stories/story.ts";
import type { Script } from "../seeds/scripted-run.ts";
import { fakeHost, type FakeHost } from "./fake-host.ts";

/** The third failure asks a person, so that a test is at a question after two reworks. */
const TWO_REWORKS = ["limits.perLocation=3", "stall.sameFailure=3", "stall.plateau=2"];

/** A plan with the preset `goal`, two reworks, without blame, and whatever else is set. */
export function planFor(stories: readonly Story[], sets: readonly string[] = []): Omit<RunPlan, "watcher"> {
  const { layer } = setLayer(["preset=goal", "gates.checks.blame=false", ...TWO_REWORKS, ...sets]);
  const { config, policy } = resolveConfig({ layers: [layer] });
  return { config: config!, policy: policy!, stories, place: "worktrees", agentCommand: null };
}

/** A host on which these stories have been worked on. */
export async function hostAfterRun(
  stories: readonly Story[],
  script?: Script,
  sets: readonly string[] = [],
): Promise<FakeHost> {
  const host = fakeHost(script === undefined ? {} : { script });
  const watcher = { onLines: () => undefined, onOutput: () => undefined };
  const owned = await host.openEngine("/work", { ...planFor(stories, sets), watcher });
  await owned.drive(new AbortController().signal);
  return host;
}
