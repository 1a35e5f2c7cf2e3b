import { assert } from "../../src/stdx/assert.ts";
import { canonicalJson } from "../../src/stdx/canonical-json.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { FAILURE_CEILING } from "../../src/domain/budget.ts";
import type { Command } from "../../src/domain/command.ts";
import type { Event } from "../../src/domain/event.ts";
import type { GateName } from "../../src/domain/gate.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { RunState } from "../../src/domain/run-state.ts";
import type { StoryState } from "../../src/domain/story-state.ts";
import { decide } from "../../src/policy/decide.ts";
import { escalationProblems } from "../../src/policy/escalate.ts";
import { evolve } from "../../src/policy/evolve.ts";
import { keyOf } from "./state-key.ts";
import { outcomesOf, recorded, type Outcome } from "./world.ts";

/** What was proven, kept by the explorer itself and never by the code under test. */
export interface Witness {
  readonly proven: { readonly [story: string]: { readonly [G in GateName]?: true } };
  readonly charged: { readonly [story: string]: { readonly [G in GateName]?: number } };
  readonly answers: number;
}

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
  readonly answers?: (run: RunState, witness: Witness) => readonly { readonly of: string | null; readonly event: Event }[];
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
    assert(!onPath.has(key), `a path comes back to where it was:\n${key}`);
    assert(depth.size + onPath.size < (options.mostStates ?? 5_000_000), "too many states for this configuration");
    onPath.add(key);
    const next = successors(node, policy, options);
    if (next.length === 0) count(endings, endingOf(node.run));
    return { key, next, longest: 0 };
  };
  const stack: Frame[] = [];
  stack.push(open(nodeOf(start, { proven: {}, charged: {}, answers: 0 })));
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
  checkCommands(run, commands);
  const next: Node[] = [];
  for (const command of commands) {
    const state = command.story === null ? null : lookup(run.stories, command.story, byText)!;
    if (command.type === "accept") checkAccepted(state!, witness);
    if (command.type === "raise-escalation") assert(escalationProblems(command.escalation).length === 0, escalationProblems(command.escalation).join());
    for (const outcome of outcomesOf(command, state)) {
      if (options.skip?.(outcome.name, command) === true) continue;
      next.push(applied(node, command.story, outcome, policy));
    }
  }
  if (commands.length === 0) {
    assert(waitsForSomebody(run), `nothing to do, and nobody to wait for:\n${keyOf(run)}`);
    for (const { of, event } of options.answers?.(run, witness) ?? []) {
      const after = applied(node, of, { name: "answer", events: [event] }, policy);
      next.push(nodeOf(after.run, { ...after.witness, answers: witness.answers + 1 }));
    }
  }
  return next;
}

function applied({ run, witness }: Node, of: string | null, outcome: Outcome, policy: Policy): Node {
  let next = run;
  let seen = witness;
  for (const event of outcome.events) {
    const before = of === null ? null : (lookup(next.stories, of as never, byText) ?? null);
    next = evolve(next, recorded(0, of, event));
    const after = of === null ? null : (lookup(next.stories, of as never, byText) ?? null);
    if (before !== null && after !== null) seen = witnessed(seen, before, after, event);
  }
  checkBudgets(next, seen, policy);
  return nodeOf(next, seen);
}

function nodeOf(run: RunState, witness: Witness): Node {
  return { run, witness, key: keyOf(run) + canonicalJson(witness) };
}

/** The explorer's own idea of what is proven and charged, by the words of the design and not by the code's. */
function witnessed(witness: Witness, before: StoryState, after: StoryState, event: Event): Witness {
  const id = before.story.id;
  const proven = { ...witness.proven[id] };
  const charged = { ...witness.charged[id] };
  const forget = (paths: readonly string[]): void => {
    const docsOnly = paths.every((path) => path.endsWith(".md"));
    for (const gate of Object.keys(proven) as GateName[])
      if (paths.length > 0 && !(docsOnly && (gate === "checks" || gate === "tdd" || gate === "mutation"))) delete proven[gate];
  };
  if (event.type === "gate.judged") {
    const { gate, result, ciClass } = event.judgement;
    if (result === "pass") proven[gate] = true;
    else delete proven[gate];
    const tests = before.policy!.phases.some((plan) => plan.gates.includes("tdd")) ? "tdd" : "checks";
    const free = result !== "fail" || ciClass === "infrastructure" || (ciClass === "lint" && before.gates.ci?.lintFixed !== true);
    const to = gate === "ci" && (ciClass === "test" || ciClass === "build") ? tests : gate;
    if (!free) charged[to] = (charged[to] ?? 0) + 1;
  }
  if (event.type === "attempt.finished" || event.type === "lint.fixed") forget(event.changed);
  if (event.type === "tree.restored") forget(["src/a.ts"]);
  if (event.type === "blame.found" && (event.blame.verdict === "environment" || event.blame.verdict === "flaky" || event.blame.verdict === "pre-existing")) {
    const last = before.gates[event.gate]!.last!;
    const tests = before.policy!.phases.some((plan) => plan.gates.includes("tdd")) ? "tdd" : "checks";
    const to = last.ciClass === "test" || last.ciClass === "build" ? tests : event.gate;
    charged[to] = charged[to]! - 1;
  }
  if (event.type === "person.answered" && (event.answer.verb === "resolve" || event.answer.verb === "dispute")) forget(["src/a.ts"]);
  if (before.phase !== after.phase) forget(["src/a.ts"]);
  return { ...witness, proven: { ...witness.proven, [id]: proven }, charged: { ...witness.charged, [id]: charged } };
}

/** Law 2: nothing is accepted but on a pass of every gate for what is there now, or on a named waiver. */
function checkAccepted(state: StoryState, witness: Witness): void {
  for (const gate of state.policy!.phases[state.policy!.phases.length - 1]!.gates) {
    const waived = state.waivers.some((waiver) => waiver.gate === gate && waiver.by !== "" && waiver.reason !== "");
    assert(waived || witness.proven[state.story.id]?.[gate] === true, `${gate} was not proven when the story was accepted`);
  }
}

/** Law 5, and one hand per command: nothing is dispatched while blocked, and limits hold. */
function checkCommands(run: RunState, commands: readonly Command[]): void {
  const keys = new Set(commands.map((command) => command.key));
  assert(keys.size === commands.length, "two commands share a key");
  const dispatched = commands.filter((command) => DISPATCHES.has(command.type));
  const blocked = run.remediation !== null || run.halted !== null || run.escalation !== null;
  assert(!blocked || dispatched.length === 0, "work was dispatched while blocked");
  for (const command of dispatched) {
    const state = lookup(run.stories, command.story!, byText)!;
    assert(state.running === null && state.escalation === null && state.ending === null, "work was dispatched for a story that cannot take it");
  }
}

const DISPATCHES = new Set(["start-story", "start-attempt", "start-gate", "find-blame", "fix-lint", "adjudicate", "deliver"]);

/** Laws 3 and 4: budgets are never exceeded, and are charged for failures of the work alone. */
function checkBudgets(run: RunState, witness: Witness, policy: Policy): void {
  for (const [id, state] of entries(run.stories)) {
    assert(state.counters.attempts <= (state.raised.iterations ?? policy.limits.iterations), "more attempts than iterations");
    for (const [gate, known] of Object.entries(state.gates) as [GateName, NonNullable<StoryState["gates"][GateName]>][]) {
      const set = policy.limits.failures[gate];
      const most = set === null ? policy.limits.iterations : Math.min(FAILURE_CEILING, (state.raised[`failures:${gate}`] ?? set) + policy.stall.grace);
      assert(known.failures <= most, `${gate} was charged ${known.failures} of ${most}`);
      assert(known.failuresEver === (witness.charged[id]?.[gate] ?? 0), `${gate} was charged for something that is not its failure`);
    }
  }
}

/** Law 1: who is waited for has a name. */
function waitsForSomebody(run: RunState): boolean {
  if (run.escalation !== null || run.halted !== null) return true;
  for (const [, state] of entries(run.stories)) {
    const waitsForPerson = state.escalation !== null || state.held;
    const waitsForStory = state.story.dependsOn.some((id) => lookup(run.stories, id, byText)?.ending?.how !== "accepted");
    if (state.ending === null && !waitsForPerson && !waitsForStory) return false;
  }
  return true;
}

function endingOf(run: RunState): string {
  if (run.escalation !== null) return `project: ${run.escalation.reason.type}`;
  if (run.halted !== null) return "project: halted";
  const words: string[] = [];
  for (const [, state] of entries(run.stories)) words.push(state.ending?.how ?? state.escalation?.reason.type ?? (state.held ? "held" : "waits for a story"));
  return words.join(" + ");
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
