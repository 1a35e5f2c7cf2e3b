import type { Command } from "../core/stories/command.ts";
import type { Event } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Wraps the ledger for one command. The command's first append must follow exactly the events of its decision, and
 * after that it may end only what it started. This refuses a worker that was replaced while it slept, and a command
 * that was given out twice, whatever the queue did.
 */
export function withFencing(command: Command, ledger: Ledger): Ledger {
  const { story } = command;
  const token: FencingToken = {
    known: command.type === "check-health" ? null : decidedAt(command),
    begun: continuesStep(command) ? runningSeq(ledger, command.story) : null,
  };
  const isLost = (): boolean => story !== null && token.begun !== null && runningSeq(ledger, story) !== token.begun;
  return {
    ...ledger,
    mayWrite: (stream) => stream !== story || !isLost(),
    append: (stream, events, known) =>
      stream === story && known === undefined
        ? appendFenced(ledger, story, events, token)
        : ledger.append(stream, events, known),
  };
}

/** Whether a command continues what another command started. */
export const continuesStep = (command: Command): command is ContinuingCommand =>
  command.type === "ask-again" || command.type === "resume-work";

type ContinuingCommand = Extract<Command, { readonly type: "ask-again" | "resume-work" }>;

/** Returns how many events there were when a command was decided. */
export function decidedAt({ key }: Pick<Command, "key">): number {
  return Number(key.slice(key.lastIndexOf(":") + 1));
}

/** Returns the key of the agents of the running step; `null` if nothing runs. It stays the same after a crash. */
export function dispatchKey({ story, running }: StoryState): string | null {
  return running === null ? null : `${story.id}:${running.seq - 1}`;
}

interface FencingToken {
  /** The number of events the command was based on; `null` for project commands, where other writers are allowed. */
  known: number | null;
  /** The number of the event that started the command's running step. */
  begun: number | null;
}

async function appendFenced(
  ledger: Ledger,
  story: StoryId | null,
  events: readonly Event[],
  token: FencingToken,
): Promise<boolean> {
  if (story === null) return aboutProject(ledger, events, token);
  const { seq, running } = ledger.story(story);
  // A person may have written to the stream since the start: that does not end the command's right to write.
  if (token.begun !== null && running?.seq !== token.begun) return false;
  const known: number = token.begun === null ? token.known! : seq;
  if (!(await ledger.append(story, events, known))) return false;
  const start = events.findLastIndex(({ type }) => type.endsWith(".started"));
  if (start >= 0) token.begun = known + start + 1;
  else if (runningSeq(ledger, story) !== token.begun) token.begun = null;
  token.known = known + events.length;
  return true;
}

async function aboutProject(ledger: Ledger, events: readonly Event[], token: FencingToken): Promise<boolean> {
  const isWritten = await ledger.append(null, events, ...(token.known === null ? [] : [token.known]));
  if (isWritten) token.known = null;
  return isWritten;
}

function runningSeq(ledger: Ledger, story: StoryId): number | null {
  return lookup(ledger.state().stories, story, byText)?.running?.seq ?? null;
}
