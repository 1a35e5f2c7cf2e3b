import type { Look } from "../cli/host.ts";
import { foldJournal } from "../engine/fold-journal.ts";
import { journalPlace } from "./journal-place.ts";
import { stateFolder } from "./state-folder.ts";

/** What there is now. Git is loaded when somebody asks for code: most who look want to know how the stories stand. */
export async function look(root: string, db: string | null): Promise<Look | null> {
  const opened = await journalPlace(root, db).read();
  if (opened === null) return null;
  const { journal, evidence, close } = opened;
  try {
    const { state } = await foldJournal(journal);
    return {
      state,
      journal,
      evidence,
      lines: (after, only) => journal.read(after, only),
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
