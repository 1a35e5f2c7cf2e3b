import type { RoleName } from "../domain/ids.ts";
import type { StoryState } from "../domain/story-state.ts";
import { triedFindings } from "../policy/tried-findings.ts";
import { writeHistory } from "../writers/prompts/history.ts";
import { sessionsHere } from "./sessions-here.ts";
import type { EngineWorld } from "./world.ts";

/**
 * What a role would know from its own conversation, where that is on another machine: then this machine begins a new
 * one, and it has to be told. Empty where the conversation goes on, or where there never was one.
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
  const told = attempts.map((attempt) => ({ ...attempt, findings: triedFindings(state, attempt) }));
  return `${writeHistory({ attempts: told, message: message ?? "" }, { nonce: world.nonce() })}\n`;
}

/** Those in which work was done, whatever was made of it. */
const ENDED: ReadonlySet<string> = new Set(["ready", "incomplete", "blocked", "unclear", "timed-out"]);
