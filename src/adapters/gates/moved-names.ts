import { plainText } from "../../stdx/plain-text.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";

/**
 * What the work moved: product files that the base has and the work has not, and names that the base's versions of the
 * changed product files hold and the work's do not. `someIn` says whether a text speaks of one of them.
 */
export async function movedNames(
  { workspace }: { readonly workspace: Pick<Workspace, "fileAt"> },
  { story, base, tree }: GateRequest,
  product: readonly string[],
): Promise<{ someIn(text: string): boolean }> {
  const before = new Set<string>();
  const now = new Set<string>();
  const paths: string[] = [];
  for (const path of product) {
    const [was, is] = [await workspace.fileAt(story.id, base, path), await workspace.fileAt(story.id, tree, path)];
    if (was !== null) namesIn(was).forEach((name) => before.add(name));
    if (is !== null) namesIn(is).forEach((name) => now.add(name));
    if (was !== null && is === null) paths.push(path, path.replace(/\.\w+$/, ""));
  }
  const moved = new Set([...before].filter((name) => !now.has(name)));
  return {
    someIn(text) {
      const plain = plainText(text);
      return paths.some((path) => plain.includes(path)) || namesIn(plain).some((name) => moved.has(name));
    },
  };
}

const namesIn = (text: string): string[] => text.match(/[\p{L}_$][\p{L}\p{N}_$]+/gu) ?? [];
