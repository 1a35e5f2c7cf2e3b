/**
 * A line of a markdown text. Lines in code fences and HTML comments are marked as such, because a heading or a list
 * item there is only an example.
 */
export interface MarkdownLine {
  /** Counts from 1. */
  readonly number: number;
  readonly start: number;
  /** After the line's text, before its line end. */
  readonly end: number;
  readonly text: string;
  readonly kind: "text" | "heading" | "code" | "comment";
  /** Of a heading: 1 to 6. */
  readonly level: number;
  readonly title: string;
  /** What would close the code or comment that is open after this line; empty if none is. */
  readonly open: string;
}

export function* markdownLines(text: string, from = 0): Generator<MarkdownLine, void, undefined> {
  let open = "";
  let number = 0;
  for (let start = from; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const lineEnd = newline < 0 ? text.length : newline;
    const end = newline > start && text[newline - 1] === "\r" ? newline - 1 : lineEnd;
    const line = text.slice(start, end);
    const kind = open === "" ? kindOf(line) : open === "-->" ? "comment" : "code";
    if (kind === "comment") open = line.includes("-->") ? "" : "-->";
    else if (kind === "code") open = open === "" ? fenceOf(line) : closes(line, open) ? "" : open;
    const { level, title } = kind === "heading" ? headingOf(line) : NO_HEADING;
    yield { number: ++number, start, end, text: line, kind, level, title, open };
    start = lineEnd + 1;
  }
}

const NO_HEADING = { level: 0, title: "" };

/** Returns the kind of a line. Most lines are plain text, which their first character shows. */
function kindOf(line: string): MarkdownLine["kind"] {
  let at = 0;
  while (line[at] === " " || line[at] === "\t") at++;
  switch (line[at]) {
    case "#":
      return at <= 3 && HEADING.test(line) ? "heading" : "text";
    case "`":
    case "~":
      return fenceOf(line) === "" ? "text" : "code";
    case "<":
      return line.startsWith("<!--", at) ? "comment" : "text";
    default:
      return "text";
  }
}

const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/;

/** Returns the fence that a line opens. Any indent counts, because fences are also in list items. */
function fenceOf(line: string): string {
  const fence = /^[ \t]*(`{3,}|~{3,})([^\n]*)$/.exec(line);
  if (fence === null) return "";
  // A backtick after a backtick fence makes it inline code.
  return fence[1]!.startsWith("`") && fence[2]!.includes("`") ? "" : fence[1]!;
}

function closes(line: string, fence: string): boolean {
  const inner = line.trim();
  return inner.length >= fence.length && inner === fence[0]!.repeat(inner.length);
}

function headingOf(line: string): { readonly level: number; readonly title: string } {
  const marks = HEADING.exec(line)!;
  const rest = line.slice(marks[0].length).trim();
  return { level: marks[1]!.length, title: rest.endsWith("#") ? withoutClosingMarks(rest) : rest };
}

function withoutClosingMarks(rest: string): string {
  let end = rest.length;
  while (end > 0 && rest[end - 1] === "#") end--;
  return end === 0 || rest[end - 1] === " " ? rest.slice(0, end).trimEnd() : rest;
}

/**
 * Finds the line and column, both counted from 1, of offsets in one text. Built in one pass; a lookup takes logarithmic
 * time.
 */
export interface LineIndex {
  at(offset: number): { readonly line: number; readonly column: number };
  /** The text of a line, without its end. */
  text(line: number): string;
}

export function lineIndex(text: string): LineIndex {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return {
    at(offset) {
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (starts[middle]! <= offset) low = middle;
        else high = middle - 1;
      }
      return { line: low + 1, column: offset - starts[low]! + 1 };
    },
    text(line) {
      const start = starts[line - 1] ?? text.length;
      const next = starts[line];
      const end = next === undefined ? text.length : next - 1;
      return text.slice(start, text[end - 1] === "\r" && next !== undefined ? end - 1 : end);
    },
  };
}

/**
 * The position of a markdown file's front matter. Readers and editors must agree to the byte, so both use this.
 *
 * It opens with a line `---` at the very beginning (after a byte order mark, if there is one) and closes with the next
 * such line.
 */
export type FrontMatter =
  | { readonly kind: "none"; readonly bodyStart: number }
  | { readonly kind: "unterminated"; readonly bodyStart: number }
  | { readonly kind: "closed"; readonly yamlStart: number; readonly yamlEnd: number; readonly bodyStart: number };

export function findFrontMatter(text: string): FrontMatter {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  if (!isFence(text, start)) return { kind: "none", bodyStart: start };
  const yamlStart = nextLine(text, start);
  for (let at = yamlStart; at < text.length; at = nextLine(text, at)) {
    if (isFence(text, at)) return { kind: "closed", yamlStart, yamlEnd: at, bodyStart: nextLine(text, at) };
  }
  return { kind: "unterminated", bodyStart: start };
}

/** Returns the line end of a file, which its first line decides. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const at = text.indexOf("\n");
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}

/** Returns the start of the line after the one at `at`; the end of the text if there is none. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function isFence(text: string, at: number): boolean {
  if (!text.startsWith("---", at)) return false;
  let end = at + 3;
  while (text[end] === " " || text[end] === "\t") end++;
  return end >= text.length || text[end] === "\n" || text.startsWith("\r\n", end);
}
