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
  let fence = "";
  let inComment = false;
  let number = 0;
  for (let start = from; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const next = newline < 0 ? text.length : newline + 1;
    const end = newline > start && text[newline - 1] === "\r" ? newline - 1 : newline < 0 ? text.length : newline;
    const line = { number: ++number, start, end, text: text.slice(start, end), level: 0, title: "", open: "" };
    start = next;
    if (fence !== "") {
      if (closes(line.text, fence)) fence = "";
      yield { ...line, kind: "code", open: fence };
    } else if (inComment || line.text.trimStart().startsWith("<!--")) {
      inComment = !line.text.includes("-->");
      yield { ...line, kind: "comment", open: inComment ? "-->" : "" };
    } else if ((fence = opened(line.text)) !== "") yield { ...line, kind: "code", open: fence };
    else yield heading(line);
  }
}

/** The fence a line opens. Any depth counts, because fences stand inside list items too. */
function opened(line: string): string {
  const fence = /^[ \t]*(`{3,}|~{3,})([^\n]*)$/.exec(line);
  if (fence === null) return "";
  // A backtick behind a backtick fence makes it a piece of inline code.
  return fence[1]!.startsWith("`") && fence[2]!.includes("`") ? "" : fence[1]!;
}

function closes(line: string, fence: string): boolean {
  const inner = line.trim();
  return inner.length >= fence.length && inner === fence[0]!.repeat(inner.length);
}

function heading(line: Omit<MarkdownLine, "kind">): MarkdownLine {
  const found = /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(line.text);
  if (found === null) return { ...line, kind: "text" };
  const rest = line.text.slice(found[0].length).trim();
  const title = rest.endsWith("#") ? withoutClosingMarks(rest) : rest;
  return { ...line, kind: "heading", level: found[1]!.length, title };
}

function withoutClosingMarks(rest: string): string {
  let end = rest.length;
  while (end > 0 && rest[end - 1] === "#") end--;
  return end === 0 || rest[end - 1] === " " ? rest.slice(0, end).trimEnd() : rest;
}
