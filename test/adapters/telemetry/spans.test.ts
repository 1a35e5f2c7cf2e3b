/**
 * Compares the spans of a run with its journal: each piece of work that ended there is reported once, by the worker
 * that ended it, in the trace of its story, with the journal's times.
 */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { traceIds } from "../../../src/adapters/telemetry/traces.ts";
import { createTelemetry, type Telemetry } from "../../../src/adapters/telemetry/telemetry.ts";
import { drive } from "../../../src/engine/drive.ts";
import { openLedger } from "../../../src/engine/ledger.ts";
import { recover } from "../../../src/engine/recover.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import type { StoredEvent } from "../../../src/ports/journal.ts";
import { chance } from "../../simulation/chance.ts";
import { Killed, simulatedWorld, type Disk } from "../../simulation/simulated-world.ts";
import { newProject } from "../../simulation/simulate.ts";
import { recordTelemetry } from "../../kit/record-telemetry.ts";

const told = recordTelemetry();
beforeEach(() => told.forget());
afterAll(() => told.close());

const SEEDS = 15;
const NOBODY = { onLines: () => undefined, onOutput: () => undefined };

async function linesOf(disk: Disk): Promise<readonly StoredEvent[]> {
  const lines: StoredEvent[] = [];
  for await (const line of disk.journal.read(0)) lines.push(line);
  return lines;
}

/** Runs one engine with its own telemetry, until it ends or is killed. */
async function work(
  disk: Disk,
  seed: number,
  worker: string,
  alive: (what: string) => void | Promise<void> = () => undefined,
): Promise<Telemetry> {
  const plain = simulatedWorld(disk, { seed, blocked: false }, alive, NOBODY);
  const [first] = await linesOf(disk);
  const telemetry = createTelemetry({
    api: told.api,
    version: "1.0.0",
    project: "simulated",
    worker,
    clock: plain.clock,
    identity: first?.hash ?? null,
  });
  const world = {
    ...plain,
    journal: telemetry.journal(plain.journal),
    watcher: telemetry.watcher(NOBODY),
    roleRegistry: telemetry.roleRegistry(plain.roleRegistry),
  };
  const ledger = await openLedger(world);
  telemetry.resume(ledger.state());
  await recover(ledger, world, "died");
  await drive(ledger, world, new AbortController().signal);
  return telemetry;
}

interface Ended {
  readonly kind: "attempt" | "gate" | "step";
  readonly story: string;
  readonly since: number;
  readonly at: number;
}

/** Returns the ended pieces of work, by folding the journal line by line. */
async function endedIn(disk: Disk): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  let run = EMPTY_RUN;
  for (const line of await linesOf(disk)) {
    const before = line.story === null ? undefined : lookup(run.stories, line.story, byText);
    run = evolve(run, line);
    const after = line.story === null ? undefined : lookup(run.stories, line.story, byText);
    if (before?.running != null && after?.running?.seq !== before.running.seq)
      ended.push({ kind: before.running.type, story: line.story!, since: before.running.since, at: line.at });
  }
  return ended;
}

const key = ({ kind, story, since, at }: Ended): string => `${story} ${kind} ${since} ${at}`;

function toldEnds(): readonly string[] {
  return told.spans().flatMap(({ name, attributes, sinceMs, atMs }) => {
    const [kind] = name.split(" ");
    if (kind !== "attempt" && kind !== "gate" && kind !== "step") return [];
    return [key({ kind, story: String(attributes["remand.story"]), since: sinceMs, at: atMs })];
  });
}

/** Returns the elements that one list has in addition to the other. */
function besides(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return list.filter((each) => {
    const found = left.indexOf(each);
    if (found !== -1) left.splice(found, 1);
    return found === -1;
  });
}

describe("the spans of a run", () => {
  test("report each finished piece of work once, with the journal's times", async () => {
    let pieces = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      told.forget();
      const disk = await newProject(seed);
      await work(disk, seed, "only");
      const expected = (await endedIn(disk)).map(key);
      expect([seed, [...toldEnds()].sort()]).toEqual([seed, [...expected].sort()]);
      pieces += expected.length;
    }
    expect(pieces).toBeGreaterThan(150);
  });

  test("of two workers, one of which hung, report each piece once, in one trace", async () => {
    let byFirst = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      told.forget();
      const disk = await newProject(seed);
      const [first] = await linesOf(disk);
      let open: () => void = () => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      let stopped: () => void = () => undefined;
      const hasStopped = new Promise<void>((resolve) => (stopped = resolve));
      let calls = 0;
      const stopsAt = 5 + Math.floor(chance(seed, "zombie") * 100);
      const zombie = work(disk, seed, "zombie", async () => {
        if (++calls < stopsAt) return;
        stopped();
        await opened;
      }).finally(() => stopped());
      await hasStopped;
      await work(disk, seed, "heir");
      open();
      await zombie;
      const expected = (await endedIn(disk)).map(key);
      expect([seed, [...toldEnds()].sort()]).toEqual([seed, [...expected].sort()]);
      for (const { traceId, attributes } of told.spans())
        expect(traceId).toBe(traceIds(first!.hash, String(attributes["remand.story"])).traceId);
      byFirst += told.spans().filter(({ attributes }) => attributes["remand.worker"] === "zombie").length;
    }
    expect(byFirst).toBeGreaterThan(20);
  });

  test("after a kill at any time, report nothing twice and nothing that did not happen", async () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      told.forget();
      const disk = await newProject(seed);
      let calls = 0;
      const kills = new Set([0, 1, 2].map((n) => 1 + Math.floor(chance(seed, "kill", n) * 150)));
      for (let life = 1; life < 10; life++) {
        let dead = false;
        const alive = (): void => {
          if (kills.has(++calls)) dead = true;
          if (dead) throw new Killed();
        };
        try {
          await work(disk, seed, `life ${life}`, alive);
          break;
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
      }
      const expected = (await endedIn(disk)).map(key);
      const ends = toldEnds();
      expect([seed, besides(ends, expected)]).toEqual([seed, []]);
      // A kill between the journal and the report loses at most the pieces about to be reported.
      expect(expected.length - ends.length).toBeLessThanOrEqual(2 * kills.size);
    }
  });

  test("have an agent's call below its attempt, and within its time", async () => {
    const disk = await newProject(1);
    await work(disk, 1, "only");
    const spans = told.spans();
    const calls = spans.filter(({ name }) => name.startsWith("invoke_agent "));
    expect(calls.length).toBeGreaterThan(3);
    for (const call of calls) {
      const above = spans.find(({ spanId }) => spanId === call.parent);
      expect(above?.name).toMatch(/^(?:attempt|gate|step) /);
      expect(above!.traceId).toBe(call.traceId);
      expect(call.sinceMs).toBeGreaterThanOrEqual(above!.sinceMs);
      expect(call.atMs).toBeLessThanOrEqual(above!.atMs);
    }
  });

  test("report an ended story with its costs", async () => {
    const disk = await newProject(4);
    await work(disk, 4, "only");
    const accepted = (await linesOf(disk)).filter(({ event }) => event.type === "story.accepted");
    const stories = told.spans().filter(({ name }) => name === "story");
    const outcomes = stories.filter(({ attributes }) => attributes["remand.outcome"] === "accepted");
    expect(outcomes.map(({ attributes }) => String(attributes["remand.story"])).sort()).toEqual(
      accepted.map(({ story }) => String(story)).sort(),
    );
    expect(outcomes.length).toBeGreaterThan(0);
    for (const { attributes } of outcomes) expect(attributes["remand.cost_usd"]).toBeGreaterThan(0);
  });
});
