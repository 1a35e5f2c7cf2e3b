import type { StopAnswer, StopPlan } from "../../app/stop-hook.ts";
import type { Recorded } from "../../core/events/event.ts";
import { type GateReport, passedSummary } from "../../core/gates/gate-report.ts";
import { type StoryId, storyId } from "../../core/events/ids.ts";
import { countedGoingBack } from "../../core/stories/budget.ts";
import type { Escalation } from "../../core/stories/escalation.ts";
import { bareStory } from "../../core/stories/story.ts";
import { reasonText } from "../../core/stories/escalation-words.ts";
import { drive } from "../../engine/drive.ts";
import { type Ledger, openLedger } from "../../engine/ledger.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { RoleAgent } from "../../ports/roles.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { stateFolder } from "../state-folder.ts";
import { inability, mentionWithheld, openGates } from "./gate.ts";
import { type HeldSession, openHookJournal, readSession, sessionFile, writeSession } from "./hook-session.ts";
import { type OpenedGates, hookPolicy, hookWorld } from "./hook-world.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/**
 * May an agent that works in the checkout stop? Each conversation is a story, and the engine drives it: the agent's
 * wish to stop ends the attempt that runs, and the next attempt begins when the client gives the agent the brief.
 */
export async function stop(root: string, plan: StopPlan, env: EnvVariables): Promise<StopAnswer> {
  const state = stateFolder(root).path;
  const known = await readSession(sessionFile(state, plan.session));
  const opened = await openGates(root, { ...plan, ...GATE_PLAN }, env, { quick: true });
  try {
    plan.signal.throwIfAborted();
    const hasBegun = plan.gates.length > 0;
    // What was sent back and has not passed since is not forgotten because its client was started again.
    if (!hasBegun && known?.standing === "held") return BEGUN;
    const { answer, lines, blocks } = hasBegun ? await driveOn(root, plan, env, opened, known) : NO_STOP_YET;
    const { type: standing, why } = answer;
    const record = { session: plan.session, at: Date.now(), standing, why, tree: opened.place.tree, blocks, lines };
    await writeSession(state, { schema: "remand.hook/1", ...record });
    return answer;
  } finally {
    await opened.place.close();
  }
}

const GATE_PLAN = { story: null, all: false, at: null, base: null, onOutput: () => undefined } as const;
const BEGUN: StopAnswer = { type: "begun", why: "" };
/** The files as they are now are remembered: a turn that leaves them alone is not sent back. */
const NO_STOP_YET: Answered = { answer: BEGUN, lines: [], blocks: 0 };

interface Answered {
  readonly answer: StopAnswer;
  readonly lines: readonly Recorded[];
  /** How often the conversation was sent back since a person spoke last. */
  readonly blocks: number;
}

/** Drives the story of the conversation until its work passed, goes back, or is a question for a person. */
async function driveOn(
  root: string,
  plan: StopPlan,
  env: EnvVariables,
  opened: OpenedGates,
  known: HeldSession | null,
): Promise<Answered> {
  const { place } = opened;
  const skipped = plan.gates.map((gate) => [gate, inability({ ...plan, ...GATE_PLAN }, gate, opened.gates)] as const);
  const gates = skipped.flatMap(([gate, why]) => (why === null ? [gate] : []));
  const id = storyId(`session-${sha256(plan.session).slice(0, 8)}`);
  // Another hook of the client goes on with an agent that this one has given up: its work may still pass.
  const isOver = known?.standing === "released" && plan.isContinuing;
  const isNew = known?.standing !== "held";
  const isUntouched =
    isNew &&
    (known?.tree === place.tree || (await opened.workspace.changedPaths(id, place.base, place.tree)).length === 0);
  const journal = openHookJournal(isNew ? [] : known.lines);
  const { player, hasReported } = conversationPlayer(plan.said);
  const world = hookWorld(root, plan, env, opened, journal, player);
  const ledger = await openLedger(world);
  if (isNew) {
    const policy = hookPolicy(plan.policy, gates, !isOver && !isUntouched);
    await ledger.append(null, [{ type: "policy.set", policy, by: "hook" }]);
    await ledger.append(id, [{ type: "story.added", story: bareStory(id, TITLE, { kind: "session" }) }]);
  }
  if (gates.length > 0)
    await drive(ledger, world, plan.signal, null, ({ type }) => type === "start-attempt" && hasReported());
  plan.signal.throwIfAborted();
  const lines = journal.lines();
  const reached =
    gates.length > 0
      ? await answerOf(ledger, id, lines, opened.evidence)
      : release(`no gate ran: ${skipped.map(([gate, why]) => `${gate}: ${why}`).join("; ")}`);
  if (reached.type !== "passed")
    await mentionWithheld(reportOf(ledger, id), { ...plan, ...GATE_PLAN }, place.path, env);
  const answer = isOver && reached.type === "released" ? release(known.why) : reached;
  const before = isNew && !isOver ? 0 : known.blocks;
  return { answer, lines, blocks: before + (answer.type === "held" ? 1 : 0) };
}

const TITLE = "What you were asked for in this conversation";
const release = (why: string): StopAnswer => ({ type: "released", why });

/** The conversation as an agent. It reports once in a call, what it did before the call; the answer gives it more. */
function conversationPlayer(said: string): { readonly player: RoleAgent; hasReported(): boolean } {
  let isReported = false;
  const agent: RoleAgent["agent"] = {
    name: "conversation",
    run: async () => {
      isReported = true;
      const unknown = { session: null, output: null, tokens: null, costUsd: null, error: null };
      return { ...unknown, status: "completed", text: said, denied: [], durationMs: 0 };
    },
  };
  const player = { agent, model: null, prompt: "", reports: "stop", maxBriefChars: BRIEF_CHARS, env: {} } as const;
  return { player, hasReported: () => isReported };
}

/** The brief is part of a conversation that may be long already. */
const BRIEF_CHARS = 20_000;

/** What the engine came to, as the hook says it. */
async function answerOf(
  ledger: Ledger,
  id: StoryId,
  lines: readonly Recorded[],
  evidence: Evidence,
): Promise<StopAnswer> {
  const { ending, rework, attempts, escalation, policy } = ledger.story(id);
  if (ending?.how === "accepted") return { type: "passed", why: passedSummary(reportOf(ledger, id)) };
  const failed = attempts.at(-1)?.failed ?? "";
  const question = escalation ?? ledger.state().escalation;
  const sent = lines.findLast(({ event }) => event.type === "work.sent-back")?.event;
  if (question === null && rework !== null && sent?.type === "work.sent-back") {
    const limit = sent.failureLimit ?? policy!.limits.iterations;
    const brief = await evidence.read(sent.brief);
    if (brief !== null) return { type: "held", brief, why: `${failed} (${countedGoingBack(sent.failure, limit)})` };
  }
  const end = question === null ? "the brief cannot be read" : endOf(question);
  return release(failed === "" ? end : `${failed}; ${end}`);
}

/** Rework needs approval only where the conversation left the files alone (see `hookPolicy`). */
function endOf({ reason, gate, assessment }: Escalation): string {
  return reason.type === "approval" ? "no file was changed since" : `${reasonText(reason, gate)}. ${assessment}`.trim();
}

function reportOf(ledger: Ledger, id: StoryId): Pick<GateReport, "judgements"> {
  const { policy, gates } = ledger.story(id);
  const planned = policy?.phases.flatMap((phase) => phase.gates) ?? [];
  return { judgements: planned.flatMap((gate) => gates[gate]?.last ?? []) };
}
