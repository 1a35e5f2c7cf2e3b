import { tmpdir } from "node:os";
import { afterEach, expect, test } from "vitest";
import { createMemoryJournal } from "../../kit/memory-journal.ts";
import { createSystemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createLeadership, type Leadership } from "../../../src/compose/worker/worker-leader.ts";
import type { WorkerParts } from "../../../src/compose/worker/worker-parts.ts";
import type { BranchUpdate, WorkPlan } from "../../../src/app/host.ts";
import type { Config } from "../../../src/config/config.ts";
import { presetPolicy } from "../../../src/config/presets.ts";
import { resolveConfig } from "../../../src/config/resolve.ts";
import { GATES } from "../../../src/core/gates/gate.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import type { Policy } from "../../../src/core/events/policy.ts";
import type { Story } from "../../../src/core/stories/story.ts";
import { openLedger } from "../../../src/engine/ledger.ts";
import type { FleetQueue } from "../../../src/ports/queue.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import { story } from "../../kit/story-world.ts";

let leading: Leadership;
afterEach(() => leading.close());

const QUEUE = { enqueue: async () => undefined, forget: async () => undefined, claimedJobs: async () => [] };

/** A worker as its leadership sees it, and a branch that can be changed. */
async function worker() {
  const clock = createSystemClock();
  const journal = createMemoryJournal();
  const ledger = await openLedger({ journal, clock, watcher: { onLines: () => undefined, onOutput: () => undefined } });
  const said: string[] = [];
  const branch: { next: Awaited<ReturnType<WorkPlan["reread"]>> | Error } = { next: "same" };
  const { config } = resolveConfig({ layers: [] });
  const parts = {
    root: tmpdir(),
    pool: { schema: "remand", query: async () => [] },
    env: {},
    ledger,
    policy: presetPolicy("goal"),
    world: {
      clock,
      journal,
      forge: null,
      gates: new Map(GATES.map((gate) => [gate, {}])),
      integration: {},
      roleRegistry: ROLE_REGISTRY,
    },
    plan: {
      followMs: 20,
      run: {
        stories: [story("a", { body: "old" })],
        config: withCommand(config!, "make"),
        onNotice: (text: string) => said.push(text),
      },
      reread: async () => {
        const { next } = branch;
        if (next instanceof Error) throw next;
        branch.next = "same";
        return next;
      },
    },
  } as unknown as WorkerParts;
  const news = (stories: readonly Story[], more: Partial<BranchUpdate> = {}): BranchUpdate => ({
    stories,
    policy: parts.policy,
    config: parts.plan.run.config,
    ...more,
  });
  leading = createLeadership(parts, QUEUE as unknown as FleetQueue, Promise.resolve());
  const policies = async (): Promise<readonly number[]> => {
    const set: number[] = [];
    for await (const { event } of journal.read(0))
      if (event.type === "policy.set") set.push(event.policy.limits.iterations);
    return set;
  };
  return { parts, ledger, journal, branch, news, said, policies };
}

const ROLE_REGISTRY = { agentFor: async () => ({}) };

function withCommand(config: Config, command: string): Config {
  return { ...config, gates: { ...config.gates, checks: { ...config.gates.checks, commands: [command] } } };
}

function withIterations(policy: Policy, iterations: number): Policy {
  return { ...policy, limits: { ...policy.limits, iterations } };
}

test("new rules on the branch apply to stories that start later, and are announced", async () => {
  const { parts, branch, news, said, policies } = await worker();
  leading.turn(true);
  await expect.poll(policies).toHaveLength(1);
  branch.next = news(parts.plan.run.stories, {
    policy: withIterations(parts.policy, 77),
    config: withCommand(parts.plan.run.config, "make all"),
  });
  await expect.poll(policies).toEqual([parts.policy.limits.iterations, 77]);
  expect(said).toEqual([
    "remand.yaml has changed on the branch; restart the workers to apply: gates.checks.commands",
    "the rules of remand.yaml have changed on the branch: they apply to stories that start from now on",
  ]);
});

test("a worker that was started with older rules does not restore them when it becomes the leader", async () => {
  const { parts, branch, news, said, policies, ledger, journal } = await worker();
  const newer = withIterations(parts.policy, 77);
  await journal.append(null, 0, [{ type: "policy.set", policy: newer, by: "config" }], 1);
  // The branch cannot be read now, so the stories of the journal are used.
  branch.next = new Error("the remote is away");
  leading.turn(true);
  await expect.poll(() => said).toEqual(["the remote is away"]);
  await ledger.catchUp();
  expect(await policies()).toEqual([77]);
  branch.next = news([story("a"), story("b")], { policy: newer });
  await expect.poll(() => lookup(ledger.state().stories, storyId("b"), byText)?.story.id).toBe("b");
  expect(await policies()).toEqual([77]);
});

test("rules that the workers cannot carry out change nothing, and the stories are still read", async () => {
  const { parts, branch, news, said, policies, ledger } = await worker();
  (parts.world.gates as Map<string, unknown>).delete("ci");
  leading.turn(true);
  await expect.poll(policies).toHaveLength(1);
  const phases = [{ phase: "implement", gates: ["checks", "ci"] }] as const;
  branch.next = news([story("a"), story("b")], { policy: { ...parts.policy, phases } });
  await expect.poll(() => lookup(ledger.state().stories, storyId("b"), byText)?.story.id).toBe("b");
  expect(await policies()).toHaveLength(1);
  expect(said).toEqual([expect.stringContaining("Remand cannot run the ci gate")]);
});

test("a worker that leads again uses the stories of the branch, not those it was started with", async () => {
  const { branch, news, ledger, journal } = await worker();
  const body = (): string | undefined => lookup(ledger.state().stories, storyId("a"), byText)?.story.body;
  leading.turn(true);
  await expect.poll(body).toBe("old");
  branch.next = news([story("a", { body: "new" }), story("b")]);
  await expect.poll(body).toBe("new");
  leading.turn(false);
  leading.turn(true);
  // The worker leads again once it has read the branch again.
  branch.next = news([story("a", { body: "new" }), story("b"), story("c")]);
  await expect.poll(() => lookup(ledger.state().stories, storyId("c"), byText)?.story.id).toBe("c");
  const said = [];
  for await (const { event } of journal.read(0)) if (event.type === "story.changed") said.push(event.story.body);
  expect(said).toEqual(["new"]);
});
