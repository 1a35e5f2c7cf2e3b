/**
 * Where the front matter of a markdown file stands. Readers and editors must agree to the byte, so both use this.
 *
 * It opens with a line `---` at the very beginning (behind a byte order mark, if there is one) and closes with
 * the next such line.
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

/** The line end that a file uses, judged by its first one. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const at = text.indexOf("\n");
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}

/** The start of the line after the one that holds `at`; the end of the text where there is none. */
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
