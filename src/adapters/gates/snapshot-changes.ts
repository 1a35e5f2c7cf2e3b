import type { Finding } from "../../domain/finding.ts";
import type { FilePair } from "./file-changes.ts";
import type { RuleBook } from "./rule-book.ts";

/** Snapshots that were there and now say something else. One or two are looked at; by the dozen nobody reads them. */
export function snapshotChanges(files: readonly FilePair[], book: RuleBook): Finding[] {
  const changed = files.flatMap(({ path, before, after }) => {
    const was = snapshotsIn(path, before ?? "");
    const is = snapshotsIn(path, after ?? "");
    const different = [...was].filter(([name, text]) => is.get(name) !== text).length;
    return different === 0 ? [] : [{ path, different, total: was.size, isGone: after === null }];
  });
  const all = changed.reduce((sum, { different }) => sum + different, 0);
  return changed.flatMap(({ path, different, total, isGone }) => {
    const what = isGone
      ? `the file with ${total === 1 ? "its snapshot" : `its ${total} snapshots`} was deleted`
      : `${different} of ${total} snapshots ${different === 1 ? "says" : "say"} something else now`;
    return book.breach(all >= MANY ? "snapshot-rewritten" : "snapshot-changed", {
      file: path,
      message: what,
      suggestedFix: "Restore the snapshots that the work does not ask to change, and make the code give what they say.",
    });
  });
}

/** From here on it is an update of everything, and not a look at each. */
const MANY = 10;

export const isSnapshotFile = (path: string): boolean => /\.(?:snap|ambr)$|(?:^|\/)__snapshots__\//.test(path);

function snapshotsIn(path: string, text: string): Map<string, string> {
  const found = new Map<string, string>();
  if (isSnapshotFile(path)) {
    // Jest and Vitest write one `exports[...]` for each; node:test and syrupy name them otherwise, a whole file is one.
    for (const part of text.split(/^(?=exports\[|# name: )/m)) {
      const name = /^(?:exports\[(.{1,500}?)\] = |# name: (.{1,500})$)/m.exec(part);
      if (name !== null) found.set(name[1] ?? name[2]!, part.trim());
    }
    if (found.size === 0 && text.trim() !== "") found.set(path, text.trim());
    return found;
  }
  let at = 0;
  for (const match of text.matchAll(/\.to(?:ThrowErrorMatching|Match)InlineSnapshot\(\s{0,40}`((?:\\.|[^`\\])*)`/g))
    found.set(`inline ${at++}`, match[1]!.replace(/\s+/g, " ").trim());
  return found;
}
