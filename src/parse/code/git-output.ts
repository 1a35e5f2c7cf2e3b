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

/** The `Key: value` lines that end a commit's message: its last paragraph, and only if every line of it is one. */
export function readTrailers(message: string): ReadonlyMap<string, string> {
  const paragraphs = message
    .replaceAll("\r\n", "\n")
    .trimEnd()
    .split(/\n[ \t]*\n/);
  const trailers = new Map<string, string>();
  // The first paragraph is the subject, whatever it looks like.
  if (paragraphs.length < 2) return trailers;
  for (const line of paragraphs.at(-1)!.split("\n")) {
    const match = /^([A-Za-z][A-Za-z0-9-]*):[ \t]*(.*)$/.exec(line);
    if (match === null) return new Map();
    trailers.set(match[1]!, match[2]!.trimEnd());
  }
  return trailers;
}

/** A checkout of a repository, as git has it registered. */
export interface RegisteredWorktree {
  readonly path: string;
  /** The full name of the branch that is checked out there; `null` for none. */
  readonly branch: string | null;
}

/** Reads `git worktree list --porcelain`: a block of lines for each, a blank line after it. */
export function readWorktreeList(text: string): readonly RegisteredWorktree[] {
  const found: RegisteredWorktree[] = [];
  for (const block of text.split("\n\n")) {
    const lines = block.split("\n");
    const path = valueOf(lines, "worktree");
    if (path !== null) found.push({ path, branch: valueOf(lines, "branch") });
  }
  return found;
}

function valueOf(lines: readonly string[], key: string): string | null {
  const line = lines.find((each) => each.startsWith(`${key} `));
  return line === undefined ? null : line.slice(key.length + 1);
}
