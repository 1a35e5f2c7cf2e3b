import {
  type CST,
  Composer,
  type Document,
  Lexer,
  type Node,
  type Pair,
  Parser,
  isCollection,
  isMap,
  isPair,
  isScalar,
  visit,
} from "yaml";
import { RemandError } from "../../core/events/error.ts";
import { findFrontMatter, lineEndOf, nextLine } from "../../stdx/text-lines.ts";
import { yamlScalar, type Quotes, type Scalar } from "./yaml-scalar.ts";

/** New values by key: `undefined` removes the key. */
export type FrontMatterEdits = Readonly<Record<string, EditValue | undefined>>;
export type EditValue = Scalar | readonly Scalar[] | readonly Readonly<Record<string, Scalar | undefined>>[];

/**
 * Changes keys of a front matter and keeps every other byte: comments, quotes, order, line ends. Adds a front matter to
 * a file without one. Throws a RemandError where that is impossible.
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

/** A value that other keys refer to by its anchor cannot be changed for one key alone. */
function refuseIfShared(entry: FrontMatterEntry): void {
  if (!entry.isShared()) return;
  throw new RemandError(
    "story-invalid",
    `the value of \`${entry.key}\` has an anchor that others refer to`,
    "Write the value out where it is used, and take the anchor (&…) away.",
  );
}

/** The end of the text on the line of `at`. */
function lineEnd(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  if (newline < 0) return text.length;
  return newline > at && text[newline - 1] === "\r" ? newline - 1 : newline;
}

/** A key of a front matter, with the positions of the key and its value. */
interface FrontMatterEntry {
  readonly key: string;
  /** The start of the key's line. */
  readonly start: number;
  /** After the colon. */
  readonly colonEnd: number;
  /** After the last character of the value; `colonEnd` if there is no value. */
  readonly valueEnd: number;
  /** The start of the value, its anchor or its tag on the key's own line; `null` if the value is below, or missing. */
  readonly inlineStart: number | null;
  /** The indentation of the items of a list below the key; `null` for anything else. */
  readonly itemIndent: number | null;
  /** Whether blank lines below would become part of the value. */
  readonly endsInBlockText: boolean;
  /** Whether another key refers to the value, or to a part of it, by an alias. */
  isShared(): boolean;
}

export interface FrontMatterDocument {
  readonly entries: readonly FrontMatterEntry[];
  /** The indentation of the keys. */
  readonly indent: number;
}

/** Finds the keys of the front matter in `text` between two positions. Throws a RemandError unless it is one block map. */
function readFrontMatter(text: string, from: number, to: number): FrontMatterDocument {
  if (to - from > MAX_LENGTH)
    throw new RemandError(
      "story-invalid",
      `the front matter is longer than ${MAX_LENGTH} characters`,
      "Move the long part into the body of the story.",
    );
  const document = composeOne(text.slice(from, to));
  if (document === null || document.contents === null) return { entries: [], indent: 0 };
  const { contents } = document;
  if (!isMap(contents) || contents.srcToken?.type !== "block-map") return refuse();
  const entries = contents.items.map((pair) => entryOf(text, from, pair as SourcePair, document));
  return { entries, indent: contents.srcToken.indent };
}

type SourcePair = Pair<Node, Node | null>;

/** The same limit as for reading stories: the parser's time grows with the square of the number of errors in a text. */
const MAX_LENGTH = 250_000;

/** The maximum depth of maps and lists. The composer is recursive, and its stack is finite. */
const MAX_OPEN = 200;

/**
 * Composes the only document of a text; `null` if it has none. Equal keys are allowed, because comparing all keys would
 * be slow.
 */
function composeOne(source: string): Document.Parsed | null {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(source)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_OPEN) refuse();
  }
  tokens.push(...parser.end());
  const parts = tokens.filter(({ type }) => !BLANK_TOKENS.has(type));
  if (parts.length === 0) return null;
  if (parts.length > 1 || parts[0]!.type !== "document") return refuse();
  const options = { prettyErrors: false, version: "1.2", uniqueKeys: false, keepSourceTokens: true } as const;
  const [document] = new Composer(options).compose(tokens, true, source.length);
  return document === undefined || document.errors.length > 0 ? refuse() : document;
}

const BLANK_TOKENS: ReadonlySet<string> = new Set(["space", "comment", "newline"]);

function entryOf(text: string, from: number, pair: SourcePair, document: Document.Parsed): FrontMatterEntry {
  const { key, value, srcToken } = pair;
  const colon = srcToken?.sep?.find(({ type }) => type === "map-value-ind");
  // Keys with an indicator, an anchor or a tag before them are not edited.
  const isPlainKey = srcToken?.start.every(({ type }) => BLANK_TOKENS.has(type)) === true;
  if (colon === undefined || !isScalar(key) || !key.range || !isPlainKey) return refuse();
  const colonEnd = from + colon.offset + 1;
  const behind = srcToken.sep!.filter(({ offset }) => offset > colon.offset);
  const properties = behind.filter(({ type }) => type === "anchor" || type === "tag");
  const [valueStart, valueStop] = value?.range ?? [0, 0];
  const hasValue = valueStop > valueStart;
  const last = properties.at(-1);
  const first = properties[0]?.offset ?? (hasValue ? valueStart : null);
  const isBelow = first !== null && behind.some(({ type, offset }) => type === "newline" && offset < first);
  const propertyEnd = last === undefined ? colonEnd : from + last.offset + last.source.length;
  return {
    key: key.source ?? String(key.value),
    start: text.lastIndexOf("\n", from + key.range[0] - 1) + 1,
    colonEnd,
    valueEnd: hasValue ? trimmedEnd(text, from + valueStop) : propertyEnd,
    inlineStart: first === null || isBelow ? null : from + first,
    itemIndent: value?.srcToken?.type === "block-seq" ? value.srcToken.indent : null,
    endsInBlockText: endsInBlockText(value),
    isShared: () => value !== null && hasAliasTo(document, value),
  };
}

function endsInBlockText(value: Node | null): boolean {
  let node: unknown = value;
  while (isCollection(node)) {
    const last = node.items.at(-1);
    node = isPair(last) ? last.value : last;
  }
  return isScalar(node) && node.srcToken?.type === "block-scalar";
}

function trimmedEnd(text: string, to: number): number {
  let end = to;
  while (" \t\r\n".includes(text[end - 1]!)) end--;
  return end;
}

function hasAliasTo(document: Document.Parsed, value: Node): boolean {
  const anchors = new Set<string>();
  visit(value, {
    Value(_key, node) {
      if (node.anchor !== undefined) anchors.add(node.anchor);
    },
  });
  let isFound = false;
  visit(document, {
    Alias(_key, alias) {
      isFound ||= anchors.has(alias.source);
    },
  });
  return isFound;
}

function refuse(): never {
  throw new RemandError(
    "story-invalid",
    "this front matter cannot be edited without touching more than the value",
    "Write the front matter as one `key: value` on each line, as YAML's block style has it.",
  );
}
