/**
 * The lines of a markdown text that are markdown: what stands in code fences and in HTML comments is marked as
 * such, since a heading or a list item in there is only an example of one.
 */
export interface MarkdownLine {
  /** Counts from 1. */
  readonly number: number;
  readonly start: number;
  /** Behind the line's text, in front of its end. */
  readonly end: number;
  readonly text: string;
  readonly kind: "text" | "heading" | "code" | "comment";
  /** Of a heading: 1 to 6. */
  readonly level: number;
  readonly title: string;
  /** What would close the code or the comment that is open behind this line; empty where none is. */
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

/** Most lines are plain text, and their first character says so. */
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

/** The fence a line opens. Any depth counts, because fences stand inside list items too. */
function fenceOf(line: string): string {
  const fence = /^[ \t]*(`{3,}|~{3,})([^\n]*)$/.exec(line);
  if (fence === null) return "";
  // A backtick behind a backtick fence makes it a piece of inline code.
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
