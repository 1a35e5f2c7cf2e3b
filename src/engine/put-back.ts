import type { AttemptFinished } from "../domain/event.ts";
import { breachOf, type Scope } from "../domain/scope.ts";
import type { StoryState } from "../domain/story-state.ts";
import type { Kept, KeepNote } from "../ports/workspace.ts";
import type { EngineWorld } from "./world.ts";

type Ended = Pick<AttemptFinished, "exceptions" | "putBack">;

/**
 * Where the config wants it so, files beyond the scope for which no good reason was given go back to what they were
 * before the attempt, whole, and the gates judge what is left. What the agent did stays in the history. Which files
 * those are is handed to `note` before it is done: after a crash in between they would look as if never touched.
 */
export async function putBackOutside(
  { workspace }: EngineWorld,
  before: StoryState,
  kept: Kept,
  ended: Ended,
  how: {
    readonly scope: Scope | null;
    readonly note: KeepNote;
    /** The story's own file: what the engine wrote into it stays. */
    readonly except: string | null;
    remember(paths: readonly string[]): Promise<void>;
  },
): Promise<Kept & Pick<AttemptFinished, "putBack">> {
  const known = ended.putBack ?? [];
  const done = known.length === 0 ? {} : { putBack: known };
  const { policy, story, tree: from } = before;
  const { scope } = how;
  if (scope === null || from === null || policy?.scope.outside !== "revert") return { ...kept, ...done };
  const reasons = scope.exceptions === "with-rationale" ? (ended.exceptions ?? []) : [];
  // What an earlier attempt was refused for is put back by the agent: that must not be undone here.
  const restored = scope.restore ?? [];
  const excused = new Set([...reasons.map(({ path }) => path.replace(/^\.\//, "")), ...restored, how.except]);
  const changed = await workspace.changed(story.id, from, kept.tree);
  const outside = changed.filter(
    (path) => !excused.has(path) && breachOf(path, scope, policy.scope.testPaths) !== null,
  );
  if (outside.length === 0) return { ...kept, ...done };
  const putBack = [...new Set([...known, ...outside])].sort();
  await how.remember(putBack);
  return { ...(await workspace.putBack(story.id, outside, from, how.note)), putBack };
}
