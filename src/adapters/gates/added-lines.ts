/** A line that a change brought in. */
export interface AddedLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * The lines that git's unified diff adds. What is inside a hunk is counted by the hunk's head, so that a line of the
 * content that looks like a head is not taken for one.
 */
export function* addedLines(diff: string): Generator<AddedLine> {
  let file: string | null = null;
  let line = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (const text of linesOf(diff)) {
    if (oldLeft > 0 || newLeft > 0) {
      const mark = text[0];
      if (mark === "+") {
        if (file !== null) yield { file, line, text: text.slice(1) };
        line++;
        newLeft--;
      } else if (mark === "-") oldLeft--;
      else if (mark !== "\\") {
        line++;
        oldLeft--;
        newLeft--;
      }
      continue;
    }
    const head = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(text);
    if (head !== null) {
      oldLeft = Number(head[1] ?? 1);
      line = Number(head[2]);
      newLeft = Number(head[3] ?? 1);
    } else if (text.startsWith("+++ ")) file = newPath(text.slice(4));
    else if (text.startsWith("diff --git ")) file = null;
  }
}

/** One by one, because a large diff split at once would be held twice. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    yield text.slice(start, stop);
    start = stop + 1;
  }
}

/** `b/src/a.ts`, or quoted the way C does it where the name has unusual characters; `/dev/null` is no file. */
function newPath(written: string): string | null {
  const path = written.startsWith('"') ? unquoted(written) : written.replace(/\t$/, "");
  return path === "/dev/null" ? null : path.replace(/^b\//, "");
}

function unquoted(written: string): string {
  const bytes: number[] = [];
  const inner = written.replace(/^"|"\t?$/g, "");
  for (let at = 0; at < inner.length; at++) {
    const octal = inner[at] === "\\" ? /^[0-7]{3}/.exec(inner.slice(at + 1, at + 4))?.[0] : undefined;
    if (octal !== undefined) {
      bytes.push(Number.parseInt(octal, 8));
      at += 3;
    } else if (inner[at] === "\\") {
      const escaped = inner[++at] ?? "";
      bytes.push(...Buffer.from(ESCAPES[escaped] ?? escaped));
    } else {
      const char = String.fromCodePoint(inner.codePointAt(at)!);
      bytes.push(...Buffer.from(char));
      at += char.length - 1;
    }
  }
  return Buffer.from(bytes).toString("utf8");
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", a: "\u0007" };
