import { resolveConfig } from "../../src/config/resolve.ts";
import { setLayer } from "../../src/config/set-layer.ts";
import type { Story } from "../../src/domain/story.ts";
import type { Script } from "../seeds/scripted-run.ts";
import { fakeHost, type FakeHost } from "./fake-host.ts";

/** A host on which these stories have been worked on, with the preset `goal` and whatever else is set. */
export async function workedOn(
  stories: readonly Story[],
  script?: Script,
  sets: readonly string[] = [],
): Promise<FakeHost> {
  const host = fakeHost(script === undefined ? {} : { script });
  const { config, policy } = resolveConfig({
    layers: [setLayer(["preset=goal", "gates.checks.blame=false", ...sets]).layer],
  });
  const watcher = { onLines: () => undefined, onOutput: () => undefined };
  const owned = await host.own("/work", {
    config: config!,
    policy: policy!,
    stories,
    place: "worktrees",
    agentCommand: null,
    watcher,
  });
  await owned.drive(new AbortController().signal);
  return host;
}
