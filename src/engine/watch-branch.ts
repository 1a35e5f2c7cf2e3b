import { identified } from "../domain/finding.ts";
import type { Judgement } from "../domain/gate.ts";
import type { StoryState } from "../domain/story-state.ts";
import type { EngineWorld } from "./world.ts";

/**
 * A check runs the work's own code, which can move the story's branch to a commit that nobody judged. Whatever moved it
 * while a gate ran is put back, and shown as a finding; a commit that was there before is a person's, and stays.
 */
export async function watchBranch(
  { integration, workspace }: Pick<EngineWorld, "integration" | "workspace">,
  state: StoryState,
): Promise<{ putBack(judgement: Judgement): Promise<Judgement> }> {
  const { id } = state.story;
  const before = integration === null ? null : await integration.tip(id);
  return {
    async putBack(judgement) {
      if (integration === null || before !== state.commit || state.tree === null) return judgement;
      const after = await integration.tip(id);
      if (after === before) return judgement;
      // The files are what that commit left, too.
      await workspace.forget(id);
      await integration.align(id, { commit: state.commit, tree: state.tree }, after);
      const finding = identified({
        severity: "major",
        category: "branch-moved",
        message: `the branch of the story was moved to ${after?.slice(0, 12) ?? "nothing"} while the ${judgement.gate} gate ran; it is back at the commit that was judged, ${before.slice(0, 12)}`,
        source: "engine",
        suggestedFix: "Tests and checks must not commit to, or move, branches of the repository they run in.",
      });
      return { ...judgement, findings: [...judgement.findings, finding] };
    },
  };
}
