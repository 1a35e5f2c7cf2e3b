import type { Look } from "../cli/host.ts";
import { RemandError } from "../domain/error.ts";
import { foldAnew, foldJournal, stateText } from "../engine/fold-journal.ts";
import { journalPlace } from "./journal-place.ts";
import { stateFolder } from "./state-folder.ts";

/** What there is now. Git is loaded when somebody asks for code: most who look want to know how the stories stand. */
export async function look(root: string, db: string | null): Promise<Look | null> {
  const opened = await journalPlace(root, db).read();
  if (opened === null) return null;
  const { journal, evidence, close } = opened;
  try {
    const { state, position } = await foldJournal(journal);
    return {
      state,
      journal,
      evidence,
      lines: (after, only) => journal.read(after, only),
      replays: async () => stateText(await foldAnew(journal, position)) === stateText(state),
      notedHeads: async () =>
        (await notesAnother(root, db)) ? [] : (await import("./noted-heads.ts")).notedHeads(root),
      workspace: async () => {
        const { createWorktrees } = await import("../adapters/git/worktrees.ts");
        return createWorktrees({ root, state: stateFolder(root).path });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A checkout with a journal of its own has commits that know that one, not the fleet's; unless it was moved there. */
async function notesAnother(root: string, db: string | null): Promise<boolean> {
  if (db === null) return false;
  try {
    const local = await journalPlace(root, null).read();
    await local?.close();
    return local !== null;
  } catch (error) {
    return !(error instanceof RemandError && error.code === "journal-moved");
  }
}
