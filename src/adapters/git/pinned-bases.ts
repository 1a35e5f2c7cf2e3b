import type { StoryId } from "../../domain/ids.ts";
import type { Integration } from "../../ports/integration.ts";
import type { Workspace } from "../../ports/workspace.ts";

/**
 * What a story is compared with is kept under a name in the repository, which an agent could move to its own work, and
 * then be compared with itself. Between two moves of ours the name stays where it was, or is put back there.
 */
export function withPinnedBases(
  inner: Workspace & Integration,
  putBack: (story: StoryId, base: string) => Promise<void>,
): Workspace & Integration {
  const bases = new Map<StoryId, string>();
  return {
    ...inner,
    async prepare(story, after, signal) {
      const place = await inner.prepare(story, after, signal);
      const base = bases.get(story) ?? place.base;
      bases.set(story, base);
      if (base !== place.base) await putBack(story, base);
      return { ...place, base };
    },
    dispose(story) {
      bases.delete(story);
      return inner.dispose(story);
    },
    update(story, verified, note) {
      bases.delete(story);
      return inner.update(story, verified, note);
    },
  };
}
