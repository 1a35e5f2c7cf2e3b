import { treeId, type TreeId } from "../../domain/ids.ts";
import type { Git } from "./git.ts";
import { line } from "./repository.ts";

/** The tree that an index holds, with some paths as they are in another tree; one that is not there is taken out. */
export async function treeWithOlder(
  git: Git,
  options: { readonly top: string; readonly index: string; readonly paths: readonly string[]; readonly from: string },
): Promise<TreeId> {
  const { top, index, paths, from } = options;
  const tree = line(await git.run(["rev-parse", "--verify", "--end-of-options", `${from}^{tree}`], { cwd: top }));
  const older = new Map<string, string>();
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const some = paths.slice(at, at + AT_ONCE);
    const listed = await git.run(["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", tree, "--", ...some], {
      cwd: top,
    });
    for (const entry of listed.split("\0")) {
      const [about = "", path = ""] = split(entry, "\t");
      const [mode, , object] = about.split(" ");
      if (path !== "") older.set(path, `${mode} ${object}\t${path}\0`);
    }
  }
  const none = "0".repeat(tree.length);
  const gone = paths.filter((path) => !older.has(path)).map((path) => `0 ${none}\t${path}\0`);
  const back = paths.flatMap((path) => older.get(path) ?? []);
  // What goes comes first: a file may be a folder in the other tree.
  await git.run(["update-index", "-z", "--index-info"], { cwd: top, index, stdin: [...gone, ...back].join("") });
  return treeId(line(await git.run(["write-tree"], { cwd: top, index })));
}

const AT_ONCE = 500;

function split(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
