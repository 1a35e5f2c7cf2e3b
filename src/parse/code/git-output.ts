/** A path that differs between two trees. A rename or a copy has two paths. */
export interface ChangedPath {
  readonly status: "added" | "deleted" | "modified" | "renamed" | "copied" | "type-changed" | "other";
  readonly path: string;
  /** The path before a rename or copy. */
  readonly from?: string;
}

/** Reads `git diff --name-status -z`, which separates unquoted names by null bytes. */
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

/** Returns every changed path once, sorted, including both ends of a rename. */
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

/** Reads the trailers of a commit's message: its last paragraph, if every line of it has the form `Key: value`. */
export function readTrailers(message: string): ReadonlyMap<string, string> {
  const paragraphs = message
    .replaceAll("\r\n", "\n")
    .trimEnd()
    .split(/\n[ \t]*\n/);
  const trailers = new Map<string, string>();
  // The first paragraph is the subject, whatever its form.
  if (paragraphs.length < 2) return trailers;
  for (const line of paragraphs.at(-1)!.split("\n")) {
    const match = /^([A-Za-z][A-Za-z0-9-]*):[ \t]*(.*)$/.exec(line);
    if (match === null) return new Map();
    trailers.set(match[1]!, match[2]!.trimEnd());
  }
  return trailers;
}

/** A worktree that is registered with git. */
export interface RegisteredWorktree {
  readonly path: string;
  /** The full name of the branch that is checked out there; `null` for none. */
  readonly branch: string | null;
}

/** Reads `git worktree list --porcelain`: blocks of lines, separated by blank lines. */
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

/** The changes of one file between two states. */
export interface FileDiff {
  readonly change: "added" | "deleted" | "modified" | "renamed" | "copied";
  /** Its name afterwards; of a deleted file, its last name. */
  readonly path: string;
  /** Its name before; different only after a rename or copy. */
  readonly oldPath: string;
  readonly isBinary: boolean;
  readonly hunks: readonly Hunk[];
}

/** A run of changed lines, with some unchanged lines around it. Lines count from 1. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** The enclosing code according to git, often the first line of a function. */
  readonly heading: string;
  readonly lines: readonly DiffLine[];
}

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Its line number: in the old file for `removed`, in the new file for the others. */
  readonly line: number;
}

/**
 * Reads git's unified format. The header of a hunk tells how many lines it has, so a line that looks like a header is
 * not mistaken for one. If the counts are wrong (the middle of the diff was cut out), it skips to the next file.
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

/** Reads `a/name` or `b/name`; git puts a tab after a name with a space. */
function sideName(side: string | undefined): string | null {
  if (side === undefined || side === "/dev/null") return null;
  return unquotedName(side.replace(/\t$/, "")).slice(2);
}

/** Splits `a/name b/name` in the middle: both names are equal, so spaces in them do not matter. */
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

/**
 * Decodes a name as git prints it: in quotes and with escapes if it contains quotes, backslashes or control characters.
 */
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
