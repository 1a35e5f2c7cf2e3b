import { readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { readGitDiff } from "../../parse/code/git-output.ts";

/** A file in two trees; `null` where it does not exist. */
export interface FilePair {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** An added line. */
export interface AddedLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The changes of one file in a diff. Unchanged lines are dropped, because a diff may be long. */
export interface FileChange {
  readonly path: string;
  readonly status: "added" | "deleted" | "modified";
  readonly isBinary: boolean;
  readonly added: readonly AddedLine[];
  readonly removed: readonly string[];
}

/** A diff by file; `isCut` if its middle was cut for length. */
export interface Changes {
  readonly files: readonly FileChange[];
  readonly isCut: boolean;
}

/** Parses a diff in git's unified form, without unchanged lines. */
export function readChanges(diff: string): Changes {
  const files = readGitDiff(diff).map(({ path, change, isBinary, hunks }): FileChange => {
    const lines = hunks.flatMap((hunk) => hunk.lines);
    return {
      path,
      status: change === "added" || change === "deleted" ? change : "modified",
      isBinary,
      added: lines.flatMap(({ kind, line, text }) => (kind === "added" ? [{ file: path, line, text }] : [])),
      removed: lines.flatMap(({ kind, text }) => (kind === "removed" ? [text] : [])),
    };
  });
  return { files, isCut: CUT.test(diff) };
}

/** No line of content: those begin with a mark of the diff. */
const CUT = /^\[\d+ bytes were cut here\]$/m;

/**
 * Adds the lines of a file that git shows as binary, because of one byte or an attributes file. Code files are read
 * anyway: the added and removed lines.
 */
export function withLines(change: FileChange, { before, after }: FilePair): FileChange {
  const was = (before ?? "").split("\n");
  const is = (after ?? "").split("\n");
  const [old, fresh] = [new Set(was), new Set(is)];
  return {
    ...change,
    added: is.flatMap((text, at) => (old.has(text) ? [] : [{ file: change.path, line: at + 1, text }])),
    removed: was.filter((text) => !fresh.has(text)),
  };
}

export const isTextByName = (path: string): boolean =>
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|go|rs|rb|java|kts?|cs|php|exs?|sh|snap|ambr|json[c5]?|ya?ml|toml|ini|cfg)$|(?:^|\/)(?:Makefile|makefile|GNUmakefile|justfile|Jenkinsfile|\.npmrc)$/.test(
    path,
  );

/** The position of a folder in its checkout. */
export interface GitPaths {
  /** The path from the checkout's top, with a slash at its end; empty at the top. Git's file names start at the top. */
  readonly prefix: string;
  /** Git's folder that all checkouts share. */
  readonly commonDir: string;
}

/** Returns the position of a folder; `null` outside of a checkout. */
export async function gitFolderOf(path: string): Promise<GitPaths | null> {
  for (let top = resolve(path); ; top = dirname(top)) {
    const entry = join(top, ".git");
    const found = await stat(entry).catch(() => null);
    if (found !== null) {
      const way = relative(top, resolve(path));
      return {
        prefix: way === "" ? "" : `${way}/`,
        commonDir: found.isDirectory() ? entry : await commonDirOf(top, entry),
      };
    }
    if (dirname(top) === top) return null;
  }
}

/**
 * Returns the shared git folder of a worktree, whose `.git` is a file that names the worktree's own folder; that folder
 * names the shared one.
 */
async function commonDirOf(top: string, entry: string): Promise<string> {
  const own = resolve(top, (await readFile(entry, "utf8")).replace(/^gitdir:\s*/, "").trim());
  const common = await readFile(join(own, "commondir"), "utf8").catch(() => ".");
  return resolve(own, common.trim());
}
