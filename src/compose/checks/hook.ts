import { randomBytes } from "node:crypto";
import type { StopAnswer, StopPlan } from "../../app/stop-hook.ts";
import type { Blame } from "../../core/blame/blame.ts";
import type { SendBack, StoryAction } from "../../core/stories/command.ts";
import type { Event } from "../../core/events/event.ts";
import { type GateReport, isPassed, passedSummary } from "../../core/gates/gate-report.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { type StoryId, storyId } from "../../core/events/ids.ts";
import type { GateRules, Policy } from "../../core/events/policy.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { type Story, bareStory } from "../../core/stories/story.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { evolve, fold } from "../../fold/fold-event.ts";
import { composeBrief } from "../../decide/compose-brief.ts";
import { EMPTY_RUN } from "../../fold/new-state.ts";
import { nextStep } from "../../decide/next-step.ts";
import type { Evidence } from "../../ports/evidence.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { countedGoingBack } from "../../core/stories/budget.ts";
import { writeBrief } from "../../write/briefs/brief.ts";
import { createWorktrees } from "../../adapters/git/worktree/worktrees.ts";
import { projectEvidence } from "../project-evidence.ts";
import { stateFolder } from "../state-folder.ts";
import { gate } from "./gate.ts";
import { type HeldSession, blameOfStop, readSession, sessionFile, writeSession } from "./hook-session.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/**
 * May an agent that works in the checkout stop? The gates judge the files as they are. What follows from that is
 * decided as it is in a run: each conversation is a story of its own, its events are folded and the same rules say
 * whether its work goes back, and when that has no more sense. So the loop has the bounds that every loop has.
 */
export async function stop(root: string, plan: StopPlan, env: EnvVariables): Promise<StopAnswer> {
  const state = stateFolder(root);
  const known = await readSession(sessionFile(state.path, plan.session));
  const policy = policyInside(plan);
  const report = await gate(root, { ...plan, ...GATE_PLAN, policy }, env, { quick: true });
  plan.signal.throwIfAborted();
  if (plan.gates.length === 0) return begin(state.path, plan, known, report);
  const isOver = known?.standing === "released" && plan.isContinuing;
  const chain = openChain(plan, policy, known?.standing === "held" || isOver ? known : null, report);
  const evidence = await projectEvidence(root, state.evidence, plan.config, env);
  const work = createWorktrees({ root, state: state.path });
  const files = await work.changed(chain.id, report.judged.base, report.judged.tree);
  const since = chain.state().tree ?? report.judged.tree;
  handIn(chain, plan, report, await work.changed(chain.id, since, report.judged.tree));
  const isUntouched = chain.isNew && known?.tree === report.judged.tree;
  const given = { root, plan, env, report, evidence, files, chain, isUntouched };
  const answer = isPassed(report)
    ? { type: "passed" as const, why: passedSummary(report) }
    : isOver
      ? { type: "released" as const, why: known.why }
      : await afterJudging(given);
  const blocks = (known !== null && !chain.isNew ? known.blocks : 0) + (answer.type === "held" ? 1 : 0);
  await writeSession(state.path, chain.record(answer, blocks));
  return answer;
}

/** Records the files as they are: failures from before are not charged to a conversation that only asks a question. */
async function begin(
  state: string,
  { session }: StopPlan,
  known: HeldSession | null,
  { judged }: GateReport,
): Promise<StopAnswer> {
  const answer = { type: "begun", why: "" } as const;
  // What was sent back and has not passed since is not forgotten because its client was started again.
  if (known?.standing === "held") return answer;
  await writeSession(state, { ...recordOf(session, answer, judged.tree), blocks: 0, lines: [] });
  return answer;
}

function recordOf(session: string, { type, why }: StopAnswer, tree: string): Omit<HeldSession, "blocks" | "lines"> {
  return { schema: "remand.hook/1", session, at: Date.now(), standing: type, why, tree };
}

const GATE_PLAN = { story: null, all: false, at: null, base: null, onOutput: () => undefined } as const;

/** The rules of the config, as far as they hold where a person is there and the agent is theirs. */
function policyInside({ policy, gates }: StopPlan): Policy {
  return {
    ...policy,
    // Installing the hook allows rework by it.
    autonomy: policy.autonomy === "conservative" ? "standard" : policy.autonomy,
    onExhausted: "manual",
    deliver: "branch",
    phases: [{ phase: "implement", gates }],
    gates: Object.fromEntries(Object.entries(policy.gates).map(([name, rules]) => [name, insideOf(rules)])) as Gates,
  };
}

type Gates = Policy["gates"];

/** A person watches the conversation, so an unexplained failure may go back to its agent. */
const insideOf = (rules: GateRules): GateRules => ({ ...rules, onUnexplained: "send-back" });

/** What happened since a person spoke last, and what follows from it. */
interface HookStory {
  readonly id: StoryId;
  readonly isNew: boolean;
  state(): StoryState;
  append(...events: readonly Event[]): void;
  record(answer: StopAnswer, blocks: number): HeldSession;
}

function openChain(plan: StopPlan, policy: Policy, known: HeldSession | null, { judged }: GateReport): HookStory {
  const id = storyId(`session-${sha256(plan.session).slice(0, 8)}`);
  const lines = [...(known?.lines ?? [])];
  let run: RunState = fold(lines, EMPTY_RUN);
  const appendEvent = (story: StoryId | null, event: Event): void => {
    const line = { v: 1 as const, at: Date.now(), story, event };
    run = evolve(run, line);
    lines.push(line);
  };
  if (known === null) {
    appendEvent(null, { type: "policy.set", policy, by: "hook" });
    appendEvent(id, { type: "story.added", story: storyOf(id) });
    appendEvent(id, { type: "story.started", by: "hook" });
    appendEvent(id, { type: "story.prepared", tree: judged.tree, commit: judged.commit, preExisting: [] });
  }
  return {
    id,
    isNew: known === null,
    state: () => lookup(run.stories, id, byText)!,
    append: (...events) => events.forEach((event) => appendEvent(id, event)),
    record: (answer, blocks) => ({ ...recordOf(plan.session, answer, judged.tree), blocks, lines }),
  };
}

/** The agent wants to stop: that is an attempt which it says is ready, whatever its words are. */
function handIn(
  chain: HookStory,
  plan: StopPlan,
  { judged, judgements }: GateReport,
  changed: readonly string[],
): void {
  const before = chain.state();
  const attempt = before.attempts.length + 1;
  const role = plan.policy.roles.phase.implement;
  const reworkOf = before.rework?.gate ?? null;
  chain.append(
    { type: "attempt.started", attempt, phase: "implement", role, reworkOf, brief: null, forecastUsd: null },
    {
      type: "attempt.finished",
      attempt,
      outcome: { type: "ready" },
      tree: judged.tree,
      commit: judged.commit,
      changed,
      productChanged: attempt === 1 || judged.tree !== before.tree,
      summary: plan.said.trim().split("\n").at(-1)!.slice(0, 200),
      durationMs: 0,
    },
  );
  for (const judgement of judgements) {
    chain.append({ type: "gate.judged", judgement });
    if (judgement.result !== "pass") break;
  }
}

interface StopContext {
  readonly root: string;
  readonly plan: StopPlan;
  readonly env: EnvVariables;
  readonly report: GateReport;
  readonly evidence: Evidence;
  /** What differs from the base. */
  readonly files: readonly string[];
  readonly chain: HookStory;
  /** No file has changed since the conversation began, or since it stopped last. */
  readonly isUntouched: boolean;
}

/** Asks the rules until they send the work back or give it up. Nothing here is decided by anything else. */
async function afterJudging(given: StopContext): Promise<StopAnswer> {
  const { report, chain } = given;
  const failed = report.judgements.find(({ result }) => result !== "pass");
  if (failed === undefined)
    return release(`nothing was judged: ${report.skipped.map(({ gate, why }) => `${gate}: ${why}`).join("; ")}`);
  if (failed.result !== "fail") return release(`the work was not judged (${failed.result}): ${failed.summary}`);
  if (given.isUntouched) return release(`${failed.summary}; no file was changed since`);
  if (isUnchanged(chain.state())) return release(`${failed.summary}; sent back, it left the work as it was`);
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const action = nextStep(chain.state(), { base: "", usualMs: null }).action;
    if (action.type === "send-back") return sendBack(given, action, failed);
    const event = await eventOf(given, action, failed);
    if (event === null) return release(`${failed.summary}; ${endOf(action)}`);
    chain.append(event);
  }
  return release(failed.summary);
}

const MOST_STEPS = 10;
const release = (why: string): StopAnswer => ({ type: "released", why });

/** A run asks this before it judges; here everything was judged already, since a pass would have been one. */
function isUnchanged({ counters, policy }: StoryState): boolean {
  if (policy === null || !policy.circuitBreaker || policy.stall.unchanged === 0) return false;
  return counters.unchanged >= policy.stall.unchanged;
}

async function eventOf(given: StopContext, action: StoryAction, failed: Judgement): Promise<Event | null> {
  switch (action.type) {
    case "find-blame": {
      const beganAt = performance.now();
      const blame: Blame = await blameOfStop({ ...given, judgement: failed, hasChanged: given.files.length > 0 });
      return { type: "blame.found", gate: action.gate, blame, durationMs: Math.round(performance.now() - beganAt) };
    }
    case "grant-grace":
      return { type: "grace.granted", gate: action.gate, failures: action.failures };
    case "warn-budget":
      return { type: "budget.warned", budget: action.budget, used: action.used, limit: action.limit };
    default:
      return null;
  }
}

/** Why the rules do not send it back. */
function endOf(action: StoryAction): string {
  switch (action.type) {
    case "raise-escalation":
      return `${action.escalation.title}. ${action.escalation.assessment}`.trim();
    case "restore-tree":
      return "it got worse by the rework: an earlier state of the files was better";
    case "start-gate":
      return "the environment failed, not the work";
    case "fail":
      return action.reason;
    default:
      return "rework cannot fix it";
  }
}

async function sendBack(given: StopContext, command: SendBack, failed: Judgement): Promise<StopAnswer> {
  const { chain, evidence, plan, files } = given;
  const texts = await Promise.all(
    failed.evidence.map(async (id) => ({ text: await evidence.read(id), fullAt: evidence.placeOf(id) })),
  );
  const commands = plan.config.gates.checks.commands;
  const brief = composeBrief(chain.state(), command, {
    rolePrompt: "",
    evidence: texts.flatMap(({ text, fullAt }) =>
      text === null ? [] : [{ title: `what the ${failed.gate} gate saw`, text, fullAt }],
    ),
    judgedBy: commands.map((each) => (typeof each === "string" ? each : each.run)),
    filesModified: files,
    survivors: [],
    mutationScore: "",
    ci: null,
    report: "stop",
  });
  const text = writeBrief(brief, { nonce: randomBytes(12).toString("hex"), maxChars: BRIEF_CHARS });
  const { gate, variant, failure, failureLimit, route, scope } = command;
  const kept = await evidence.keep(text);
  chain.append({ type: "work.sent-back", gate, variant, failure, failureLimit, route, scope, brief: kept });
  const limit = failureLimit ?? chain.state().policy!.limits.iterations;
  return { type: "held", brief: text, why: `${failed.summary} (${countedGoingBack(failure, limit)})` };
}

/** It stands in a conversation that may be long already. */
const BRIEF_CHARS = 20_000;

const storyOf = (id: StoryId): Story =>
  bareStory(id, "What you were asked for in this conversation", { kind: "session" });
