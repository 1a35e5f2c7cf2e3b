import { readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { readGitDiff } from "../../parse/code/git-output.ts";

/** A file in two states; `null` where it is not there. */
export interface FilePair {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A line that a change brought in. */
export interface AddedLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** What a diff says of one file. Lines that stayed are not kept: a diff may be long. */
export interface FileChange {
  readonly path: string;
  readonly status: "added" | "deleted" | "modified";
  readonly isBinary: boolean;
  readonly added: readonly AddedLine[];
  readonly removed: readonly string[];
}

/** What a diff says, file by file; `isCut` where its middle was too long to be held. */
export interface Changes {
  readonly files: readonly FileChange[];
  readonly isCut: boolean;
}

/** What a diff in git's unified form says of each file, without the lines that stayed. */
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

/** Lines of content begin with a mark, so this one is no content. */
const CUT = /^\[\d+ bytes were cut here\]$/m;

/**
 * Git takes a file for binary because of one byte in it, or because a file of attributes says so, and shows nothing of
 * it. What is code by its name is read all the same: what came in, and what went.
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

/** Where a folder stands in its checkout. */
export interface GitPaths {
  /** From the top of the checkout, with a slash at its end; empty at the top itself. Git names files from there. */
  readonly prefix: string;
  /** Where git keeps what all checkouts share. */
  readonly commonDir: string;
}

/** `null` outside of any checkout. */
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

/** A worktree has a file there, which says where git keeps what is its own; that says where the rest is. */
async function commonDirOf(top: string, entry: string): Promise<string> {
  const own = resolve(top, (await readFile(entry, "utf8")).replace(/^gitdir:\s*/, "").trim());
  const common = await readFile(join(own, "commondir"), "utf8").catch(() => ".");
  return resolve(own, common.trim());
}
