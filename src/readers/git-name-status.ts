/** One path that differs between two trees. A rename or a copy has two. */
export interface ChangedPath {
  readonly status: "added" | "deleted" | "modified" | "renamed" | "copied" | "type-changed" | "other";
  readonly path: string;
  /** Where it came from. */
  readonly from?: string;
}

/** Reads `git diff --name-status -z`, in which names are plain bytes between nulls: nothing is quoted in it. */
export function readNameStatus(text: string): readonly ChangedPath[] {
  const fields = text.split("\0");
  const changed: ChangedPath[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const letter = fields[at]!.charAt(0);
    const status = STATUSES[letter] ?? "other";
    if (status === "renamed" || status === "copied") {
      const path = fields[at + 2];
      if (path === undefined) break;
      changed.push({ status, path, from: fields[at + 1]! });
      at += 3;
    } else {
      changed.push({ status, path: fields[at + 1]! });
      at += 2;
    }
  }
  return changed;
}

/** Every path that is touched, both ends of a rename included, in order and once. */
export function touchedPaths(changed: readonly ChangedPath[]): readonly string[] {
  const paths = changed.flatMap(({ status, path, from }) =>
    from === undefined || status === "copied" ? [path] : [from, path],
  );
  return [...new Set(paths)].sort();
}

const STATUSES: Readonly<Record<string, ChangedPath["status"]>> = {
  A: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  C: "copied",
  T: "type-changed",
};
