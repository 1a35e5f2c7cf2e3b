/**
 * Parses the subset of Markdown that stories, briefs and agents use, as a tree. Produces no HTML: the renderer creates
 * elements from the tree, so text can never become markup. Links only lead to the web, and images are never loaded.
 */
export type MarkdownBlock =
  | { readonly type: "heading"; readonly level: number; readonly inline: readonly Inline[] }
  | { readonly type: "paragraph"; readonly inline: readonly Inline[] }
  | { readonly type: "quote"; readonly inline: readonly Inline[] }
  | { readonly type: "code"; readonly info: string; readonly text: string }
  | { readonly type: "list"; readonly ordered: boolean; readonly items: readonly ListItem[] }
  | { readonly type: "rule" };

export interface ListItem {
  readonly depth: number;
  /** The state of a checkbox; `null` where there is none. */
  readonly ticked: boolean | null;
  readonly inline: readonly Inline[];
}

export type Inline =
  | { readonly type: "text" | "code" | "strong" | "em"; readonly text: string }
  | { readonly type: "link"; readonly text: string; readonly href: string };

export function markdown(source: string): readonly MarkdownBlock[] {
  const lines = source.replaceAll("\r\n", "\n").split("\n");
  const blocks: MarkdownBlock[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at);
    if (block !== null) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines: readonly string[], at: number): readonly [block: MarkdownBlock | null, next: number] {
  const line = lines[at]!;
  if (line.trim() === "") return [null, at + 1];
  const fence = FENCE.exec(line);
  if (fence !== null) return codeAt(lines, at, fence[1]!, fence[2]!.trim());
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line);
  if (heading !== null) return [{ type: "heading", level: heading[1]!.length, inline: inlineOf(heading[2]!) }, at + 1];
  if (/^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line)) return [{ type: "rule" }, at + 1];
  if (ITEM.test(line)) return listAt(lines, at);
  const isQuote = /^ {0,3}>/.test(line);
  const end = paragraphEnd(lines, at, isQuote);
  const text = lines
    .slice(at, end)
    .map((each) => (isQuote ? each.replace(/^ {0,3}> ?/, "") : each.trim()))
    .join("\n");
  return [{ type: isQuote ? "quote" : "paragraph", inline: inlineOf(text) }, end];
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const ITEM = /^( {0,12})(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;

function codeAt(lines: readonly string[], at: number, fence: string, info: string): readonly [MarkdownBlock, number] {
  const isEnd = (line: string): boolean => {
    const [, found, rest] = FENCE.exec(line) ?? [];
    return found !== undefined && found[0] === fence[0] && found.length >= fence.length && rest?.trim() === "";
  };
  const end = lines.findIndex((line, index) => index > at && isEnd(line));
  const last = end === -1 ? lines.length : end;
  return [{ type: "code", info, text: lines.slice(at + 1, last).join("\n") }, last + 1];
}

function listAt(lines: readonly string[], at: number): readonly [MarkdownBlock, number] {
  const items: ListItem[] = [];
  const ordered = ITEM.exec(lines[at]!)?.[3] !== undefined;
  let next = at;
  for (; next < lines.length; next++) {
    const found = ITEM.exec(lines[next]!);
    if (found === null) break;
    const box = /^\[([ xX])\]\s+(.*)$/.exec(found[4]!);
    items.push({
      depth: Math.min(4, found[1]!.length >> 1),
      ticked: box === null ? null : box[1] !== " ",
      inline: inlineOf(box === null ? found[4]! : box[2]!),
    });
  }
  return [{ type: "list", ordered, items }, next];
}

function paragraphEnd(lines: readonly string[], at: number, isQuote: boolean): number {
  for (let end = at + 1; end < lines.length; end++) {
    const line = lines[end]!;
    const startsOther = FENCE.test(line) || ITEM.test(line) || /^ {0,3}#{1,6}\s/.test(line);
    if (line.trim() === "" || startsOther || /^ {0,3}>/.test(line) !== isQuote) return end;
  }
  return lines.length;
}

/** Parses the marks within a line; everything else stays text. */
function inlineOf(text: string): readonly Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    if (match.index > at) parts.push({ type: "text", text: text.slice(at, match.index) });
    parts.push(inlineFrom(match));
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push({ type: "text", text: text.slice(at) });
  return parts;
}

const MARK =
  /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|(?<![\w*])\*([^*\s][^*\n]{0,500})\*(?![\w*])|\[([^\]\n]{1,300})\]\((https?:\/\/[^\s()<>"]{1,1000})\)/g;

function inlineFrom([whole, code, strong, em, text, href]: RegExpMatchArray): Inline {
  if (code !== undefined) return { type: "code", text: code };
  if (strong !== undefined) return { type: "strong", text: strong };
  if (em !== undefined) return { type: "em", text: em };
  return href === undefined ? { type: "text", text: whole } : { type: "link", text: text ?? href, href };
}
