import { presetPolicy } from "../src/config/presets.ts";
import type { Command, StartGate } from "../src/core/stories/command.ts";
import type { Event, Recorded } from "../src/core/events/event.ts";
import { evidenceId, fingerprint, roleName, storyId, treeId } from "../src/core/events/ids.ts";
import type { GateName, StageResult } from "../src/core/gates/gate.ts";
import { type Phase, bareStory } from "../src/core/stories/story.ts";
import type { Policy, PresetName } from "../src/core/events/policy.ts";
import type { RunState } from "../src/core/stories/run-state.ts";
import { decide } from "../src/decide/decide.ts";
import { evolve } from "../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../src/fold/new-state.ts";
import { byText, lookup } from "../src/stdx/sorted-map.ts";
import type { BenchResult } from "./bench-result.ts";

/**
 * How much time is saved by judging again only what a rework can have affected. Simulated runs of each preset: failures
 * and changed paths follow from a seed; the duration of each gate is given below. The same run is simulated twice with
 * the real rules: once as they are, once with every gate and stage judged again after each rework. Counts the seconds
 * of gates after reworks: the first round, and the agents, cost the same both times.
 */
export function run(): BenchResult[] {
  return (["critic-audit", "factory", "story"] as const).flatMap((preset) => {
    const lean = total(preset, presetFor(preset), false);
    const all = total(preset, judgingEverything(presetFor(preset)), true);
    const row = (what: string, kind: "all" | "prose", limit: number | null): BenchResult => ({
      name: `${preset}: gates after ${what}`,
      value: lean[kind].seconds / 3600,
      unit: "h",
      ratio: lean[kind].seconds / all[kind].seconds,
      against: `everything after each of ${all[kind].reworks}: ${(all[kind].seconds / 3600).toFixed(1)} h`,
      limit,
    });
    return [row("reworks", "all", 1), row("reworks of prose alone", "prose", null)];
  });
}

const STORIES = 400;
const SEED = 20_260_109;
const FAR = Number.MAX_SAFE_INTEGER;

/**
 * The duration of gates in a medium-sized project: a suite of four minutes, reviewers of three, mutants of twenty, a CI
 * of ten.
 */
const SECONDS: { readonly [G in GateName]: number } = {
  integrity: 2,
  checks: 240,
  tdd: 60,
  review: 180,
  audit: 300,
  oracle: 300,
  mutation: 1200,
  ci: 600,
  merge: 5,
};

/** How often a gate finds something on its first look at a story, and again. */
const FAILS: { readonly [G in GateName]: number } = {
  integrity: 0.04,
  checks: 0.3,
  tdd: 0.25,
  review: 0.35,
  audit: 0.2,
  oracle: 0.2,
  mutation: 0.3,
  ci: 0.1,
  merge: 0.02,
};

/**
 * The files that a rework changes, by the gate that sent it back. Reviewers also ask for changes of text and names;
 * mutants for tests.
 */
const TOUCHES: { readonly [G in GateName]?: readonly (readonly [number, readonly string[]])[] } = {
  review: [
    [0.25, ["README.md"]],
    [0.15, ["docs/guide.md", "CHANGELOG.md"]],
    [0.6, ["src/a.ts", "test/a.test.ts"]],
  ],
  audit: [
    [0.3, ["docs/guide.md"]],
    [0.7, ["src/a.ts", "test/a.test.ts"]],
  ],
  mutation: [[1, ["test/a.test.ts"]]],
};

/** Without blame and delivery, which these rules do not cover. */
function presetFor(preset: PresetName): Policy {
  const policy = presetPolicy(preset);
  const gates = Object.fromEntries(
    Object.entries(policy.gates).map(([gate, rules]) => [gate, { ...rules, blame: false }]),
  ) as unknown as Policy["gates"];
  return { ...policy, gates, deliver: "branch" };
}

function judgingEverything(policy: Policy): Policy {
  const gates = Object.fromEntries(
    Object.entries(policy.gates).map(([gate, rules]) => [gate, { ...rules, affectedBy: [], unaffectedBy: [] }]),
  ) as unknown as Policy["gates"];
  return { ...policy, gates };
}

interface StoryAround {
  readonly id: string;
  readonly phase: Phase;
  readonly policy: Policy;
  /** How often each gate has failed each phase; 2 if it will not fail again. */
  readonly seen: Map<string, number>;
}

interface Sum {
  seconds: number;
  reworks: number;
}

function total(preset: PresetName, policy: Policy, wholeGates: boolean): { all: Sum; prose: Sum } {
  const sums = { all: { seconds: 0, reworks: 0 }, prose: { seconds: 0, reworks: 0 } };
  for (let index = 0; index < STORIES; index++) {
    const id = storyId(`${preset}-${index}`);
    let state = begun(policy, id);
    let counted: Sum[] = [];
    const seen = new Map<string, number>();
    const phase = (): Phase => lookup(state.stories, id, byText)!.phase;
    for (;;) {
      const command = decide(state, policy, FAR)[0];
      if (command === undefined) break;
      if (command.type === "start-attempt") {
        const { attempt, reworkOf, phase } = command;
        const isProse = phase === "implement" && touched(id, attempt, reworkOf).every((path) => path.endsWith(".md"));
        counted = reworkOf === null ? [] : isProse ? [sums.all, sums.prose] : [sums.all];
        for (const sum of counted) sum.reworks++;
      }
      if (command.type === "start-gate")
        for (const sum of counted) sum.seconds += secondsOf(command, policy, wholeGates);
      for (const event of performed(command, { id, seen, policy, phase: phase() }))
        state = evolve(state, line(id, event));
    }
  }
  return sums;
}

/** The duration of a gate with stages depends on the stages that run. */
function secondsOf({ gate, stages }: StartGate, policy: Policy, wholeGates: boolean): number {
  const all = policy.gates[gate].stages.length;
  return all === 0 || wholeGates ? SECONDS[gate] : (SECONDS[gate] * stages.length) / all;
}

const line = (id: string | null, event: Event): Recorded => ({
  v: 1,
  at: 0,
  story: id === null ? null : storyId(id),
  event,
});

function begun(policy: Policy, id: string): RunState {
  const set = evolve(EMPTY_RUN, line(null, { type: "policy.set", policy, by: "bench" }));
  return evolve(set, line(id, { type: "story.added", story: bareStory(storyId(id), id) }));
}

/**
 * The same random numbers for both simulations: a gate's n-th failure of a story depends on its name and the attempt's
 * number.
 */
function performed(command: Command, around: StoryAround): Event[] {
  const { id } = around;
  switch (command.type) {
    case "start-story":
      return [
        { type: "story.started", by: "bench" },
        { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] },
      ];
    case "start-attempt": {
      const { attempt, phase, role, reworkOf, forecastUsd } = command;
      const changed = phase === "implement" ? touched(id, attempt, reworkOf) : [`stories/${id}.md`];
      const tree = treeId(`t${attempt}`);
      const done = { outcome: { type: "ready" }, tree, commit: `c${attempt}`, productChanged: true } as const;
      return [
        { type: "attempt.started", attempt, phase, role, reworkOf, brief: null, forecastUsd },
        { type: "attempt.finished", attempt, ...done, changed, summary: "", durationMs: 1 },
      ];
    }
    case "start-gate":
      return [
        { type: "gate.started", gate: command.gate, tree: command.tree, stages: [] },
        { type: "gate.judged", judgement: judgementOf(command, around) },
      ];
    case "send-back": {
      const { key: _key, story: _story, ...sent } = command;
      return [{ ...sent, type: "work.sent-back", brief: evidenceId("b") }];
    }
    case "accept":
      return [{ type: "story.accepted" }];
    case "fail":
      return [{ type: "story.failed", how: command.how, reason: command.reason }];
    case "raise-escalation":
      // The benchmark does not answer escalations: both runs of the story end here, at the same event.
      return [{ type: "story.failed", how: "set-aside", reason: command.escalation.title }];
    default:
      throw new Error(`the bench does not perform ${command.type}`);
  }
}

function touched(id: string, attempt: number, reworkOf: GateName | "person" | null): readonly string[] {
  const ways = reworkOf === null || reworkOf === "person" ? undefined : TOUCHES[reworkOf];
  let roll = chance(id, "touches", attempt);
  for (const [share, paths] of ways ?? []) if ((roll -= share) < 0) return paths;
  return ["src/a.ts", "test/a.test.ts"];
}

/**
 * Whether a gate fails depends only on the work: on the newest attempt that changed files that the gate covers. On the
 * same files a gate gives the same result, so an unnecessary judgement only changes the cost.
 */
function judgementOf(
  { gate, tree }: StartGate,
  { id, seen, policy, phase }: StoryAround,
): Extract<Event, { type: "gate.judged" }>["judgement"] {
  const name = `${phase}/${gate}`;
  const failed = seen.get(name) ?? 0;
  const isRed = failed < 2 && chance(id, name, failed) < FAILS[gate] * 0.7 ** failed;
  seen.set(name, isRed ? failed + 1 : 2);
  const finding = { id: fingerprint(`${gate}-${failed}`), severity: "critical", category: "quality" } as const;
  const findings = isRed ? [{ ...finding, message: `wrong ${failed}`, source: gate }] : [];
  return {
    gate,
    tree,
    result: isRed ? "fail" : "pass",
    findings,
    blocking: findings.map((each) => each.id),
    ...(isRed ? { failure: fingerprint(`${gate}-${failed}`) } : {}),
    ...(gate === "ci" && isRed ? { ciClass: "test" } : {}),
    ...(isRed ? { stages: stagesUpTo(policy.gates[gate].stages, chance(id, gate, failed, "stage")) } : {}),
    summary: "",
    evidence: [],
    durationMs: SECONDS[gate] * 1000,
  };
}

/** The stages that ran: all passed but the last one. */
function stagesUpTo(stages: readonly string[], roll: number): StageResult[] {
  const failedAt = Math.floor(roll * stages.length);
  return stages.slice(0, failedAt + 1).map((stage, at) => ({
    stage,
    result: at === failedAt ? "fail" : "pass",
    reviewer: roleName(stage),
  }));
}

/** A number between 0 and 1 that depends only on the words. */
function chance(...words: readonly (string | number)[]): number {
  let hash = SEED;
  for (const char of words.join("/")) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39) >>> 0;
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}
