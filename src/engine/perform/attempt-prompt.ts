import type { StartAttempt } from "../../core/stories/command.ts";
import type { AgentSession, EvidenceId, RoleName } from "../../core/events/ids.ts";
import type { Phase } from "../../core/stories/story.ts";
import type { Scope } from "../../core/stories/scope.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { locationText, statusText } from "../../core/gates/finding.ts";
import { triedFindings } from "../../decide/tried-findings.ts";
import type { RoleAgent } from "../../ports/agent.ts";
import { writeAssignmentPrompt, writeHistory } from "../../write/prompts/assignment.ts";
import { withoutProducts } from "../../write/edits/story-sections.ts";
import { hasTextPhases, keepsNotes, productsUpTo, scopeWithPage } from "../phase-product.ts";
import type { EngineWorld } from "../world.ts";

/** Writes the prompt of an attempt: a brief for rework, an assignment for new work. */
export async function promptFor(
  command: StartAttempt,
  world: EngineWorld,
  state: StoryState,
  player: RoleAgent,
  brief: EvidenceId | null,
): Promise<string> {
  const kept = brief === null ? null : await world.evidence.read(brief);
  if (kept !== null) return kept;
  const { story } = state;
  const path = keepsNotes(world, state) ? (await world.workspace.prepare(story.id)).path : "";
  const anywhere: Scope = { allow: [], deny: [], tests: "open", exceptions: "with-rationale", reason: "new work" };
  return writeAssignmentPrompt(
    {
      rolePrompt: player.prompt,
      story: { id: story.id, title: story.title, goal: withoutProducts(story.body, story.completed) },
      phase: command.phase,
      ...(command.tddPhase === undefined ? {} : { tddPhase: command.tddPhase }),
      criteria: story.criteria,
      scope: (await scopeWithPage(world, state, command.phase, path, null)) ?? anywhere,
      judgedBy: judgedByAll(world, state),
      products: hasTextPhases(state) ? await productsUpTo(world, state, command.phase, path) : [],
      context: triedBefore(state, command.phase),
      guidance: state.guidance,
      report: "signal",
      spellOutFormat: command.spellOutFormat,
    },
    { nonce: world.nonce() },
  );
}

/** Describes earlier attempts of a phase that runs again because an earlier phase did. */
function triedBefore(state: StoryState, phase: Phase): string[] {
  return state.attempts
    .filter((attempt) => attempt.phase === phase && attempt.outcome === "ready")
    .flatMap((attempt) => {
      const end = attempt.failed === "" ? "what it was built on has changed since" : attempt.failed;
      const text = `attempt ${attempt.attempt} did this phase before, and its work is still there: ${attempt.summary || "no summary"} -> ${end}`;
      const findings = triedFindings(state, attempt).map((finding) => {
        const place = locationText(finding);
        return `attempt ${attempt.attempt}, ${finding.gate}, ${statusText(finding)}: ${place === "" ? "" : `${place}: `}${finding.title}`;
      });
      return [text, ...findings];
    });
}

/**
 * Writes a summary of the role's conversation on another machine, for a new conversation on this one. Empty if the
 * conversation can be resumed here, or if there was none.
 */
export async function historyFor(
  world: Pick<EngineWorld, "host" | "evidence" | "nonce">,
  state: StoryState,
  role: RoleName,
): Promise<string> {
  if (state.sessions[role] === undefined || sessionsHere(state.sessions, world.host)[role] !== undefined) return "";
  const attempts = state.attempts.filter((each) => each.role === role && ENDED.has(each.outcome));
  if (attempts.length === 0) return "";
  const message = state.message === null ? null : await world.evidence.read(state.message);
  const withFindings = attempts.map((attempt) => ({ ...attempt, findings: triedFindings(state, attempt) }));
  return `${writeHistory({ attempts: withFindings, message: message ?? "" }, { nonce: world.nonce() })}\n`;
}

/** Attempts in which an agent worked, whatever their outcome. */
const ENDED: ReadonlySet<string> = new Set(["ready", "incomplete", "blocked", "unclear", "timed-out"]);

/** Returns the commands and criteria that the gates of the current phase will apply. */
export function judgedByAll(world: Pick<EngineWorld, "gates">, state: StoryState): readonly string[] {
  const gates = state.policy?.phases.find((plan) => plan.phase === state.phase)?.gates ?? [];
  return gates.flatMap((gate) => world.gates.get(gate)?.criteria() ?? []);
}

type Sessions = StoryState["sessions"];

/** Returns the conversations that can be resumed on this machine. */
export function sessionsHere(sessions: Sessions, host: string | undefined): Sessions {
  return Object.fromEntries(Object.entries(sessions).filter(([, session]) => session.host === host));
}

/** Adds this machine's name, because a conversation can be resumed only on its own machine. */
export function tagWithHost<S extends Readonly<Record<string, AgentSession>>>(
  sessions: S,
  host: string | undefined,
): S {
  if (host === undefined) return sessions;
  return Object.fromEntries(Object.entries(sessions).map(([role, session]) => [role, { ...session, host }])) as S;
}
