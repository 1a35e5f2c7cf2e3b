import type { ContestedTest } from "../../domain/contested-test.ts";
import type { Judgement } from "../../domain/gate.ts";
import type { ShownContested } from "../../domain/prompt.ts";

/** The contested tests of gates that ran on this very tree, each once. */
export function contestedIn(judgements: readonly (Judgement | null | undefined)[]): readonly ContestedTest[] {
  const all = judgements.flatMap((judgement) => judgement?.contested ?? []);
  return [...new Map(all.map((each) => [each.test, each])).values()];
}

/** With how each one's file changed, out of the work's whole diff. */
export function shownContested(contested: readonly ContestedTest[], diff: string): readonly ShownContested[] {
  if (contested.length === 0) return [];
  const parts = diff.split(/^(?=diff --git )/m).map((part) => ({ part, head: part.slice(0, part.indexOf("\n")) }));
  return contested.map((each) => {
    const { file } = each;
    const own = parts.find(
      ({ head }) => file !== undefined && (head.startsWith(`diff --git a/${file} b/`) || head.endsWith(` b/${file}`)),
    );
    return own === undefined ? each : { ...each, diff: own.part };
  });
}
