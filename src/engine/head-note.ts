import type { Journal } from "../ports/journal.ts";

/** What a commit notes of the journal: its head, and its id where it has one. */
export async function headNote(journal: Pick<Journal, "head" | "id">): Promise<string> {
  const { hash } = await journal.head();
  return journal.id === null ? hash : `${hash} ${journal.id}`;
}
