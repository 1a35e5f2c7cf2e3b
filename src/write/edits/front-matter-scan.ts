import { RemandError } from "../../core/events/error.ts";
import { nextLine } from "../../stdx/front-matter.ts";

/**
 * Finds the keys of a front matter and the exact stretch of each one's value, without reading the values: an edit must
 * not touch any other byte, so nothing is ever reprinted. What it does not understand for sure it refuses.
 */
export interface FrontMatterEntry {
  readonly key: string;
  readonly start: number;
  /** Behind the colon. */
  readonly colonEnd: number;
  /** Behind the last character of the value; `colonEnd` where there is none. */
  readonly valueEnd: number;
  /** Where the value starts on the key's own line; `null` where it stands below, or is missing. */
  readonly inlineStart: number | null;
  /** How far the items of a list below the key are indented; `null` for anything else. */
  readonly itemIndent: number | null;
}

export interface ScannedFrontMatter {
  readonly entries: readonly FrontMatterEntry[];
  /** How far the keys are indented. */
  readonly indent: number;
}

export function scanFrontMatter(text: string, from: number, to: number): ScannedFrontMatter {
  const entries: FrontMatterEntry[] = [];
  let indent: number | null = null;
  for (let at = from; at < to;) {
    const line = lineAt(text, at);
    if (isNothing(line.content)) {
      at = line.next;
      continue;
    }
    indent ??= line.indent;
    if (line.indent !== indent || line.content.startsWith("\t")) refuse();
    const entry = scanEntry(text, at, indent, to);
    if (entry.valueEnd > to || !isNothing(text.slice(entry.valueEnd, lineEnd(text, entry.valueEnd)).trim())) refuse();
    entries.push(entry);
    at = nextLine(text, entry.valueEnd);
  }
  return { entries, indent: indent ?? 0 };
}

/** Where the text of the line that holds `at` ends. */
export function lineEnd(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  if (newline < 0) return text.length;
  return newline > at && text[newline - 1] === "\r" ? newline - 1 : newline;
}

function scanEntry(text: string, start: number, indent: number, to: number): FrontMatterEntry {
  const { key, colonEnd } = scanKey(text, start + indent);
  const end = lineEnd(text, colonEnd);
  let at = skipBlanks(text, colonEnd);
  // An anchor or a tag goes with the value; a comment in its place means that the value stands below.
  while (at < end && (text[at] === "&" || text[at] === "!")) {
    while (at < end && !isBlank(text[at])) at++;
    at = skipBlanks(text, at);
  }
  if (at >= end || text[at] === "#") {
    const block = scanBlock(text, end, indent, to, true);
    const hasProperty = at > skipBlanks(text, colonEnd);
    const inlineStart = hasProperty ? skipBlanks(text, colonEnd) : null;
    return {
      key,
      start,
      colonEnd,
      valueEnd: block.end ?? (hasProperty ? trimmedEnd(text, colonEnd, at) : colonEnd),
      inlineStart,
      itemIndent: block.itemIndent,
    };
  }
  const valueEnd = scanInline(text, at, indent, to);
  return { key, start, colonEnd, valueEnd, inlineStart: skipBlanks(text, colonEnd), itemIndent: null };
}

function scanKey(text: string, at: number): { key: string; colonEnd: number } {
  const end = lineEnd(text, at);
  const quote = text[at];
  if (quote === '"' || quote === "'") {
    const close = scanQuoted(text, at, end);
    const colon = skipBlanks(text, close);
    if (text[colon] !== ":" || !isBlank(text[colon + 1] ?? "\n")) refuse();
    const inner = text.slice(at + 1, close - 1);
    return { key: quote === "'" ? inner.replaceAll("''", "'") : unescapeText(inner), colonEnd: colon + 1 };
  }
  if (/[-?[\]{}&*!|>%@`,#:]/.test(text[at] ?? "#") && !/^-[^\s-]/.test(text.slice(at, at + 2))) refuse();
  for (let colon = at; colon < end; colon++) {
    if (text[colon] === "#" && isBlank(text[colon - 1])) break;
    if (text[colon] === ":" && isBlank(text[colon + 1] ?? "\n"))
      return { key: text.slice(at, colon).trimEnd(), colonEnd: colon + 1 };
  }
  return refuse();
}

/** The end of a value that starts on its key's line. */
function scanInline(text: string, at: number, indent: number, to: number): number {
  const first = text[at]!;
  if (first === '"' || first === "'") return scanQuoted(text, at, to);
  if (first === "[" || first === "{") return scanFlow(text, at, to);
  if (first === "|" || first === ">") {
    const end = lineEnd(text, at);
    return scanBlock(text, end, indent, to, false).end ?? trimmedEnd(text, at, end);
  }
  return scanPlain(text, at, indent, to);
}

function scanPlain(text: string, at: number, indent: number, to: number): number {
  let end = lineEnd(text, at);
  const comment = commentStart(text, at, end);
  let valueEnd = trimmedEnd(text, at, comment ?? end);
  if (comment !== null) return valueEnd;
  for (let next = nextLine(text, end); next < to; next = nextLine(text, next)) {
    const line = lineAt(text, next);
    if (line.content === "") continue;
    if (line.indent <= indent || line.content.startsWith("#")) break;
    end = lineEnd(text, next);
    const stop = commentStart(text, next, end);
    valueEnd = trimmedEnd(text, next, stop ?? end);
    if (stop !== null) break;
  }
  return valueEnd;
}

/** The lines below a key that belong to it: those indented more, and list items as far left as the key itself. */
function scanBlock(text: string, keyLineEnd: number, indent: number, to: number, items: boolean) {
  let end: number | null = null;
  let itemIndent: number | null = null;
  let first = true;
  for (let at = nextLine(text, keyLineEnd); at < to; at = nextLine(text, at)) {
    const line = lineAt(text, at);
    if (line.content === "") continue;
    const isItem = items && /^-(?:\s|$)/.test(line.content);
    const isComment = items && line.content.startsWith("#");
    if (line.indent < indent || (line.indent === indent && !isItem && !isComment)) break;
    if (line.indent === indent && isComment) continue;
    if (first && isItem) itemIndent = line.indent;
    // A comment above the value does not decide its kind; one without a value below belongs to no key.
    if (!isComment) first = false;
    if (!isComment || end !== null) end = lineEnd(text, at);
  }
  return { end, itemIndent };
}

function scanQuoted(text: string, at: number, to: number): number {
  const quote = text[at]!;
  for (let i = at + 1; i < to; i++) {
    if (quote === '"' && text[i] === "\\") i++;
    else if (text[i] === quote) {
      if (quote === '"' || text[i + 1] !== "'") return i + 1;
      i++;
    }
  }
  return refuse();
}

function scanFlow(text: string, at: number, to: number): number {
  let depth = 0;
  let before = "";
  for (let i = at; i < to; i++) {
    const char = text[i]!;
    if (char === "#" && isBlank(text[i - 1])) i = lineEnd(text, i) - 1;
    else if ((char === '"' || char === "'") && "[{,:".includes(before)) {
      i = scanQuoted(text, i, to) - 1;
      before = char;
    } else if (char === "[" || char === "{") depth++;
    else if ((char === "]" || char === "}") && --depth === 0) return i + 1;
    if (!isBlank(char)) before = text[i]!;
  }
  return refuse();
}

function lineAt(text: string, at: number): { indent: number; content: string; next: number } {
  let start = at;
  while (text[start] === " ") start++;
  return { indent: start - at, content: text.slice(start, lineEnd(text, start)).trimEnd(), next: nextLine(text, at) };
}

function commentStart(text: string, from: number, to: number): number | null {
  for (let at = from; at < to; at++) if (text[at] === "#" && isBlank(text[at - 1])) return at;
  return null;
}

function trimmedEnd(text: string, from: number, to: number): number {
  return from + text.slice(from, to).trimEnd().length;
}

function skipBlanks(text: string, at: number): number {
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

function unescapeText(inner: string): string {
  if (!inner.includes("\\")) return inner;
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    // An escape that only YAML knows: no key that is edited here is written so.
    return inner;
  }
}

const isNothing = (content: string): boolean => content === "" || content.startsWith("#");
const isBlank = (char: string | undefined): boolean => char === " " || char === "\t" || char === "\n" || char === "\r";

function refuse(): never {
  const hint = "Write the front matter as one `key: value` on each line, as YAML's block style has it.";
  throw new RemandError(
    "story-invalid",
    "this front matter cannot be edited without touching more than the value",
    hint,
  );
}
