import { RemandError } from "../core/events/error.ts";
import type { World } from "./command.ts";
import type { JournalTrouble } from "./host.ts";

export const NEW_JOURNAL_HELP =
  "where the journal is missing or was changed: keep the old file, record the loss, start over";

export const WAY_OUT =
  "Or start over with --new-journal (remand run, remand loop): the old file is kept, and the new journal records what was lost and who decided it.";

/** What does not continue its own past is not worked on; the hint names both ways out. */
export function journalRefusal({ kind, text }: JournalTrouble): RemandError {
  return kind === "missing"
    ? new RemandError("journal-lost", text, `Bring .remand/journal.db back from a backup. ${WAY_OUT}`)
    : new RemandError(
        "journal-corrupt",
        text,
        `Nothing was changed. Bring .remand/journal.db back from a backup. ${WAY_OUT}`,
      );
}

/** A person at a terminal is asked once: the new journal records the loss, and is not missing the next time. */
export async function isNewJournalWanted(world: Pick<World, "cwd" | "host" | "ask">): Promise<boolean> {
  if (world.ask === null) return false;
  const trouble = await world.host.journalTrouble(world.cwd, false);
  if (trouble?.kind !== "missing") return false;
  const answer = await world.ask(`${trouble.text} Start a new one, which records the loss? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}
