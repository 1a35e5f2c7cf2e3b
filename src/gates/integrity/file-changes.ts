import { readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { unquotedName } from "../../parse/code/git-diff.ts";

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

/**
 * Reads git's unified form. What is inside a hunk is counted by the hunk's head, so that a line of the content that
 * looks like a head is not taken for one.
 */
export function readChanges(diff: string): Changes {
  const files: OpenFile[] = [];
  let file: OpenFile | null = null;
  let line = 0;
  let oldLeft = 0;
  let newLeft = 0;
  let isCut = false;
  for (const text of linesOf(diff)) {
    if (oldLeft > 0 || newLeft > 0) {
      // Some configurations of git print an empty line without its space.
      const mark = text[0] ?? " ";
      if (mark === "+") {
        file?.added.push({ file: file.path, line, text: text.slice(1) });
        line++;
        newLeft--;
        continue;
      }
      if (mark === "-") file?.removed.push(text.slice(1));
      else if (mark === " ") {
        line++;
        newLeft--;
      }
      if (mark === "-" || mark === " ") oldLeft--;
      if (mark === "-" || mark === " " || mark === "\\") continue;
      // No line of a hunk looks like this: the rest of it was cut out.
      oldLeft = newLeft = 0;
    }
    if (CUT.test(text)) isCut = true;
    else if (text.startsWith("diff --git ")) files.push((file = newFile(text)));
    else if (file !== null) {
      const head = HUNK.exec(text);
      if (head === null) readHead(file, text);
      else {
        oldLeft = Number(head[1] ?? 1);
        line = Number(head[2]);
        newLeft = Number(head[3] ?? 1);
      }
    }
  }
  return { files: files.filter(({ path }) => path !== ""), isCut };
}

type OpenFile = { -readonly [K in "path" | "status" | "isBinary"]: FileChange[K] } & {
  readonly added: AddedLine[];
  readonly removed: string[];
};

const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
const CUT = /^\[\d+ bytes were cut here\]$/;

/** `diff --git a/x b/x`: the only place that names a binary file. For a renamed one the marks below say it better. */
function newFile(head: string): OpenFile {
  const names = head.slice("diff --git ".length);
  const half = (names.length - 1) / 2;
  const right = unquotedName(names.slice(Math.floor(half) + 1));
  return { path: right.replace(/^b\//, ""), status: "modified", isBinary: false, added: [], removed: [] };
}

function readHead(file: OpenFile, text: string): void {
  if (text.startsWith("new file mode ")) file.status = "added";
  else if (text.startsWith("deleted file mode ")) file.status = "deleted";
  else if (text.startsWith("rename to ")) file.path = unquotedName(text.slice("rename to ".length));
  else if (text.startsWith("Binary files ")) file.isBinary = true;
  else if (text.startsWith("+++ ") || (text.startsWith("--- ") && !text.startsWith("--- /dev/null"))) {
    const side = unquotedName(text.slice(4).replace(/\t$/, ""));
    if (side !== "/dev/null") file.path = side.replace(/^[ab]\//, "");
  }
}

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

/** One by one, because a large diff split at once would be held twice. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    yield text.slice(start, stop);
    start = stop + 1;
  }
}

/** Where a folder stands in its checkout. */
export interface GitFolder {
  /** From the top of the checkout, with a slash at its end; empty at the top itself. Git names files from there. */
  readonly prefix: string;
  /** Where git keeps what all checkouts share. */
  readonly commonDir: string;
}

/** `null` outside of any checkout. */
export async function gitFolderOf(path: string): Promise<GitFolder | null> {
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
