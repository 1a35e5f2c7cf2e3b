import type { StartAttempt, StoryCommand } from "../domain/command.ts";
import type { AttemptFinished } from "../domain/event.ts";
import { evidenceId, type EvidenceId, type RoleName, type StoryId } from "../domain/ids.ts";
import type { Scope } from "../domain/scope.ts";
import type { AgentSession } from "../domain/session.ts";
import type { Running, StoryState } from "../domain/story-state.ts";
import type { AgentResult } from "../ports/agent.ts";
import type { Player } from "../ports/roster.ts";
import { readScopeExceptions } from "../readers/scope-exceptions.ts";
import { writeAssignmentPrompt } from "../writers/prompts/assignment.ts";
import { writeClarificationPrompt } from "../writers/prompts/clarification.ts";
import { appendWhile } from "./append-while.ts";
import { judgedByAll } from "./judged-by.ts";
import type { Ledger } from "./ledger.ts";
import { outcomeOf, type Said } from "./outcome.ts";
import type { Performing } from "./performing.ts";
import type { EngineWorld } from "./world.ts";

type StartCommand = StoryCommand & StartAttempt & { readonly key: string };
type AskCommand = Extract<Performing["command"], { type: "ask-again" }>;

/** Dispatches an agent. The attempt is in the journal before the agent is. */
export async function startAttempt(performing: Performing<StartCommand>): Promise<void> {
  const { command, ledger, world } = performing;
  const before = ledger.story(command.story);
  const { attempt, phase, role, tddPhase, reworkOf, forecastUsd } = command;
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
    },
  ]);
  if (!isOurs) return;
  const player = await world.roster.playing(role);
  if (player === null) {
    await finish(performing, before, { outcome: { type: "missing", detail: `nobody plays ${role}` }, text: "" }, null);
    return;
  }
  const prompt = await promptFor(performing, before, player, brief);
  await run(performing, before, player, prompt);
}

/** The words could not be read: the same agent is asked to say them again. */
export async function askAgain(performing: Performing<AskCommand>): Promise<void> {
  const { command, ledger, world } = performing;
  const state = ledger.story(command.story);
  if (state.running?.type !== "attempt") return;
  const player = await world.roster.playing(state.running.role);
  if (player === null) {
    await finish(
      performing,
      state,
      { outcome: { type: "missing", detail: `nobody plays ${state.running.role}` }, text: "" },
      null,
    );
    return;
  }
  const asks = state.policy?.limits.clarifications ?? command.times;
  const request = {
    storyId: state.story.id,
    role: "developer",
    why: "unreadable",
    problems: [],
    ask: command.times,
    asks,
  } as const;
  await run(performing, state, player, writeClarificationPrompt(request, { nonce: world.nonce() }));
}

async function run(
  performing: Performing<StartCommand | AskCommand>,
  before: StoryState,
  player: Player,
  prompt: string,
): Promise<void> {
  const { command, ledger, world, signal } = performing;
  const { path } = await world.workspace.prepare(command.story);
  const timeoutMs = before.policy?.limits.timeoutMs.developer ?? 0;
  const role = runningRole(ledger.story(command.story));
  const result = await player.agent.run(
    {
      prompt,
      cwd: path,
      access: "edit",
      session: sessionOf(before, player, role),
      outputSchema: null,
      model: player.model,
      timeoutMs,
      env: player.env,
      key: command.key,
      turn: turnOf(ledger.story(command.story)),
    },
    { signal, onEvent: (event) => event.type === "output" && world.watcher.onOutput(command, event.line) },
  );
  const said = outcomeOf(result, { id: before.story.id, reports: player.reports, nowMs: world.clock.now() });
  const { stopping } = ledger.story(command.story);
  if (said === "interrupted" && stopping === null) return;
  if (said === "interrupted")
    return finish(performing, before, { outcome: { type: "stopped", by: stopping! }, text: "" }, result);
  if (said.outcome.type === "unclear") {
    await appendWhile(ledger, command.story, isAttempt(command.attempt), [
      { type: "attempt.unclear", attempt: command.attempt, detail: said.outcome.detail },
    ]);
    return;
  }
  await finish(performing, before, said, result);
}

/** The agent has ended. That is written down where a crash cannot reach it before anything is done with it. */
async function finish(
  performing: Performing<StartCommand | AskCommand>,
  before: StoryState,
  said: Said,
  result: AgentResult | null,
): Promise<void> {
  const { command, ledger, world } = performing;
  const ended: EndedAttempt = {
    outcome: said.outcome,
    summary: said.text,
    ...(await heard(world, result)),
    durationMs: result?.durationMs ?? 0,
    ...(result === null || result.costUsd === null ? {} : { costUsd: result.costUsd }),
    ...(result === null || result.tokens === null ? {} : { tokens: result.tokens }),
  };
  await world.outbox.put(attemptKey(command.story, command.attempt), JSON.stringify(ended));
  await reportAttempt(ledger, world, before, command.attempt, ended);
}

/** How an agent ended, as it is kept until the journal has it. */
export type EndedAttempt = Omit<AttemptFinished, "type" | "attempt" | "tree" | "commit" | "changed" | "productChanged">;

/** What the agent said, whole: reviewers read it, and the reasons for going beyond the scope are in it. */
async function heard(
  world: EngineWorld,
  result: AgentResult | null,
): Promise<Pick<EndedAttempt, "message" | "exceptions" | "session">> {
  if (result === null) return {};
  const exceptions = readScopeExceptions(result.text);
  return {
    ...(result.text.trim() === "" ? {} : { message: await world.evidence.keep(result.text) }),
    ...(exceptions.length === 0 ? {} : { exceptions }),
    ...(result.session === null ? {} : { session: result.session }),
  };
}

/** A conversation is gone on with only by the client that led it. */
function sessionOf({ sessions }: StoryState, { agent }: Player, role: RoleName | null): AgentSession | null {
  const session = role === null ? undefined : sessions[role];
  return session?.agent === agent.name ? session : null;
}

const runningRole = ({ running }: StoryState): RoleName | null => (running?.type === "attempt" ? running.role : null);

const isAttempt =
  (attempt: number) =>
  (running: Running): boolean =>
    running.type === "attempt" && running.attempt === attempt;

export function attemptKey(story: StoryId, attempt: number): string {
  return `${story}/attempt-${attempt}`;
}

/** Keeps what the agent left, as a commit, and says how it ended. What changed is asked of git. Safe to repeat. */
export async function reportAttempt(
  ledger: Ledger,
  world: EngineWorld,
  before: StoryState,
  attempt: number,
  ended: EndedAttempt,
): Promise<void> {
  const { id, title } = before.story;
  const { hash } = await world.journal.head();
  const { tree, commit } = await world.workspace.keep(id, {
    attempt,
    subject: `${title} (attempt ${attempt})`,
    journalHead: hash,
  });
  const changed =
    before.tree === null || before.tree === tree ? [] : await world.workspace.changed(id, before.tree, tree);
  await appendWhile(ledger, id, isAttempt(attempt), [
    { type: "attempt.finished", attempt, tree, commit, changed, productChanged: changed.length > 0, ...ended },
  ]);
  await world.outbox.drop(attemptKey(id, attempt));
}

/** Each time a role was asked and answered, in this attempt or an earlier one. What was interrupted is asked anew. */
function turnOf(state: StoryState): number {
  const role = runningRole(state);
  const before = role === null ? 0 : (state.asked[role] ?? 0);
  return state.attempts
    .filter((attempt) => attempt.role === role && attempt.outcome !== "interrupted")
    .reduce((turns, { outcome, asked }) => turns + asked + (outcome === "running" ? 0 : 1), before);
}

/** A rework gets its brief, new work its assignment. */
async function promptFor(
  { command, world }: Performing<StartCommand>,
  state: StoryState,
  player: Player,
  brief: EvidenceId | null,
): Promise<string> {
  const kept = brief === null ? null : await world.evidence.read(brief);
  if (kept !== null) return kept;
  const scope: Scope = {
    allow: [],
    deny: [],
    tests: command.phase === "implement" ? "open" : "frozen",
    exceptions: "with-rationale",
    reason: "new work",
  };
  return writeAssignmentPrompt(
    {
      rolePrompt: player.prompt,
      story: { id: state.story.id, title: state.story.title, goal: state.story.body },
      phase: command.phase,
      ...(command.tddPhase === undefined ? {} : { tddPhase: command.tddPhase }),
      criteria: state.story.criteria,
      scope,
      judgedBy: judgedByAll(world, state),
      context: [],
      guidance: state.guidance,
      report: "signal",
      spellOutFormat: command.spellOutFormat,
    },
    { nonce: world.nonce() },
  );
}
