import type { ContestedTest } from "../../domain/contested-test.ts";
import type { Judgement } from "../../domain/gate.ts";
import type { ShownContested } from "../../domain/prompt.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";

/** The contested tests of gates that ran on this very tree, each once. */
export function contestedIn(judgements: readonly (Judgement | null | undefined)[]): readonly ContestedTest[] {
  const all = judgements.flatMap((judgement) => judgement?.contested ?? []);
  return [...new Map(all.map((each) => [each.test, each])).values()];
}

/** With how each one's file changed: out of the work's whole diff, or since the version that was passed earlier. */
export async function shownContested(
  contested: readonly ContestedTest[],
  diff: string,
  workspace: Pick<Workspace, "diff">,
  { story, tree, seenTree }: Pick<GateRequest, "story" | "tree" | "seenTree">,
): Promise<readonly ShownContested[]> {
  if (contested.length === 0) return [];
  const isSince = seenTree !== undefined && contested.some(({ isOfStory }) => isOfStory);
  const since = partsOf(isSince ? await workspace.diff(story.id, seenTree, tree) : "");
  const whole = partsOf(diff);
  return contested.map((each) => {
    const { file, isOfStory } = each;
    const own = (isOfStory === true ? since : whole).find(
      ({ head }) => file !== undefined && (head.startsWith(`diff --git a/${file} b/`) || head.endsWith(` b/${file}`)),
    );
    return own === undefined ? each : { ...each, diff: own.part };
  });
}

/** A diff by files. */
const partsOf = (diff: string): readonly { readonly part: string; readonly head: string }[] =>
  diff.split(/^(?=diff --git )/m).map((part) => ({ part, head: part.slice(0, part.indexOf("\n")) }));
