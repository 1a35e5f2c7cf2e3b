import { RemandError } from "../../core/events/error.ts";
import { findFrontMatter, lineEndOf, nextLine } from "../../stdx/front-matter.ts";
import { readFrontMatter, type FrontMatterEntry } from "./front-matter-document.ts";
import { yamlScalar, type Quotes, type Scalar } from "./yaml-scalar.ts";

/** New values by key: `undefined` removes the key. */
export type FrontMatterEdits = Readonly<Record<string, EditValue | undefined>>;
export type EditValue = Scalar | readonly Scalar[] | readonly Readonly<Record<string, Scalar | undefined>>[];

/**
 * The text with these keys of its front matter changed, and every other byte as it was: comments, quotes, order,
 * line ends. A file without front matter gets one. Throws a RemandError where that is not possible.
 */
export function editFrontMatter(text: string, edits: FrontMatterEdits): string {
  const parts = findFrontMatter(text);
  const eol = lineEndOf(text);
  if (parts.kind === "unterminated") {
    throw new RemandError(
      "story-invalid",
      "the front matter is not closed",
      "Close it with a line of three hyphens: ---",
    );
  }
  if (parts.kind === "none") {
    const lines = Object.entries(edits).flatMap(([key, value]) =>
      value === undefined ? [] : [newEntry(key, value, 0, eol)],
    );
    if (lines.length === 0) return text;
    return [text.slice(0, parts.bodyStart), `---${eol}`, ...lines, `---${eol}`, text.slice(parts.bodyStart)].join("");
  }
  const { entries, indent } = readFrontMatter(text, parts.yamlStart, parts.yamlEnd);
  const splices: Splice[] = [];
  let added = "";
  for (const [key, value] of Object.entries(edits)) {
    const index = entries.findIndex((known) => known.key === key);
    const entry = entries[index];
    if (entry === undefined) added += value === undefined ? "" : newEntry(key, value, indent, eol);
    else {
      refuseIfShared(entry);
      splices.push(
        value === undefined ? removal(text, entry, entries[index - 1]) : change(text, entry, value, indent, eol),
      );
    }
  }
  splices.push({ from: parts.yamlEnd, to: parts.yamlEnd, text: added });
  return applySplices(text, splices);
}

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function applySplices(text: string, splices: readonly Splice[]): string {
  let at = 0;
  let out = "";
  for (const splice of splices.toSorted((a, b) => a.from - b.from)) {
    out += text.slice(at, splice.from) + splice.text;
    at = splice.to;
  }
  return out + text.slice(at);
}

function newEntry(key: string, value: EditValue, indent: number, eol: string): string {
  const name = `${" ".repeat(indent)}${yamlScalar(key)}:`;
  return isList(value) && value.length > 0
    ? `${name}${blockList(value, indent + 2, eol)}${eol}`
    : `${name} ${inlineValue(value, "as-needed")}${eol}`;
}

function removal(text: string, entry: FrontMatterEntry, before: FrontMatterEntry | undefined): Splice {
  let to = nextLine(text, entry.valueEnd);
  // The blank lines after this key would become part of a block text above it.
  const takesBlanks = before?.endsInBlockText === true;
  while (takesBlanks && to < text.length && text.slice(to, lineEnd(text, to)).trim() === "") to = nextLine(text, to);
  return { from: entry.start, to, text: "" };
}

function change(text: string, entry: FrontMatterEntry, value: EditValue, indent: number, eol: string): Splice {
  const old = entry.inlineStart === null ? "" : text.slice(entry.inlineStart, entry.valueEnd);
  const inFlow = old.startsWith("[") && !isObjectList(value);
  if (isList(value) && value.length > 0 && !inFlow) {
    const to = lineEnd(text, entry.valueEnd);
    // A comment after the value stays after the key.
    const comment = keyLineComment(text, entry) || text.slice(entry.valueEnd, to).trim();
    const list = blockList(value, entry.itemIndent ?? indent + 2, eol);
    return { from: entry.colonEnd, to, text: (comment === "" ? "" : ` ${comment}`) + list };
  }
  const written = inlineValue(value, quotesOf(old));
  if (entry.inlineStart !== null) return { from: entry.inlineStart, to: entry.valueEnd, text: written };
  const comment = keyLineComment(text, entry);
  return { from: entry.colonEnd, to: entry.valueEnd, text: ` ${written}${comment === "" ? "" : ` ${comment}`}` };
}

/** The comment on the line of a key whose value is below it. */
function keyLineComment(text: string, entry: FrontMatterEntry): string {
  if (entry.inlineStart !== null || entry.valueEnd === entry.colonEnd) return "";
  return text.slice(entry.colonEnd, lineEnd(text, entry.colonEnd)).trim();
}

function quotesOf(old: string): Quotes {
  if (old.startsWith("'")) return "single";
  return old.startsWith('"') ? "double" : "as-needed";
}

const isList = (value: EditValue): value is Exclude<EditValue, Scalar> => Array.isArray(value);

const isObjectList = (value: EditValue): boolean => isList(value) && typeof value[0] === "object" && value[0] !== null;

function inlineValue(value: EditValue, quotes: Quotes): string {
  if (!isList(value)) return yamlScalar(value, quotes);
  return `[${value.map((item) => yamlScalar(item as Scalar)).join(", ")}]`;
}

function blockList(items: Exclude<EditValue, Scalar>, indent: number, eol: string): string {
  const margin = eol + " ".repeat(indent);
  return items
    .map((item) => `${margin}- ${isObject(item) ? objectText(item, `${margin}  `) : yamlScalar(item)}`)
    .join("");
}

const isObject = (
  item: Scalar | Readonly<Record<string, Scalar | undefined>>,
): item is Readonly<Record<string, Scalar | undefined>> => typeof item === "object" && item !== null;

function objectText(item: Readonly<Record<string, Scalar | undefined>>, separator: string): string {
  const fields = Object.entries(item).flatMap(([key, value]) =>
    value === undefined ? [] : [`${yamlScalar(key)}: ${yamlScalar(value)}`],
  );
  return fields.length === 0 ? "{}" : fields.join(separator);
}

/** A value that others refer to by its anchor cannot be changed for one key alone. */
function refuseIfShared(entry: FrontMatterEntry): void {
  if (!entry.isShared()) return;
  throw new RemandError(
    "story-invalid",
    `the value of \`${entry.key}\` has an anchor that others refer to`,
    "Write the value out where it is used, and take the anchor (&…) away.",
  );
}

/** Where the text of the line that holds `at` ends. */
function lineEnd(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  if (newline < 0) return text.length;
  return newline > at && text[newline - 1] === "\r" ? newline - 1 : newline;
}
