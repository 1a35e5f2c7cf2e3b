import { createHash } from "node:crypto";
import { assert } from "../../src/stdx/assert.ts";
import { canonicalJson } from "../../src/stdx/canonical-json.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import type { Command } from "../../src/core/stories/command.ts";
import type { Event } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { decide } from "../../src/decide/decide.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { checkBudgets, checkCommands, EMPTY_WITNESS, isWaitNamed, witnessEvent, type Witness } from "./laws.ts";
import { keyOf } from "./state-key.ts";
import { outcomesOf, recordedEvent, type Outcome } from "../kit/story-world.ts";

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  readonly longestPath: number;
  readonly endings: Readonly<Record<string, number>>;
}

export interface Options {
  /** Leaves out outcomes by name, to keep a configuration small. */
  readonly skip?: (outcome: string, command: Command) => boolean;
  /** What a person may do to a story or the project that waits for one. */
  readonly answers?: (
    run: RunState,
    witness: Witness,
  ) => readonly { readonly of: string | null; readonly event: Event }[];
  readonly mostStates?: number;
}

interface Node {
  readonly run: RunState;
  readonly witness: Witness;
  readonly key: string;
}

/**
 * Walks every state that can be reached by any outcome of any command. It asserts the laws at each step and that
 * no path comes back to where it was: a graph without a circle is a proof that every path ends.
 */
export function explore(start: RunState, policy: Policy, options: Options = {}): Explored {
  const depth = new Map<string, number>();
  const onPath = new Set<string>();
  const endings: Record<string, number> = {};
  let transitions = 0;
  interface Frame {
    readonly key: string;
    readonly next: Node[];
    longest: number;
  }
  const open = (node: Node): Frame => {
    const { key } = node;
    assert(!onPath.has(key), `a path comes back to where it was:\n${keyOf(node.run)}`);
    assert(depth.size + onPath.size < (options.mostStates ?? 5_000_000), "too many states for this configuration");
    onPath.add(key);
    const next = successors(node, policy, options);
    if (next.length === 0) count(endings, endingOf(node.run));
    return { key, next, longest: 0 };
  };
  const stack: Frame[] = [];
  stack.push(open(nodeOf(start, EMPTY_WITNESS)));
  let longestPath = 0;
  for (let frame = stack[stack.length - 1]; frame !== undefined; frame = stack[stack.length - 1]) {
    const node = frame.next.pop();
    if (node === undefined) {
      depth.set(frame.key, frame.longest);
      onPath.delete(frame.key);
      stack.pop();
      longestPath = frame.longest;
      const above = stack[stack.length - 1];
      if (above !== undefined) above.longest = Math.max(above.longest, frame.longest + 1);
      continue;
    }
    transitions++;
    const known = depth.get(node.key);
    if (known === undefined) stack.push(open(node));
    else frame.longest = Math.max(frame.longest, known + 1);
  }
  return { states: depth.size, transitions, longestPath, endings };
}

function successors(node: Node, policy: Policy, options: Options): Node[] {
  const { run, witness } = node;
  // Far in the future, so that every pause is over: waiting is not what is explored.
  const commands = decide(run, policy, Number.MAX_SAFE_INTEGER);
  checkCommands(run, witness, commands);
  const next: Node[] = [];
  for (const command of commands) {
    const state = command.story === null ? null : lookup(run.stories, command.story, byText)!;
    for (const outcome of outcomesOf(command, state)) {
      if (options.skip?.(outcome.name, command) === true) continue;
      next.push(applyOutcome(node, command.story, outcome, policy));
    }
  }
  if (commands.length === 0) {
    assert(isWaitNamed(run), `nothing to do, and nobody to wait for:\n${keyOf(run)}`);
    for (const { of, event } of options.answers?.(run, witness) ?? []) {
      const after = applyOutcome(node, of, { name: "answer", events: [event] }, policy);
      next.push(nodeOf(after.run, { ...after.witness, answers: witness.answers + 1 }));
    }
  }
  return next;
}

function applyOutcome({ run, witness }: Node, of: string | null, outcome: Outcome, policy: Policy): Node {
  let next = run;
  let seen = witness;
  for (const event of outcome.events) {
    const before = of === null ? null : (lookup(next.stories, of as never, byText) ?? null);
    next = evolve(next, recordedEvent(0, of, event));
    checkCommands(next, seen, []);
    const after = of === null ? null : (lookup(next.stories, of as never, byText) ?? null);
    if (before !== null && after !== null) seen = witnessEvent(seen, before, after, event);
  }
  checkBudgets(next, seen, policy);
  return nodeOf(next, seen);
}

function nodeOf(run: RunState, witness: Witness): Node {
  // Hashed, because a million keys of a kilobyte each would not fit.
  return { run, witness, key: createHash("sha1").update(keyOf(run)).update(canonicalJson(witness)).digest("base64") };
}

function endingOf(run: RunState): string {
  if (run.escalation !== null) return `project: ${run.escalation.reason.type}`;
  if (run.halted !== null) return "project: halted";
  const words: string[] = [];
  for (const [, state] of entries(run.stories))
    words.push(state.ending?.how ?? state.escalation?.reason.type ?? (state.held ? "held" : "waits for a story"));
  return words.join(" + ");
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
