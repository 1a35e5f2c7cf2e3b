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
