import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import { Copy } from "./copy.tsx";

/** Where accepted work is; if Remand does not deliver it (as in a loop), the command that merges it. */
export function Delivery({ story }: { readonly story: StoryPageDocument }) {
  const { delivered, branch, commit, card, canDeliver } = story;
  if (delivered !== null) return <Delivered where={delivered} />;
  if (canDeliver || card.status !== "accepted" || branch === null || commit === "") return null;
  return <Copy text={`git merge --no-edit ${branch}`} label="Merge: git merge" />;
}

function Delivered({ where }: { readonly where: string }) {
  if (/^https?:/.test(where))
    return (
      <a class="button" href={where} rel="noreferrer noopener" target="_blank">
        Open the pull request
      </a>
    );
  const [, command] = /; (gh pr create .+)$/s.exec(where) ?? [];
  if (command !== undefined) return <Copy text={command} label="Open a pull request: gh pr create" />;
  return <span class="muted">Delivered: {where}</span>;
}
