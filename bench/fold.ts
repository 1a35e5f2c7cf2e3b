import { presetPolicy } from "../src/config/presets.ts";
import type { Command } from "../src/core/stories/command.ts";
import type { Event, Recorded } from "../src/core/events/event.ts";
import { evidenceId, fingerprint, storyId, treeId } from "../src/core/events/ids.ts";
import type { Policy } from "../src/core/events/policy.ts";
import type { RunState } from "../src/core/stories/run-state.ts";
import { bareStory } from "../src/core/stories/story.ts";
import { decide } from "../src/decide/decide.ts";
import { evolve, fold } from "../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../src/fold/new-state.ts";
import type { BenchResult } from "./bench-result.ts";

/**
 * The fold and the next decision. The important figures are growth: the cost of a decision with 10,000 settled stories
 * compared with 100, and with 10,000 open stories compared with 100.
 */
export async function run(): Promise<BenchResult[]> {
  const policy = presetPolicy("critic-audit");
  const journal = drive(policy, Math.ceil(100_000 / EVENTS_PER_STORY)).slice(0, 100_000);
  const foldMs = best(5, () => fold(journal, EMPTY_RUN));
  const floorMs = best(5, () => journal.reduce((sum, line) => sum + JSON.stringify(line).length, 0));
  const settled = growth((n) => settledBeside(policy, n));
  const open = growth((n) => openStories(policy, n));
  return [
    { name: "fold 100,000 events", value: foldMs, unit: "ms", ratio: foldMs / 1000, against: "1 s", limit: 1 },
    {
      name: "fold beside writing the same events as JSON",
      value: foldMs,
      unit: "ms",
      ratio: foldMs / floorMs,
      against: "JSON.stringify",
      limit: 10,
    },
    {
      name: "step with 10,000 settled stories",
      value: settled.many * 1000,
      unit: "µs",
      ratio: settled.many / settled.few,
      against: "100 settled",
      limit: 2,
    },
    {
      name: "step with 10,000 open stories",
      value: open.many * 1000,
      unit: "µs",
      ratio: open.many / open.few,
      against: "100 open",
      limit: 2,
    },
  ];
}

const EVENTS_PER_STORY = 13;
const FAR = Number.MAX_SAFE_INTEGER;

/** Runs stories from the first to the last event, with one rework each, and returns the journal. */
function drive(policy: Policy, stories: number): Recorded[] {
  const lines: Recorded[] = [];
  let state = EMPTY_RUN;
  const tell = (story: string | null, event: Event): void => {
    const line: Recorded = { v: 1, at: lines.length, story: story === null ? null : storyId(story), event };
    lines.push(line);
    state = evolve(state, line);
  };
  tell(null, { type: "policy.set", policy, by: "bench" });
  for (let i = 0; i < stories; i++) tell(`story-${i}`, added(i));
  for (let due = decide(state, policy, FAR); due.length > 0; due = decide(state, policy, FAR))
    for (const command of due) for (const event of performed(command)) tell(command.story, event);
  return lines;
}

const added = (i: number): Event => ({
  type: "story.added",
  story: bareStory(storyId(`story-${i}`), `Story ${i}`, { priority: i % 7 }),
});

const cost = { costUsd: 0.1, durationMs: 100 };

function performed(command: Command): Event[] {
  switch (command.type) {
    case "start-story":
      return [
        { type: "story.started", by: "bench" },
        { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] },
      ];
    case "start-attempt": {
      const { attempt, phase, role, reworkOf, forecastUsd } = command;
      return [
        { type: "attempt.started", attempt, phase, role, reworkOf, brief: null, forecastUsd },
        {
          type: "attempt.finished",
          attempt,
          outcome: { type: "ready" },
          tree: treeId(`t${attempt}`),
          commit: `c${attempt}`,
          changed: ["src/a.ts"],
          productChanged: true,
          summary: "did it",
          ...cost,
        },
      ];
    }
    case "start-gate":
      return judged(command);
    case "send-back": {
      const { key: _key, story: _story, ...sent } = command;
      return [{ ...sent, type: "work.sent-back", brief: evidenceId("b") }];
    }
    case "accept":
      return [{ type: "story.accepted" }];
    default:
      throw new Error(`the bench does not perform ${command.type}`);
  }
}

function judged(command: Extract<Command, { type: "start-gate" }>): Event[] {
  const isRed = command.gate === "review" && command.tree === "t1";
  const findings = isRed
    ? [
        {
          id: fingerprint("f1"),
          severity: "major",
          category: "style",
          message: "rename it",
          source: "critic",
        } as const,
      ]
    : [];
  const judgement = {
    gate: command.gate,
    tree: command.tree,
    result: isRed ? "fail" : "pass",
    findings,
    blocking: findings.map((f) => f.id),
    summary: "",
    evidence: [evidenceId("e")],
    ...cost,
  } as const;
  return [
    { type: "gate.started", gate: command.gate, tree: command.tree, stages: [] },
    { type: "gate.judged", judgement },
  ];
}

/** Runs one story from start to end next to n others: the cost of a step, with decision and fold. */
function growth(prepare: (stories: number) => RunState): { few: number; many: number } {
  const few = prepare(100);
  const many = prepare(10_000);
  const cost = { few: Infinity, many: Infinity };
  // Interleaved, so that other load on the machine affects both.
  for (let round = 0; round < 15; round++) {
    cost.few = Math.min(cost.few, stepMs(few, round));
    cost.many = Math.min(cost.many, stepMs(many, round));
  }
  return cost;
}

const STEPS = 300;

function stepMs(from: RunState, round: number): number {
  const policy = from.policy!;
  const begin = performance.now();
  let state = from;
  let steps = 0;
  for (let i = 0; steps < STEPS; i++) {
    const id = storyId(`probe-${round}-${i}`);
    const event = added(i);
    if (event.type === "story.added")
      state = evolve(state, {
        v: 1,
        at: 0,
        story: id,
        event: { ...event, story: { ...event.story, id, priority: -1000 } },
      });
    for (;;) {
      const command = decide(state, policy, FAR).find((each) => each.story === id);
      if (command === undefined) break;
      for (const told of performed(command)) {
        state = evolve(state, { v: 1, at: 0, story: id, event: told });
        steps++;
      }
    }
  }
  return (performance.now() - begin) / steps;
}

function settledBeside(policy: Policy, stories: number): RunState {
  return fold(drive(policy, stories), EMPTY_RUN);
}

function openStories(policy: Policy, stories: number): RunState {
  const lines: Recorded[] = [{ v: 1, at: 0, story: null, event: { type: "policy.set", policy, by: "bench" } }];
  for (let i = 0; i < stories; i++) lines.push({ v: 1, at: 0, story: storyId(`story-${i}`), event: added(i) });
  return fold(lines, EMPTY_RUN);
}

function best(times: number, work: () => unknown): number {
  let least = Infinity;
  for (let i = 0; i < times; i++) {
    const begin = performance.now();
    work();
    least = Math.min(least, performance.now() - begin);
  }
  return least;
}
