import type { StartAttempt, StoryCommand } from "../../core/stories/command.ts";
import type { Cost } from "../../core/events/event.ts";
import { type AgentSession, type RoleName, evidenceId } from "../../core/events/ids.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import type { AgentResult, RoleAgent } from "../../ports/agent.ts";
import { readScopeExceptions } from "../../parse/agent/agent-answer.ts";
import { writeClarificationPrompt } from "../../write/prompts/signal-forms.ts";
import { isTextPhase } from "../../write/edits/story-sections.ts";
import { appendIfRunning } from "../ledger.ts";
import { type ProductEdit, missingProduct, openProductEdit, takeProduct } from "../phase-product.ts";
import { mostUsed } from "../spending-watch.ts";
import type { EngineWorld } from "../world.ts";
import { historyFor, tagWithHost, promptFor, sessionsHere } from "./attempt-prompt.ts";
import { startBesideWork } from "./gate.ts";
import { type AgentReply, outcomeOf, type PrintedResult, createTranscript } from "./attempt-outcome.ts";
import { bringConflictsIn } from "./delivery.ts";
import type { CommandContext } from "./command-context.ts";
import { dispatchKey } from "../fencing.ts";
import { type EndedAttempt, attemptKey, isAttempt, reportAttempt, runningPhase } from "./report-attempt.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";

type StartCommand = StoryCommand & StartAttempt & { readonly key: string };
type AskCommand = Extract<CommandContext["command"], { type: "ask-again" }>;

/** Whether the rework is for a conflict of the branch with its target: the agent needs both sides in its files. */
const isConflict = ({ reworkOf }: StartAttempt): boolean =>
  reworkOf !== null && reworkOf !== "person" && GATE_REGISTRY[reworkOf].judgesWithTarget;

/** Dispatches an agent. The attempt is in the journal before the agent starts. */
export async function startAttempt(performing: CommandContext<StartCommand>): Promise<void> {
  const { command, ledger, world } = performing;
  if (isConflict(command) && !(await bringConflictsIn(command.story, ledger, world))) return;
  const before = ledger.story(command.story);
  const { attempt, phase, role, tddPhase, reworkOf, forecastUsd, stronger, fresh } = command;
  const player = await world.roleRegistry.agentFor(role);
  const model = stronger?.model ?? player?.model ?? null;
  const brief = before.rework === null ? null : evidenceId(before.rework.brief);
  const isOurs = await ledger.append(command.story, [
    {
      type: "attempt.started",
      attempt,
      phase,
      role,
      ...(tddPhase === undefined ? {} : { tddPhase }),
      reworkOf,
      brief,
      forecastUsd,
      ...(model === null ? {} : { model }),
      ...(world.isolation === undefined ? {} : { isolation: world.isolation }),
      ...(stronger === undefined ? {} : { stronger: { failures: stronger.failures } }),
      ...(fresh === undefined ? {} : { fresh }),
    },
  ]);
  if (isOurs) await dispatchTo(performing, before, player);
}

/** Continues an attempt whose agent outlived its engine: the same call finds the agent, or its result. */
export async function resumeAttempt(performing: CommandContext<StartCommand>): Promise<void> {
  const { command, ledger, world } = performing;
  const state = ledger.story(command.story);
  if (state.running?.type !== "attempt" || state.running.attempt !== command.attempt) return;
  await dispatchTo(performing, state, await world.roleRegistry.agentFor(command.role));
}

async function dispatchTo(
  performing: CommandContext<StartCommand>,
  before: StoryState,
  player: RoleAgent | null,
): Promise<void> {
  const { command, ledger, world } = performing;
  const { role } = command;
  if (player === null) {
    await finish(performing, before, { outcome: { type: "missing", detail: `no agent for ${role}` }, text: "" }, null);
    return;
  }
  const brief = before.rework === null ? null : evidenceId(before.rework.brief);
  const prompt = await promptFor(command, world, before, player, brief);
  const history = await historyFor(world, ledger.story(command.story), role);
  await run(performing, before, player, `${history}${prompt}`);
}

/** Asks the same agent again, because its reply could not be read. */
export async function askAgain(performing: CommandContext<AskCommand>): Promise<void> {
  const { command, ledger, world } = performing;
  const state = ledger.story(command.story);
  if (state.running?.type !== "attempt") return;
  if ((await world.workspace.isHere?.(command.story)) === false) {
    const detail = `what attempt ${command.attempt} has done is on another machine`;
    await appendIfRunning(ledger, command.story, isAttempt(command.attempt), [{ type: "work.interrupted", detail }]);
    return;
  }
  const player = await world.roleRegistry.agentFor(state.running.role);
  if (player === null) {
    await finish(
      performing,
      state,
      { outcome: { type: "missing", detail: `no agent for ${state.running.role}` }, text: "" },
      null,
    );
    return;
  }
  const asks = state.policy?.limits.clarifications ?? command.times;
  const request = {
    storyId: state.story.id,
    role: "developer",
    why: "unreadable",
    problems: isTextPhase(state.phase) ? [missingProduct(state.phase)] : [],
    ask: command.times,
    asks,
  } as const;
  await run(performing, state, player, writeClarificationPrompt(request, { nonce: world.nonce() }));
}

async function run(
  performing: CommandContext<StartCommand | AskCommand>,
  before: StoryState,
  player: RoleAgent,
  prompt: string,
): Promise<void> {
  const { command, ledger, world, signal, spending } = performing;
  const place = await world.workspace.prepare(command.story, [], signal);
  const { path } = place;
  const timeoutMs = before.policy?.limits.timeoutMs.developer ?? 0;
  const role = runningRole(ledger.story(command.story));
  const productEdit = await openProductEdit(world, before, runningPhase(ledger.story(command.story)), path);
  // Stopped before the agent started: nothing was done, so the attempt can start again.
  if (signal.aborted && ledger.story(command.story).stopping === null) return;
  const meter = spending.meter();
  const beside = startBesideWork(world, before, place, { key: command.key, signal });
  const transcript = createTranscript();
  const ended = await player.agent.run(
    {
      prompt,
      cwd: path,
      // A text phase only produces text, which the engine writes to the file.
      access: productEdit === null ? "edit" : "read",
      session: sessionOf(ledger.story(command.story), player, role, world.host),
      outputSchema: null,
      // From the journal, so that a repeated question goes to the same model.
      model: ledger.story(command.story).attempts.at(-1)?.model ?? player.model,
      timeoutMs,
      env: player.env,
      key: dispatchKey(ledger.story(command.story)) ?? command.key,
      turn: turnOf(ledger.story(command.story)),
      // The product of a text phase is the message itself.
      ...(productEdit === null ? { report: { story: before.story.id, kind: "work" } } : {}),
      ...(meter.maxCostUsd === null ? {} : { maxCostUsd: meter.maxCostUsd }),
    },
    {
      signal,
      onEvent(event) {
        if (event.type === "output") {
          transcript.add(event.line);
          world.watcher.onOutput(command, event.line);
        }
        if (event.type === "usage") meter.onUse(event);
      },
    },
  );
  const result = transcript.of(ended);
  await beside.end();
  const said = await withProduct(
    world,
    productEdit,
    result,
    outcomeOf(result, { id: before.story.id, reports: player.reports, nowMs: world.clock.now() }),
  );
  if (said === "interrupted") return endedByUs(performing, before, result);
  if (said.outcome.type === "unclear") return reportUnclear(performing, said.outcome.detail, result);
  await finish(performing, before, said, result);
}

/** Records an unreadable reply. The agent is asked again, within the limit. */
async function reportUnclear(
  { command, ledger, world }: CommandContext<StartCommand | AskCommand>,
  detail: string,
  result: AgentResult,
): Promise<void> {
  const { attempt, story } = command;
  await appendIfRunning(ledger, story, isAttempt(attempt), [
    { type: "attempt.unclear", attempt, detail, ...sessionIn(result, world.host), ...costOf(result) },
  ]);
}

/**
 * Keeps the work so far when a person stopped the story or a budget is used up. A stopping engine reports its stories
 * itself.
 */
async function endedByUs(
  performing: CommandContext<StartCommand | AskCommand>,
  before: StoryState,
  result: PrintedResult,
): Promise<void> {
  const { command, ledger, world, spending } = performing;
  const { stopping, running } = ledger.story(command.story);
  if (stopping !== null)
    return finish(performing, before, { outcome: { type: "stopped", by: stopping }, text: "" }, result);
  const budget = spending.exceeded();
  if (budget === null || running === null) return;
  const durationMs = Math.max(result.durationMs, world.clock.now() - running.since);
  const used = { ...result, ...mostUsed(result, spending.used()), durationMs };
  await finish(performing, before, { outcome: { type: "cut-short", budget }, text: "" }, used);
}

/** Makes an outcome unclear if the phase needs a product and has none: the agent is asked again. */
async function withProduct(
  world: EngineWorld,
  productEdit: ProductEdit | null,
  { text }: AgentResult,
  said: AgentReply | "interrupted",
): Promise<AgentReply | "interrupted"> {
  if (productEdit === null || said === "interrupted") return said;
  // What a failed agent left behind is not a product: the next agent starts from the state before it.
  const hasSpoken = said.outcome.type === "ready" || said.outcome.type === "unclear";
  const isGiven = await takeProduct(world, productEdit, hasSpoken ? text : null);
  if (isGiven || said.outcome.type !== "ready") return said;
  return { ...said, outcome: { type: "unclear", detail: missingProduct(productEdit.phase) } };
}

/** Ends an attempt. The result is stored first, so that a crash cannot lose it; then the work is kept and reported. */
async function finish(
  performing: CommandContext<StartCommand | AskCommand>,
  before: StoryState,
  said: AgentReply,
  result: PrintedResult | null,
): Promise<void> {
  const { command, ledger, world } = performing;
  const ended: EndedAttempt = {
    outcome: said.outcome,
    summary: said.text,
    ...(await readResult(world, result)),
    ...costOf(result),
  };
  // Both wait for the disk, so they run in parallel. The outbox starts first, so that it is never behind the journal.
  const put = world.outbox.put(attemptKey(command.story, command.attempt), JSON.stringify(ended));
  const [, reported] = await Promise.allSettled([put, reportAttempt(ledger, world, before, command.attempt, ended)]);
  // If the outbox fails, nothing is lost once the journal has the event.
  if (reported.status === "rejected") throw reported.reason;
}

function costOf(result: AgentResult | null): Cost {
  return {
    durationMs: result?.durationMs ?? 0,
    ...(result === null || result.costUsd === null ? {} : { costUsd: result.costUsd }),
    ...(result === null || result.tokens === null ? {} : { tokens: result.tokens }),
  };
}

/** Reads the agent's whole message: reviewers need it, and it gives the reasons for changes outside the scope. */
async function readResult(
  world: EngineWorld,
  result: PrintedResult | null,
): Promise<Pick<EndedAttempt, "message" | "transcript" | "exceptions" | "session">> {
  if (result === null) return {};
  const exceptions = readScopeExceptions(result.text);
  const isMore = result.printed.trim() !== "" && result.printed.trim() !== result.text.trim();
  return {
    ...(result.text.trim() === "" ? {} : { message: await world.evidence.keep(result.text) }),
    ...(isMore ? { transcript: await world.evidence.keep(result.printed) } : {}),
    ...(exceptions.length === 0 ? {} : { exceptions }),
    ...sessionIn(result, world.host),
  };
}

/** Returns the conversation to resume: only with the same client on the same host. */
function sessionOf(
  { sessions }: StoryState,
  { agent }: RoleAgent,
  role: RoleName | null,
  host: string | undefined,
): AgentSession | null {
  const session = role === null ? undefined : sessionsHere(sessions, host)[role];
  return session?.agent === agent.name ? session : null;
}

function sessionIn({ session }: AgentResult, host: string | undefined): { session?: AgentSession } {
  return session === null ? {} : tagWithHost({ session }, host);
}

const runningRole = ({ running }: StoryState): RoleName | null => (running?.type === "attempt" ? running.role : null);

/**
 * Counts the questions that a role has answered, in this attempt and earlier ones. An interrupted question does not
 * count, because it is asked again.
 */
function turnOf(state: StoryState): number {
  const role = runningRole(state);
  const before = role === null ? 0 : (state.asked[role] ?? 0);
  return state.attempts
    .filter((attempt) => attempt.role === role && attempt.outcome !== "interrupted")
    .reduce((turns, { outcome, asked }) => turns + asked + (outcome === "running" ? 0 : 1), before);
}
