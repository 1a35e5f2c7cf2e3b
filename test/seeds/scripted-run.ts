import { assert } from "../../src/stdx/assert.ts";
import { byText, lookup } from "../../src/stdx/sorted-map.ts";
import type { Blame } from "../../src/core/blame/blame.ts";
import type { Command } from "../../src/core/stories/command.ts";
import type { Event } from "../../src/core/events/event.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import { storyId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Result } from "../../src/core/events/error.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import type { Story } from "../../src/core/stories/story.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { decide, nextWake } from "../../src/decide/decide.ts";
import { evolve, fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import {
  attemptEnd,
  attemptStart,
  blameEvent,
  judgement,
  outcomesOf,
  recordedEvent,
  type JudgementParts,
} from "../kit/story-world.ts";

/** What the world does with a command. `null`: what a well-meaning world does. */
export type Script = (command: Command, state: StoryState | null, run: RunState) => readonly Event[] | null;

export interface ScriptedRun {
  readonly run: RunState;
  readonly commands: readonly Command[];
  /** The commands, a line each, as a person would tell them. */
  readonly lines: readonly string[];
  readonly now: number;
}

export function begin(policy: Policy, ...stories: readonly Story[]): RunState {
  const set = recordedEvent(0, null, { type: "policy.set", policy, by: "test" });
  return fold(
    [set, ...stories.map((each) => recordedEvent(0, each.id, { type: "story.added", story: each }))],
    EMPTY_RUN,
  );
}

/** Decides, performs the first command, and again, until nothing is left to do; waits are waited for. */
export function runScript(start: RunState, script: Script = () => null, from = 0): ScriptedRun {
  const commands: Command[] = [];
  let run = start;
  let now = from;
  for (let steps = 0; steps < 5000; steps++) {
    const command = decide(run, run.policy!, now)[0];
    if (command === undefined) {
      const wake = nextWake(run);
      if (wake === null || wake <= now) return { run, commands, lines: commands.map(lineOf), now };
      now = wake;
      continue;
    }
    commands.push(command);
    run = performCommand(run, command, script, now);
  }
  assert(false, `no end after ${commands.length} commands, the last: ${lineOf(commands[commands.length - 1]!)}`);
}

export function performCommand(run: RunState, command: Command, script: Script = () => null, now = 0): RunState {
  const state = command.story === null ? null : lookup(run.stories, command.story, byText)!;
  const events = script(command, state, run) ?? outcomesOf(command, state)[0]!.events;
  return events.reduce((next, event) => evolve(next, recordedEvent(now, command.story, event)), run);
}

/** Tells a run what happened outside of it: a person's word, a changed file. */
export function foldEvents(run: RunState, of: string | null, ...events: readonly Event[]): RunState {
  return events.reduce((next, event) => evolve(next, recordedEvent(0, of, event)), run);
}

export function stateOf(run: RunState, id: string): StoryState {
  const state = lookup(run.stories, storyId(id), byText);
  assert(state !== undefined, `there is no story ${id}`);
  return state;
}

export type Says = Result | ({ readonly result: Result } & JudgementParts);

export interface World {
  /** What each gate says, one after the other; when there is no more, it passes. */
  readonly gates?: { readonly [G in GateName]?: readonly Says[] };
  /** How blame ends; when there is no more, it is `unmet`: the work is not done yet. */
  readonly blame?: readonly (Blame["verdict"] | { readonly verdict: Blame["verdict"]; readonly file: string })[];
  /** What attempts change, by the number of the attempt. */
  readonly changed?: Readonly<Record<number, readonly string[]>>;
  readonly attemptCostUsd?: number;
  readonly attemptMs?: number;
  readonly health?: readonly boolean[];
  /** The story it speaks of; another story's commands go well. */
  readonly story?: string;
}

/** A world in which these things happen, each in its turn. Failures get fewer findings each time and differ. */
export function world(told: World): Script {
  const taken = new Map<string, number>();
  const next = <T>(name: string, from: readonly T[] | undefined): T | undefined => {
    const at = taken.get(name) ?? 0;
    taken.set(name, at + 1);
    return from?.[at];
  };
  return (command, state) => {
    if (told.story !== undefined && command.story !== null && command.story !== told.story) return null;
    switch (command.type) {
      case "start-attempt": {
        const more = {
          changed: told.changed?.[command.attempt] ?? ["src/a.ts"],
          costUsd: told.attemptCostUsd ?? 0,
          durationMs: told.attemptMs ?? 0,
        };
        return [attemptStart(command), attemptEnd(command.attempt, { type: "ready" }, `t${state!.seq}`, more)];
      }
      case "start-gate": {
        const said = next(command.gate, told.gates?.[command.gate]) ?? "pass";
        const round = taken.get(command.gate)!;
        const { result, ...parts } = typeof said === "string" ? { result: said } : said;
        const judged = judgement(command.gate, command.tree, result, {
          failure: `${command.gate} ${round}`,
          blocking: Math.max(1, 20 - round),
          ...parts,
        });
        return [
          { type: "gate.started", gate: command.gate, tree: command.tree, stages: command.stages },
          { type: "gate.judged", judgement: judged },
        ];
      }
      case "find-blame": {
        const found = next("blame", told.blame) ?? "unmet";
        const { verdict, file } = typeof found === "string" ? { verdict: found, file: undefined } : found;
        return [{ type: "step.started", step: "blame" }, blameEvent(command.gate, verdict, file)];
      }
      case "check-health": {
        const healthy = next("health", told.health) ?? true;
        return [{ type: "health.checked", healthy, remaining: healthy ? [] : ["the database is down"], durationMs: 0 }];
      }
      default:
        return null;
    }
  };
}

/** A command in a few words, without the story: tests of several stories put it in front themselves. */
export function lineOf(command: Command): string {
  switch (command.type) {
    case "start-attempt":
      return `${command.phase} by ${command.role}${command.reworkOf === null ? "" : ` after ${command.reworkOf}`}`;
    case "start-gate":
      return `judge ${command.gate}`;
    case "send-back":
      return `send back from ${command.gate} to ${command.route.phase}`;
    case "raise-escalation":
      return `ask: ${command.escalation.reason.type}`;
    case "fail":
      return `fail: ${command.how}`;
    case "find-blame":
      return `blame ${command.gate}`;
    case "warn-budget":
      return `warn: ${command.budget}`;
    case "adjudicate":
      return `adjudicate by ${command.role}`;
    case "deliver":
      return `deliver by ${command.how}`;
    default:
      return command.type;
  }
}

export function ofStory(ran: ScriptedRun, id: string): string[] {
  return ran.commands.filter((command) => command.story === id).map(lineOf);
}

export function commandsOf<T extends Command["type"]>(ran: ScriptedRun, type: T): Extract<Command, { type: T }>[] {
  return ran.commands.filter((command): command is Extract<Command, { type: T }> => command.type === type);
}

/** The gates that were judged, in order. */
export function judgedGates(ran: ScriptedRun): GateName[] {
  return commandsOf(ran, "start-gate").map((command) => command.gate);
}

/** Why a person is asked about a story, or the whole escalation's reason. */
export function reasonFor(run: RunState, id: string): string | null {
  return stateOf(run, id).escalation?.reason.type ?? null;
}
