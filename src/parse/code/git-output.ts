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

/** What happened to one file between two states. */
export interface FileDiff {
  readonly change: "added" | "deleted" | "modified" | "renamed" | "copied";
  /** Its name afterwards; for a deleted file, the one it had. */
  readonly path: string;
  /** Its name before; the same unless it was renamed or copied. */
  readonly oldPath: string;
  readonly isBinary: boolean;
  readonly hunks: readonly Hunk[];
}

/** A run of lines that changed, with some around it that did not. Lines count from 1. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** What git thinks encloses it: a function's first line, often. */
  readonly heading: string;
  readonly lines: readonly DiffLine[];
}

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Its number in the file it is a line of: the old one for `removed`, the new one for the others. */
  readonly line: number;
}

/**
 * Reads git's unified form. Lines of a hunk are counted as its header says, so that a line that itself looks like a
 * header is only a line; where the counts do not come out (a diff with its middle cut out), the next file is looked for.
 */
export function readGitDiff(text: string): readonly FileDiff[] {
  const lines = text.split("\n");
  const files: FileDiff[] = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at]!.startsWith(FILE)) {
      at++;
      continue;
    }
    const { names, isBinary, next } = readHead(lines, at);
    const { hunks, end } = readHunks(lines, next);
    if (names !== null) files.push({ ...names, isBinary, hunks });
    at = end;
  }
  return files;
}

const FILE = "diff --git ";

type DiffNames = Pick<FileDiff, "change" | "path" | "oldPath">;

function readHead(
  lines: readonly string[],
  start: number,
): { names: DiffNames | null; isBinary: boolean; next: number } {
  const marks = new Map<string, string>();
  let at = start + 1;
  for (; at < lines.length; at++) {
    const line = lines[at]!;
    if (line.startsWith("@@ ") || line.startsWith(FILE)) break;
    const mark = MARKS.find((each) => line.startsWith(each));
    if (mark !== undefined && !marks.has(mark)) marks.set(mark, line.slice(mark.length));
  }
  const isBinary = marks.has("Binary files ") || marks.has("GIT binary patch");
  return { names: namesOf(lines[start]!.slice(FILE.length), marks), isBinary, next: at };
}

const MARKS = [
  "new file mode ",
  "deleted file mode ",
  "rename from ",
  "rename to ",
  "copy from ",
  "copy to ",
  "Binary files ",
  "GIT binary patch",
  "--- ",
  "+++ ",
];

function namesOf(header: string, marks: ReadonlyMap<string, string>): DiffNames | null {
  for (const [change, from, to] of [
    ["renamed", "rename from ", "rename to "],
    ["copied", "copy from ", "copy to "],
  ] as const) {
    const oldPath = marks.get(from);
    const path = marks.get(to);
    if (oldPath !== undefined && path !== undefined) {
      return { change, path: unquotedName(path), oldPath: unquotedName(oldPath) };
    }
  }
  const change = marks.has("new file mode ") ? "added" : marks.has("deleted file mode ") ? "deleted" : "modified";
  const path = sideName(marks.get("+++ ")) ?? sideName(marks.get("--- ")) ?? sameName(header);
  return path === null ? null : { change, path, oldPath: path };
}

/** `a/name` or `b/name`; git puts a tab after a name that holds a space. */
function sideName(side: string | undefined): string | null {
  if (side === undefined || side === "/dev/null") return null;
  return unquotedName(side.replace(/\t$/, "")).slice(2);
}

/** In `a/name b/name` both names are one, so the middle is where they part, however many spaces there are. */
function sameName(header: string): string | null {
  const half = (header.length - 1) / 2;
  const [left, right] = [header.slice(0, half), header.slice(half + 1)].map(unquotedName) as [string, string];
  return Number.isInteger(half) && left.slice(2) === right.slice(2) && left !== "" ? left.slice(2) : null;
}

function readHunks(lines: readonly string[], start: number): { hunks: readonly Hunk[]; end: number } {
  const hunks: Hunk[] = [];
  let at = start;
  while (at < lines.length && !lines[at]!.startsWith(FILE)) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(lines[at]!);
    at++;
    if (head === null) continue;
    const [oldStart, oldCount, newStart, newCount] = [head[1], head[2] ?? "1", head[3], head[4] ?? "1"].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    const body: DiffLine[] = [];
    let old = 0;
    let now = 0;
    for (; at < lines.length && (old < oldCount || now < newCount); at++) {
      const line = lines[at]!;
      const text = line.slice(1);
      if (line.startsWith("\\")) continue;
      if (line.startsWith("+")) body.push({ kind: "added", text, line: newStart + now++ });
      else if (line.startsWith("-")) body.push({ kind: "removed", text, line: oldStart + old++ });
      else if (line.startsWith(" ") || line === "") {
        body.push({ kind: "same", text, line: newStart + now++ });
        old++;
      } else break;
    }
    hunks.push({ oldStart, newStart, heading: head[5] ?? "", lines: body });
  }
  return { hunks, end: at };
}

/** A name as git prints it: with quotes around it and escapes in it where it holds quotes, backslashes or control characters. */
function unquotedName(name: string): string {
  if (name.length < 2 || !name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const inside = name.slice(1, -1);
  for (const [part] of inside.matchAll(/\\[0-7]{3}|\\[^]|[^\\]+|\\/g)) {
    if (/^\\[0-7]{3}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8) & 0xff);
    else if (part.length === 2 && part.startsWith("\\"))
      bytes.push(...encoder.encode(ESCAPES[part.charAt(1)] ?? part.charAt(1)));
    else bytes.push(...encoder.encode(part));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" };
