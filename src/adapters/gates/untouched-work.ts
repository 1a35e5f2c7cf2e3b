import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";

export type Watched = Pick<Workspace, "look" | "changed" | "fileAt" | "forget">;

/**
 * Has reviewers look at the work, and sees to it that they only looked: what they judged must be what is there. New
 * files that their tools left are nobody's work; a file of the work that is other than before is put back, and what
 * they said is worth nothing. `null` where all is as it was.
 */
export async function whileUntouched<T>(
  workspace: Watched,
  { story, tree }: GateRequest,
  look: () => Promise<T>,
): Promise<{ readonly seen: T; readonly touched: readonly string[] }> {
  const before = await workspace.look(story.id);
  const seen = await look();
  const after = await workspace.look(story.id);
  if (after.tree === before.tree) return { seen, touched: [] };
  const touched: string[] = [];
  for (const path of await workspace.changed(story.id, before.tree, after.tree))
    if ((await workspace.fileAt(story.id, tree, path)) !== null) touched.push(path);
  if (touched.length > 0) await workspace.forget(story.id);
  return { seen, touched };
}

export const touchedWords = (touched: readonly string[]): string =>
  `a reviewer changed what it may only read (${touched.slice(0, 3).join(", ")}${touched.length > 3 ? ", …" : ""}), so its word does not count — give it an agent that cannot write`;
