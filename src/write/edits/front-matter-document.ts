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

/** A key of a front matter, and where it and its value are in the file. */
export interface FrontMatterEntry {
  readonly key: string;
  /** Where the line of the key starts. */
  readonly start: number;
  /** Behind the colon. */
  readonly colonEnd: number;
  /** Behind the last character of the value; `colonEnd` where there is none. */
  readonly valueEnd: number;
  /** Where the value, its anchor or its tag starts on the key's own line; `null` where the value is below, or missing. */
  readonly inlineStart: number | null;
  /** How far the items of a list below the key are indented; `null` for anything else. */
  readonly itemIndent: number | null;
  /** Would blank lines below become part of the value? */
  readonly endsInBlockText: boolean;
  /** Does another key refer to the value, or a part of it, by an alias? */
  isShared(): boolean;
}

export interface FrontMatterDocument {
  readonly entries: readonly FrontMatterEntry[];
  /** How far the keys are indented. */
  readonly indent: number;
}

/** Finds the keys of the front matter in `text` between two positions. Throws a RemandError unless it is one block map. */
export function readFrontMatter(text: string, from: number, to: number): FrontMatterDocument {
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

/** The same limit as for reading stories: the parser's time grows with the square of the errors in a text. */
const MAX_LENGTH = 250_000;

/** Open maps and lists at one point of the text. The composer calls itself for each level, and its stack is finite. */
const MAX_OPEN = 200;

/** The only document of a text, `null` where it has none. Equal keys are allowed: comparing them all would be slow. */
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
