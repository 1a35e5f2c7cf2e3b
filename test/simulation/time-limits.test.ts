import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createVirtualClock } from "../kit/virtual-clock.ts";
import type { StoryId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { drive } from "../../src/engine/drive.ts";
import { openLedger } from "../../src/engine/ledger.ts";
import type { EngineWorld } from "../../src/engine/world.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { chance } from "./chance.ts";
import { isWaitNamed } from "./laws.ts";
import { newProject } from "./simulate.ts";
import { simulatedWorld, type Disk } from "./simulated-world.ts";

const SEEDS = Math.ceil(Number(process.env["REMAND_SEEDS"] ?? 2000) / 50);
const FROM = Number(process.env["REMAND_SEED"] ?? 0);
const NOBODY = { onLines: () => undefined, onOutput: () => undefined };

/** The seed's project, with limits that are likely to be reached in the middle of something. */
async function limitedProject(seed: number): Promise<{ disk: Disk; policy: Policy }> {
  const disk = await newProject(seed);
  let run = EMPTY_RUN;
  for await (const line of disk.journal.read(0)) run = evolve(run, line);
  const upTo = (what: string, ms: number): number | null =>
    chance(seed, what) < 0.25 ? null : 1000 + Math.floor(chance(seed, what, "ms") * ms);
  const { limits } = run.policy!;
  const policy: Policy = {
    ...run.policy!,
    limits: {
      ...limits,
      story: { ...limits.story, timeMs: upTo("story", 60_000) },
      run: { ...limits.run, timeMs: upTo("run", 200_000) },
    },
  };
  await disk.journal.append(null, run.seq, [{ type: "policy.set", policy, by: "test" }], 0);
  return { disk, policy };
}

/** Agents and gates take time, by a clock of their own, and end early when they are told to. */
function slowWorld(disk: Disk, seed: number): { world: EngineWorld; advance: () => Promise<boolean> } {
  const clock = createVirtualClock();
  const base = simulatedWorld(disk, { seed, blocked: false }, () => undefined, NOBODY);
  let turns = 0;
  const take = async (what: string, signal: AbortSignal): Promise<boolean> => {
    await clock.sleep(Math.floor(chance(seed, what, turns++) * 20_000), signal);
    return signal.aborted;
  };
  const gates: EngineWorld["gates"] = new Map(
    [...base.gates].map(([name, gate]) => [
      name,
      {
        ...gate,
        run: async (request, control) => {
          const from = clock.now();
          const isEnded = await take(name, control.signal);
          const judgement = await gate.run(request, control);
          const durationMs = clock.now() - from;
          return isEnded ? { ...judgement, result: "error", durationMs } : { ...judgement, durationMs };
        },
      },
    ]),
  );
  const agentFor: EngineWorld["roleRegistry"]["agentFor"] = async (role, part) => {
    const player = (await base.roleRegistry.agentFor(role, part))!;
    return {
      ...player,
      agent: {
        ...player.agent,
        run: async (request, control) => {
          const from = clock.now();
          const isEnded = await take(role, control.signal);
          const result = await player.agent.run(request, control);
          const durationMs = clock.now() - from;
          return isEnded ? { ...result, status: "cancelled", durationMs } : { ...result, durationMs };
        },
      },
    };
  };
  return { world: { ...base, clock, gates, roleRegistry: { agentFor } }, advance: () => clock.advanceToNext() };
}

async function driven(world: EngineWorld, advance: () => Promise<boolean>): Promise<RunState> {
  const ledger = await openLedger(world);
  const over = { is: false };
  const run = drive(ledger, world, new AbortController().signal).finally(() => (over.is = true));
  while (!over.is) {
    // Whatever is to be done at this time is done before the clock moves on.
    for (let turn = 0; turn < 20 && !over.is; turn++) await nextTurn();
    if (!over.is) await advance();
  }
  return run;
}

test(`${SEEDS} seeds: nothing runs beyond the smallest of its limits, and a budget's end is a question`, async () => {
  const cut: string[] = [];
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const { disk, policy } = await limitedProject(seed);
    const { world, advance } = slowWorld(disk, seed);
    const end = await driven(world, advance);
    expect(isWaitNamed(end), `seed ${seed}`).toBe(true);
    let run = EMPTY_RUN;
    const used = new Map<StoryId, number>();
    for await (const line of disk.journal.read(0)) {
      const before = line.story === null ? undefined : lookup(run.stories, line.story, byText);
      const { event, at } = line;
      run = evolve(run, line);
      const after = line.story === null ? undefined : lookup(run.stories, line.story, byText);
      const limit = policy.limits.story.timeMs;
      const running = before?.running ?? null;
      if (running !== null && after?.running === null) {
        const took = at - running.since;
        const known = used.get(line.story!) ?? 0;
        if (limit !== null && known < limit)
          expect(took, `seed ${seed}, ${line.story}`).toBeLessThanOrEqual(limit - known);
        used.set(line.story!, known + took);
      }
      checkRunTime(run, policy, at, seed);
      const isCut = event.type === "work.interrupted" && event.overrun !== undefined;
      if (isCut) cut.push("gate");
      if (event.type === "attempt.finished" && event.outcome.type === "cut-short") cut.push("agent");
    }
    for (const [id, state] of entries(run.stories))
      if (state.counters.cutShort === "time")
        expect(state.escalation?.reason, `seed ${seed}, ${id}`).toMatchObject({ type: "budget", budget: "time" });
      else if (state.counters.cutShort === "run-time")
        expect(run.escalation?.reason, `seed ${seed}`).toMatchObject({ type: "budget", budget: "run-time" });
  }
  console.log(`${cut.length} steps were cut short: ${cut.filter((what) => what === "agent").length} agents`);
  expect(cut.filter((what) => what === "gate").length).toBeGreaterThan(SEEDS / 20);
  expect(cut.filter((what) => what === "agent").length).toBeGreaterThan(SEEDS / 20);
});

/** Several steps use up the run's time together, and each looks at it once a second. */
function checkRunTime(run: RunState, policy: Policy, now: number, seed: number): void {
  const limit = policy.limits.run.timeMs;
  if (limit === null) return;
  let spent = run.spent.timeMs;
  let atOnce = 0;
  for (const [, { running }] of entries(run.stories))
    if (running !== null) {
      spent += now - running.since;
      atOnce++;
    }
  expect(spent, `seed ${seed}`).toBeLessThanOrEqual(limit + 1000 * Math.max(1, atOnce));
}
