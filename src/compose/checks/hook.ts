import { type SessionRecord, type StopAnswer, type StopPlan, readSessionRecord } from "../../app/host-plans.ts";
import type { Recorded } from "../../core/events/event.ts";
import { type GateReport, passedSummary } from "../../core/gates/gate-report.ts";
import { type StoryId, storyId } from "../../core/events/ids.ts";
import { countedGoingBack } from "../../core/stories/budget.ts";
import { type Escalation, reasonText } from "../../core/stories/escalation.ts";
import { bareStory } from "../../core/stories/story.ts";
import { drive } from "../../engine/drive.ts";
import { type Ledger, openLedger } from "../../engine/ledger.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { RoleAgent } from "../../ports/agent.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { stateFolder } from "../state-folder.ts";
import { inability, mentionWithheld, openGates } from "./gate.ts";
import { type FailuresBefore, type OpenedGates, hookPolicy, hookWorld } from "./hook-world.ts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import { readRecorded } from "../../core/schemas/event.ts";
import { isRecord } from "../../stdx/assert.ts";
import { createNodeFiles } from "../../adapters/files/node-files.ts";
import { ensureStateFolder } from "../../adapters/git/repository.ts";
import type { EngineJournal, StoredEvent } from "../../ports/journal.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/**
 * Decides whether an agent that works in the checkout may stop. Each conversation is a story that the engine drives: a
 * request to stop ends the running attempt, and the next attempt starts when the client gives the brief to the agent.
 */
export async function stop(root: string, plan: StopPlan, env: EnvVariables): Promise<StopAnswer> {
  const state = stateFolder(root).path;
  const known = await readSession(sessionFile(state, plan.session));
  const since = known?.start ?? null;
  const opened = await openGates(root, { ...onceOnly(plan), ...GATE_PLAN }, env, { quick: true, since });
  const before: FailuresBefore = { names: known?.before };
  try {
    plan.signal.throwIfAborted();
    const hasBegun = plan.gates.length > 0;
    // Work that was sent back and has not passed yet stays so when the client restarts.
    if (!hasBegun && known?.standing === "held") return BEGUN;
    const { answer, lines, blocks } = hasBegun
      ? await driveOn(root, { ...plan, before, isStartKnown: since !== null }, env, opened, known)
      : NO_STOP_YET;
    const { type: standing, why } = answer;
    // The first start counts: a restarted client continues the same work.
    const start = since ?? (hasBegun ? undefined : await opened.place.toCommit?.());
    const begun = {
      ...(start === undefined ? {} : { start }),
      ...(before.names === undefined ? {} : { before: before.names }),
    };
    const record = { session: plan.session, at: Date.now(), standing, why, tree: opened.place.tree, blocks, lines };
    await writeSession(state, { schema: "remand.hook/1", ...record, ...begun });
    return answer;
  } finally {
    await opened.place.close();
  }
}

const GATE_PLAN = { story: null, all: false, at: null, base: null, onOutput: () => undefined } as const;
const BEGUN: StopAnswer = { type: "begun", why: "" };
/** The current tree is recorded, so that a turn that changes no file is not sent back. */
const NO_STOP_YET: Answered = { answer: BEGUN, lines: [], blocks: 0 };

/** Does not repeat a red run to find flaky tests: the time is used to run the files as they were before. */
function onceOnly(plan: StopPlan): StopPlan {
  const { gates } = plan.config;
  return { ...plan, config: { ...plan.config, gates: { ...gates, checks: { ...gates.checks, reruns: 0 } } } };
}

interface Answered {
  readonly answer: StopAnswer;
  readonly lines: readonly Recorded[];
  /** How often the conversation was sent back since the last message of a person. */
  readonly blocks: number;
}

/** Drives the story of the conversation until its work passes, is sent back, or needs a person. */
async function driveOn(
  root: string,
  plan: StopPlan & { readonly before: FailuresBefore; readonly isStartKnown: boolean },
  env: EnvVariables,
  opened: OpenedGates,
  known: RecordedSession | null,
): Promise<Answered> {
  const { place } = opened;
  const skipped = plan.gates.map((gate) => [gate, inability({ ...plan, ...GATE_PLAN }, gate, opened.gates)] as const);
  const gates = skipped.flatMap(([gate, why]) => (why === null ? [gate] : []));
  const id = storyId(`session-${sha256(plan.session).slice(0, 8)}`);
  // The agent was released and still continues, because of another hook of the client: its work may still pass.
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

/**
 * The conversation as an agent. It reports once per call, what it did before the call; the hook's answer gives it more
 * work.
 */
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

/** A limit because the brief is added to a conversation that may be long already. */
const BRIEF_CHARS = 20_000;

/** Turns the engine's result into the hook's answer. */
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

/** Here, a rework needs approval only if the conversation changed no files (see `hookPolicy`). */
function endOf({ reason, gate, assessment }: Escalation): string {
  return reason.type === "approval" ? "no file was changed since" : `${reasonText(reason, gate)}. ${assessment}`.trim();
}

function reportOf(ledger: Ledger, id: StoryId): Pick<GateReport, "judgements"> {
  const { policy, gates } = ledger.story(id);
  const planned = policy?.phases.flatMap((phase) => phase.gates) ?? [];
  return { judgements: planned.flatMap((gate) => gates[gate]?.last ?? []) };
}

/** A conversation with the journal of its story, which starts with a message of a person. */
export interface RecordedSession extends SessionRecord {
  readonly lines: readonly Recorded[];
}

/** The session's name comes from outside and may contain any characters, so the file is named by its hash. */
export function sessionFile(state: string, session: string): string {
  return join(state, "hooks", `${sha256(session).slice(0, 24)}.json`);
}

/**
 * `null` where there is no record. An unreadable record is an error: if it counted as a new start, a conversation whose
 * record breaks each time would be sent back forever.
 */
export async function readSession(file: string): Promise<RecordedSession | null> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw unreadable(file, error.message);
  });
  if (text === null) return null;
  const value = parseJson(file, text);
  const record = readSessionRecord(value);
  if (record === null || !isRecord(value) || !Array.isArray(value["lines"]))
    throw unreadable(file, "it is no record of a conversation");
  const lines = value["lines"].map((line) => {
    const read = readRecorded(line);
    if (!read.ok) throw unreadable(file, read.problem);
    return read.recorded;
  });
  return { ...record, lines };
}

export async function writeSession(state: string, record: RecordedSession): Promise<void> {
  await ensureStateFolder(state);
  await createNodeFiles().write(sessionFile(state, record.session), `${JSON.stringify(record)}\n`);
}

/**
 * The journal of a conversation while its hook runs; `lines` returns its lines at the end. The record is written once,
 * with the answer: a hook that is killed before has answered nothing, and the next one starts from the last answer.
 */
export function openHookJournal(recorded: readonly Recorded[]): HookJournal {
  const lines: StoredEvent[] = [];
  const counts = new Map<StoryId | null, number>();
  const store = ({ story, event, at }: Omit<Recorded, "v">): StoredEvent => {
    const seq = (counts.get(story) ?? 0) + 1;
    counts.set(story, seq);
    const line = { v: 1, at, story, event, position: lines.length + 1, seq, hash: "" } as const;
    lines.push(line);
    return line;
  };
  recorded.forEach(store);
  return {
    id: null,
    lines: () => lines.map(({ v, at, story, event }) => ({ v, at, story, event })),
    append: async (story, expected, events, at) => {
      const actual = counts.get(story) ?? 0;
      if (actual !== expected) return { ok: false, conflict: { expected, actual } };
      return { ok: true, stored: events.map((event) => store({ story, event, at })) };
    },
    read: async function* (after) {
      yield* lines.slice(after);
    },
    head: async () => ({ position: lines.length, hash: "" }),
    // Only the hook itself writes, and a conversation is too short for a snapshot.
    watch: () => () => undefined,
    saveSnapshot: async () => false,
    latestSnapshot: async () => null,
    latestOutlines: async () => null,
    snapshotParts: async () => null,
  };
}

interface HookJournal extends EngineJournal {
  lines(): readonly Recorded[];
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(file, (error as Error).message);
  }
}

function unreadable(file: string, why: string): RemandError {
  return new RemandError(
    "file-unreadable",
    `${file} cannot be read: ${why}`,
    "Delete the file; the next stop starts over.",
  );
}
