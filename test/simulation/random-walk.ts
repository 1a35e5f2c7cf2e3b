import fc from "fast-check";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { ANSWER_VERBS } from "../../src/core/stories/escalation.ts";
import type { Command } from "../../src/core/stories/command.ts";
import type { Recorded } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import type { Story } from "../../src/core/stories/story.ts";
import { decide } from "../../src/decide/decide.ts";
import { evolve, fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { checkBudgets, checkCommands, EMPTY_WITNESS, witnessEvent, type Witness } from "./laws.ts";
import { answer, outcomesOf, recordedEvent } from "../kit/story-world.ts";

export interface Walk {
  readonly run: RunState;
  readonly events: readonly Recorded[];
  readonly commands: readonly Command[];
  readonly witness: Witness;
  /** Nothing was left to do before the choices ran out. */
  readonly isOver: boolean;
}

/** Choices are numbers, so that a failing walk shrinks to a short one. */
export const choices = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 400 });

/**
 * A random run: at each turn one of the due commands goes one of its ways; a person now and then says something,
 * asked or not. The laws are checked at every turn.
 */
export function walk(policy: Policy, stories: readonly Story[], picks: readonly number[], answersEvery: number): Walk {
  const events: Recorded[] = [recordedEvent(0, null, { type: "policy.set", policy, by: "test" })];
  for (const story of stories) events.push(recordedEvent(0, story.id, { type: "story.added", story }));
  let run = fold(events, EMPTY_RUN);
  let witness = EMPTY_WITNESS;
  const commands: Command[] = [];
  const tell = (of: string | null, event: Recorded["event"]): void => {
    const line = recordedEvent(events.length, of, event);
    const before = of === null ? undefined : lookup(run.stories, of as never, byText);
    events.push(line);
    run = evolve(run, line);
    const after = of === null ? undefined : lookup(run.stories, of as never, byText);
    if (before !== undefined && after !== undefined && before.ending === null)
      witness = witnessEvent(witness, before, after, event);
  };
  for (const [turn, pick] of picks.entries()) {
    const due = decide(run, policy, Number.MAX_SAFE_INTEGER);
    checkCommands(run, witness, due);
    if (answersEvery > 0 && turn % answersEvery === answersEvery - 1) {
      speak(run, pick, tell);
      witness = { ...witness, answers: witness.answers + 1 };
      continue;
    }
    if (due.length === 0) return { run, events, commands, witness, isOver: true };
    const command = due[(pick >> 4) % due.length]!;
    const state = command.story === null ? null : lookup(run.stories, command.story, byText)!;
    const ways = outcomesOf(command, state);
    commands.push(command);
    // Half of the time it goes well: where everything breaks at once, nothing deep is ever reached.
    const way = pick % 2 === 0 ? 0 : Math.floor(pick / 2) % ways.length;
    for (const event of ways[way]!.events) tell(command.story, event);
    checkBudgets(run, witness, policy);
  }
  return { run, events, commands, witness, isOver: false };
}

function speak(run: RunState, pick: number, tell: (of: string | null, event: Recorded["event"]) => void): void {
  const all = [...entries(run.stories)];
  const verb = ANSWER_VERBS[pick % ANSWER_VERBS.length]!;
  const [id, state] = all[Math.floor(pick / ANSWER_VERBS.length) % all.length]!;
  const gate = state.escalation?.gate ?? "checks";
  const findings = state.gates[gate]?.last?.blocking ?? [];
  const toProject = run.escalation !== null && pick % 2 === 0;
  tell(
    toProject ? null : id,
    answer(verb, {
      gate,
      budget: "cost",
      limit: 1000,
      ...(verb === "dispute" || findings.length > 0 ? { findings } : {}),
    }),
  );
}
