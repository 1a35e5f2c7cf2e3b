import type { AgentSession } from "../domain/session.ts";
import type { StoryState } from "../domain/story-state.ts";

type Sessions = StoryState["sessions"];

/** Conversations are kept where they were led: those that can be gone on with on this machine. */
export function sessionsHere(sessions: Sessions, host: string | undefined): Sessions {
  return Object.fromEntries(Object.entries(sessions).filter(([, session]) => session.host === host));
}

/** The same conversations, with the name of the machine they are on. */
export function ledHere<S extends Readonly<Record<string, AgentSession>>>(sessions: S, host: string | undefined): S {
  if (host === undefined) return sessions;
  return Object.fromEntries(Object.entries(sessions).map(([role, session]) => [role, { ...session, host }])) as S;
}
