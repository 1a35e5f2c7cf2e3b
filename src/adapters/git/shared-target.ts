import type { Target } from "../../ports/integration.ts";
import type { TargetBranch } from "./integration.ts";
import { updateRefs } from "./refs.ts";
import { commitOf, type Repository } from "./repository.ts";
import type { Clone } from "./shared-clone.ts";
import { noBranch, trackingRef } from "./shared-follow.ts";
import { createTurns } from "./turns.ts";

/** The branch on the remote: asked there each time, and moved there, so that all machines see one and the same. */
export function remoteTarget({ remote, branch }: Clone): TargetBranch {
  const turns = createTurns();
  const ref = `refs/heads/${branch}`;
  const tracking = trackingRef(branch);
  return {
    // The name it has here is written by one at a time.
    read: ({ git }) =>
      turns.take("target", async (): Promise<Target> => {
        if (!(await remote.fetch([`+${ref}:${tracking}`]))) throw noBranch(remote.address, branch);
        return { branch, commit: (await commitOf(git, tracking))! };
      }),
    async move({ git }: Repository, was, to) {
      const pushed = await remote.push([{ ref, commit: to, over: was.commit }]);
      if (pushed.get(ref) !== "done") return false;
      // The name it has here only follows: whoever fetched meanwhile has moved it further.
      await turns.take("target", async () => {
        const now = await commitOf(git, tracking);
        if (now === was.commit) await updateRefs(git, [{ ref: tracking, to, was: now }]);
      });
      return true;
    },
  };
}
