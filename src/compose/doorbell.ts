import type { Notification } from "../domain/notification.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Journal } from "../ports/journal.ts";
import type { Watcher } from "../ports/watcher.ts";
import { budgetWords, endedWords } from "../views/notifications.ts";
import { createOpenQuestions } from "./open-questions.ts";
import { createSender, type SenderParts } from "./send-notices.ts";

/** Tells people who are not looking: that they are needed, that they still are, and that a run has ended. */
export interface Doorbell {
  /** Sees what the plan's own watcher sees. */
  readonly watcher: Watcher;
  /** Minds the questions that were open before. */
  resume(state: RunState): void;
  /** Nothing is left to do, for now. */
  ended(state: RunState): void;
  /** What is on its way is sent, within a bound. */
  close(): Promise<void>;
}

export interface DoorbellParts extends SenderParts {
  readonly journal: Pick<Journal, "read">;
  readonly watcher: Watcher;
}

/**
 * Nothing here is kept but what the journal says: when a question came up, and until when somebody was there to raise
 * it again. An engine that starts later raises once what fell due while none was there.
 */
export async function createDoorbell(parts: DoorbellParts): Promise<Doorbell> {
  const { outlets, watcher, clock, project } = parts;
  if (outlets.length === 0)
    return { watcher, resume: () => undefined, ended: () => undefined, close: () => Promise.resolve() };
  const earlier = await remembered(parts.journal);
  const sender = createSender(parts);
  const tell = (words: Omit<Notification, "project">): void => sender.send({ ...words, project });
  const questions = createOpenQuestions(earlier, clock, tell);
  let hasHappened = false;
  return {
    watcher: {
      onOutput: (command, line) => watcher.onOutput(command, line),
      onLines: (lines, state) => {
        watcher.onLines(lines, state);
        hasHappened = true;
        for (const line of lines) {
          const words = budgetWords(line);
          if (words !== null) tell(words);
        }
        // Only such lines open or close a question, and they are few.
        const last = lines.findLast(({ event }) => OPENS_OR_CLOSES.has(event.type));
        const isAsked = lines.some(({ event }) => event.type === "escalation.raised");
        if (last !== undefined) questions.changed(state, last.at, isAsked);
      },
    },
    resume: (state) => {
      questions.resume(state);
      hasHappened = false;
    },
    ended: (state) => {
      if (hasHappened) tell(endedWords(state, clock.now()));
      hasHappened = false;
    },
    close: async () => {
      await questions.close();
      await sender.close();
    },
  };
}

const OPENS_OR_CLOSES: ReadonlySet<string> = new Set([
  "escalation.raised",
  "person.answered",
  "answer.undone",
  "story.accepted",
  "story.failed",
]);

/** When each question came up, and when somebody last wrote anything. */
async function remembered({ read }: Pick<Journal, "read">): Promise<{ raised: Map<string, number>; lastAt: number }> {
  const raised = new Map<string, number>();
  let lastAt = 0;
  for await (const { event, at } of read(0)) {
    lastAt = at;
    if (event.type === "escalation.raised") raised.set(event.escalation.id, at);
  }
  return { raised, lastAt };
}
