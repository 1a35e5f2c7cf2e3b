import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import { Copy } from "./copy.tsx";

/**
 * How accepted work gets where it is wanted: its pull request, or the lines that merge it or open one. Remand merges
 * only what it was asked to deliver, and then its question has the button.
 */
export function Delivery({ story }: { readonly story: StoryPageDocument }) {
  const { delivered, branch, commit, card } = story;
  if (delivered !== null) return <Delivered where={delivered} />;
  if (card.status !== "accepted" || branch === null || commit === "") return null;
  return (
    <>
      <Copy text={`git merge --no-edit ${branch}`} label="Merge: git merge" />
      <Copy
        text={`git push -u origin ${branch} && gh pr create --head ${branch} --fill`}
        label="Open a pull request: gh pr create"
      />
    </>
  );
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
