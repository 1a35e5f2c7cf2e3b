import { existsSync } from "node:fs";
import type { Look } from "../cli/host.ts";
import { foldAnew, foldJournal, stateText } from "../engine/fold-journal.ts";
import { openJournalReadOnly } from "../adapters/journal/sqlite-journal.ts";
import { createEvidenceStore } from "../adapters/evidence/evidence-store.ts";
import { stateFolder } from "./state-folder.ts";

/** What there is now. Git is loaded when somebody asks for code: most who look want to know how the stories stand. */
export async function look(root: string): Promise<Look | null> {
  const folder = stateFolder(root);
  if (!existsSync(folder.journal)) return null;
  const journal = await openJournalReadOnly(folder.journal);
  const { state, position } = await foldJournal(journal);
  return {
    state,
    journal,
    evidence: createEvidenceStore(folder.evidence),
    lines: (after) => journal.read(after),
    replays: async () => stateText(await foldAnew(journal, position)) === stateText(state),
    notedHeads: async () => (await import("./noted-heads.ts")).notedHeads(root),
    workspace: async () => {
      const { createWorktrees } = await import("../adapters/git/worktrees.ts");
      return createWorktrees({ root, state: folder.path });
    },
    close: () => journal.close(),
  };
}
