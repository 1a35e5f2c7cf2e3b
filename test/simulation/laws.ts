import { assert } from "../../src/stdx/assert.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { FAILURE_CEILING } from "../../src/core/stories/budget.ts";
import type { Command } from "../../src/core/stories/command.ts";
import type { Event } from "../../src/core/events/event.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { laneOfCommand } from "../../src/engine/drive.ts";
import type { AnswerVerb, Escalation } from "../../src/core/stories/escalation.ts";
import type { Fingerprint, StoryId } from "../../src/core/events/ids.ts";
import { disputable } from "../../src/core/gates/finding.ts";
import { decide } from "../../src/decide/decide.ts";
import { escalationProblems } from "../decide/escalation-problems.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { canonicalJson } from "../../src/stdx/canonical-json.ts";
import { answer, recordedEvent } from "../kit/story-world.ts";

/** What was proven, kept by the test itself and never by the code under test. */
export interface Witness {
  readonly proven: { readonly [story: string]: { readonly [G in GateName]?: true } };
  readonly charged: { readonly [story: string]: { readonly [G in GateName]?: number } };
  readonly answers: number;
  /** Trees that a gate failed, each with whether every test loaded that it ran. */
  readonly loaded: { readonly [story: string]: { readonly [tree: string]: boolean } };
  /** Contested tests that neither a person nor a reviewer has let through. */
  readonly contested: { readonly [story: string]: readonly string[] };
}

export const EMPTY_WITNESS: Witness = { proven: {}, charged: {}, answers: 0, loaded: {}, contested: {} };

/** The explorer's own idea of what is proven and charged, by the words of the design and not by the code's. */
export function witnessEvent(witness: Witness, before: StoryState, after: StoryState, event: Event): Witness {
  const id = before.story.id;
  const proven = { ...witness.proven[id] };
  const charged = { ...witness.charged[id] };
  const forget = (paths: readonly string[]): void => {
    const docsOnly = paths.every((path) => path.endsWith(".md"));
    for (const gate of Object.keys(proven) as GateName[])
      if (paths.length > 0 && !(docsOnly && (gate === "checks" || gate === "tdd" || gate === "mutation")))
        delete proven[gate];
  };
  if (event.type === "gate.judged") {
    const { gate, result, ciClass, blocking } = event.judgement;
    if (result === "pass") proven[gate] = true;
    else delete proven[gate];
    const tests = before.policy!.phases.some((plan) => plan.gates.includes("tdd")) ? "tdd" : "checks";
    const waived = before.waivers.filter((waiver) => waiver.gate === gate);
    const isWaived =
      waived.some(({ tree }) => tree !== null && tree === event.judgement.tree) ||
      (blocking.length > 0 && blocking.every((id) => waived.some(({ findings }) => findings.includes(id))));
    const free =
      isWaived ||
      result !== "fail" ||
      ciClass === "infrastructure" ||
      (ciClass === "lint" && before.gates.ci?.lintFixed !== true);
    const to = gate === "ci" && (ciClass === "test" || ciClass === "build") ? tests : gate;
    if (!free) charged[to] = (charged[to] ?? 0) + 1;
  }
  if (event.type === "attempt.finished" || event.type === "lint.fixed") forget(event.changed);
  // Whatever the target or a person brought in was seen by no gate.
  if (event.type === "branch.updated" || event.type === "work.adopted") forget(event.changed);
  if (event.type === "tree.restored") forget(["src/a.ts"]);
  if (
    event.type === "blame.found" &&
    (event.blame.verdict === "environment" || event.blame.verdict === "flaky" || event.blame.verdict === "pre-existing")
  ) {
    const last = before.gates[event.gate]!.last!;
    const tests = before.policy!.phases.some((plan) => plan.gates.includes("tdd")) ? "tdd" : "checks";
    const to = last.ciClass === "test" || last.ciClass === "build" ? tests : event.gate;
    charged[to] = charged[to]! - 1;
  }
  // The same work is judged again without the finding that fell: it is charged once for it, by that judgement.
  const fell =
    event.type === "finding.adjudicated" && !event.upheld
      ? before.disputes.find(({ finding, gate }) => finding === event.finding && gate === before.failing?.gate)
      : undefined;
  const isForgiven = before.failing?.blame?.verdict === "flaky" || before.failing?.blame?.verdict === "pre-existing";
  if (fell !== undefined && !isForgiven) charged[fell.gate] = charged[fell.gate]! - 1;
  const asked = before.escalation?.reason;
  // To these questions `resolve` is a yes, or a claim that is checked: the person changed nothing of the work.
  const isApproval =
    (asked?.type === "approval" && asked.of !== "rework") || (asked?.type === "target-moves" && asked.merges);
  if (event.type === "person.answered" && event.answer.verb === "resolve" && !isApproval) forget(["src/a.ts"]);
  if (before.phase !== after.phase) forget(["src/a.ts"]);
  return {
    ...witness,
    proven: { ...witness.proven, [id]: proven },
    charged: { ...witness.charged, [id]: charged },
    loaded: { ...witness.loaded, [id]: { ...witness.loaded[id], ...loadedBy(event) } },
    contested: { ...witness.contested, [id]: contestedAfter(witness.contested[id] ?? [], before, event) },
  };
}

function contestedAfter(open: readonly string[], before: StoryState, event: Event): readonly string[] {
  const without = (names: readonly string[]): readonly string[] => open.filter((name) => !names.includes(name));
  if (event.type === "person.answered" && event.answer.verb === "allow") {
    const asked = before.escalation?.reason.type === "contested-tests" ? before.escalation.reason.tests : [];
    return without(event.answer.tests ?? asked);
  }
  if (event.type !== "gate.judged") return open;
  const { gate, result, contested = [] } = event.judgement;
  const names = contested.map(({ test }) => test);
  if (gate === "checks" || gate === "tdd") return names;
  return (gate === "review" || gate === "audit") && result === "pass" ? without(names) : open;
}

function loadedBy(event: Event): { readonly [tree: string]: boolean } {
  if (event.type !== "gate.judged" || event.judgement.identities === undefined) return {};
  return { [event.judgement.tree]: event.judgement.identities.notLoaded.length === 0 };
}

/** Law 2: nothing is accepted but on a pass of every gate for what is there now, or on a named waiver. */
function checkAccepted(state: StoryState, witness: Witness): void {
  const contested = witness.contested[state.story.id] ?? [];
  // A person who waives the tests' gate for a tree lets through whatever it said of that tree.
  const isWaived = state.waivers.some(
    ({ gate, tree }) => (gate === "checks" || gate === "tdd") && tree !== null && tree === state.tree,
  );
  assert(
    isWaived || contested.length === 0,
    `accepted with contested tests that nothing let through: ${contested.join(", ")}`,
  );
  for (const gate of state.policy!.phases[state.policy!.phases.length - 1]!.gates) {
    const waived = state.waivers.some((waiver) => waiver.gate === gate && waiver.by !== "" && waiver.reason !== "");
    assert(
      waived || witness.proven[state.story.id]?.[gate] === true,
      `${gate} was not proven when the story was accepted`,
    );
  }
}

/** Law 5, and one hand per command: nothing is dispatched while blocked, and limits hold. */
export function checkCommands(run: RunState, witness: Witness, commands: readonly Command[]): void {
  const keys = new Set(commands.map((command) => command.key));
  assert(keys.size === commands.length, "two commands share a key");
  const dispatched = commands.filter((command) => DISPATCHES.has(command.type));
  const blocked = run.remediation !== null || run.halted !== null || run.escalation !== null;
  assert(!blocked || dispatched.length === 0, "work was dispatched while blocked");
  for (const command of dispatched) {
    const state = lookup(run.stories, command.story!, byText)!;
    assert(
      state.running === null && state.escalation === null && state.ending === null,
      "work was dispatched for a story that cannot take it",
    );
  }
  checkLanes(run, commands);
  for (const command of commands) {
    // What is delivered is what was proven: a tree that changed since its gates passed is never put anywhere.
    const isFinal = command.type === "accept" || (command.type === "deliver" && command.claimedBy === undefined);
    if (isFinal) checkAccepted(lookup(run.stories, command.story, byText)!, witness);
    if (command.type === "send-back")
      assert(
        command.failureLimit === null || command.failure < command.failureLimit,
        "work went back although its budget was used up",
      );
    if (command.type === "restore-tree") {
      const state = lookup(run.stories, command.story, byText)!;
      assert(
        witness.loaded[state.story.id]?.[command.tree] === true,
        "a tree was brought back in which the tests do not load",
      );
      assert(command.tree !== state.tree, "the present tree was brought back");
    }
    if (command.type !== "raise-escalation") continue;
    const problems = escalationProblems(command.escalation);
    assert(problems.length === 0, `an escalation nobody can act on: ${problems.join(", ")}`);
    checkOffers(run, command.story, command.escalation);
  }
}

/** No lane gets more than it has slots: what runs in it, and what is handed out now, together. */
function checkLanes(run: RunState, commands: readonly Command[]): void {
  if (run.policy === null) return;
  for (const lane of ["developers", "checks", "critics", "auditors"] as const) {
    const given = commands.filter((command) => laneOfCommand(command) === lane).length;
    const slots = run.policy.concurrency[lane];
    assert(run.busy[lane] <= slots, `${run.busy[lane]} run at once in ${lane}, of ${slots}`);
    assert(
      run.busy[lane] + given <= slots,
      `${run.busy[lane]} run in ${lane} and ${given} are handed out, of ${slots}`,
    );
  }
}

/**
 * Every answer that a question offers does something: after it the same question, with the same counts, does not come
 * again at once. And abandoning is never the only way out.
 */
function checkOffers(run: RunState, story: StoryId | null, escalation: Escalation): void {
  const { reason, gate, options } = escalation;
  const asked = canonicalJson({ reason, gate });
  const raised = evolve(run, recordedEvent(0, story, { type: "escalation.raised", escalation }));
  assert(
    options.some(({ verb }) => verb !== "abandon" && verb !== "halt"),
    `${asked} leaves no way out but to give up`,
  );
  const state = story === null ? null : lookup(raised.stories, story, byText)!;
  for (const { verb } of options) {
    const findings = state === null ? [] : findingsFor(state, verb, gate);
    const budget = reason.type === "budget" ? { budget: reason.budget, limit: reason.used + 1 } : {};
    const said = answer(verb, {
      escalation: escalation.id,
      ...(verb === "raise-budget" ? budget : {}),
      ...(findings.length > 0 ? { findings } : {}),
    });
    const after = evolve(raised, recordedEvent(0, story, said));
    const again = decide(after, after.policy!, Number.MAX_SAFE_INTEGER).find(
      (command) => command.type === "raise-escalation" && command.story === story,
    );
    if (again?.type !== "raise-escalation") continue;
    const { reason: nextReason, gate: nextGate } = again.escalation;
    assert(
      canonicalJson({ reason: nextReason, gate: nextGate }) !== asked,
      `${verb} is offered, and the same is asked again: ${asked}`,
    );
  }
}

/** What a person names with the verb, where it takes findings. */
function findingsFor(state: StoryState, verb: AnswerVerb, gate: GateName | null): readonly Fingerprint[] {
  if (gate === null) return [];
  if (verb === "waive") return state.gates[gate]?.last?.blocking ?? [];
  return verb === "dispute" ? disputable(state, gate).map(({ id }) => id) : [];
}

const DISPATCHES = new Set([
  "start-story",
  "start-attempt",
  "start-gate",
  "find-blame",
  "fix-lint",
  "adjudicate",
  "adopt-work",
  "deliver",
]);

/** Laws 3 and 4: budgets are never exceeded, and are charged for failures of the work alone. */
export function checkBudgets(run: RunState, witness: Witness, policy: Policy): void {
  for (const [id, state] of entries(run.stories)) {
    const worked = state.attempts.filter(
      (attempt) => attempt.outcome === "ready" || attempt.outcome === "running",
    ).length;
    assert(
      state.counters.attempts === worked,
      `${state.counters.attempts} iterations were counted for ${worked} attempts that worked`,
    );
    assert(
      state.counters.attempts <= (state.raised.iterations ?? policy.limits.iterations),
      "more attempts than iterations",
    );
    for (const [gate, known] of Object.entries(state.gates) as [
      GateName,
      NonNullable<StoryState["gates"][GateName]>,
    ][]) {
      const set = policy.limits.failures[gate];
      const limit =
        policy.circuitBreaker && set !== null
          ? (state.raised[`failures:${gate}`] ?? set) + policy.stall.grace
          : FAILURE_CEILING;
      const most = set === null ? policy.limits.iterations : Math.min(FAILURE_CEILING, limit);
      // A person may have it judged once more without sending it back: that can fail too, and asks again at once.
      assert(known.failures <= most + witness.answers, `${gate} was charged ${known.failures} of ${most}`);
      assert(
        known.failuresEver === (witness.charged[id]?.[gate] ?? 0),
        `${gate} was charged for something that is not its failure`,
      );
    }
  }
}

/** Law 1: who is waited for has a name. */
export function isWaitNamed(run: RunState): boolean {
  if (run.escalation !== null || run.halted !== null) return true;
  for (const [, state] of entries(run.stories)) {
    const waitsForPerson = state.escalation !== null || state.held;
    const waitsForStory = state.story.dependsOn.some(
      (id) => lookup(run.stories, id, byText)?.ending?.how !== "accepted",
    );
    if (state.ending === null && !waitsForPerson && !waitsForStory) return false;
  }
  return true;
}
