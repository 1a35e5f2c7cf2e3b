import {
  type CST,
  Composer,
  type Document,
  Lexer,
  type ParsedNode,
  Parser,
  type YAMLError,
  YAMLParseError,
  isAlias,
  isMap,
  isScalar,
  isSeq,
} from "yaml";
import type { SourceLocation, Problem } from "../../core/events/error.ts";
import { lineIndex } from "../../stdx/text-lines.ts";

export type YamlValue = string | number | boolean | null | readonly YamlValue[] | YamlMap;
export interface YamlMap {
  readonly [key: string]: YamlValue;
}
export type YamlPath = readonly (string | number)[];

/** The value of a YAML text, and the location of each part in the person's file. */
export interface YamlText {
  /** `null` if nothing could be read; the problems say why. */
  readonly value: YamlValue;
  readonly problems: readonly Problem[];
  /** Returns the location of a value's key, or of the nearest part around it; of a list's item, the item. */
  keyPlace(path: YamlPath): SourceLocation;
  valuePlace(path: YamlPath): SourceLocation;
}

/** Far more than any file that a person writes, and far less than what would cause trouble. */
const LIMITS = { characters: 250_000, depth: 50, aliases: 100, values: 20_000, problems: 20 };

const TOO_DEEP = `more than ${LIMITS.depth} levels of nesting are not read`;
const SIMPLER = "Make it simpler.";

type YamlSpan = readonly [start: number, end: number];

/** Reads the YAML between two offsets of a file's text. Never throws. */
export function readYaml(file: string, text: string, from = 0, to = text.length): YamlText {
  const lines = lineIndex(text);
  const place = ([start, end]: YamlSpan): SourceLocation => {
    const { line, column } = lines.at(from + start);
    const source = lines.text(line);
    if (source.length > LONGEST_SHOWN) return { file, line, column };
    // A caret ends with its line at the latest.
    return { file, line, column, source, length: Math.max(1, Math.min(end - start, source.length - column + 1)) };
  };
  const spans = new Map<string, { readonly key: YamlSpan; readonly value: YamlSpan }>();
  const nearest = (path: YamlPath, part: "key" | "value"): SourceLocation => {
    for (let length = path.length; length >= 0; length--) {
      const found = spans.get(spanKey(path.slice(0, length)));
      if (found !== undefined) return place(length === path.length ? found[part] : found.key);
    }
    return place([0, 1]);
  };
  const read = to - from > LIMITS.characters ? TOO_LONG : readDocument(text.slice(from, to), spans);
  return {
    value: read.value,
    problems: read.faults.slice(0, LIMITS.problems).map(({ span, ...fault }) => ({ ...fault, ...place(span) })),
    keyPlace: (path) => nearest(path, "key"),
    valuePlace: (path) => nearest(path, "value"),
  };
}

/** A longer line is not shown: it is unreadable, and a caret under it does not help. */
const LONGEST_SHOWN = 1000;

interface YamlFault extends Pick<Problem, "message" | "hint" | "severity"> {
  readonly span: YamlSpan;
}

const fault = (span: YamlSpan, message: string, hint: string, severity: Problem["severity"] = "error"): YamlFault => ({
  span,
  message,
  hint,
  severity,
});

const TOO_LONG: ReturnType<typeof readDocument> = {
  value: null,
  faults: [fault([0, 1], `more than ${LIMITS.characters} characters of YAML are not read`, "Make it shorter.")],
};

interface Walk {
  readonly document: Document.Parsed;
  readonly spans: Map<string, { readonly key: YamlSpan; readonly value: YamlSpan }>;
  readonly faults: YamlFault[];
  aliases: number;
  values: number;
}

function readDocument(yaml: string, spans: Walk["spans"]): { value: YamlValue; faults: readonly YamlFault[] } {
  const document = parseYaml(yaml);
  if ("tooDeepAt" in document)
    return { value: null, faults: [fault(shownSpan([document.tooDeepAt, 0], yaml), TOO_DEEP, SIMPLER)] };
  const faults = document.errors.map((error) => fault(shownSpan(error.pos, yaml), sentence(error), hintFor(error)));
  const walk: Walk = { document, spans, faults, aliases: 0, values: 0 };
  // After an error the rest is a guess.
  const value =
    document.errors.length > 0 || document.contents === null ? null : plain(document.contents, [], null, walk);
  for (const warning of document.warnings) {
    faults.push(fault(warning.pos, sentence(warning), "Write the value without a tag.", "warning"));
  }
  return { value: value ?? null, faults };
}

/**
 * Returns the range to show. What is missing at the end of the text is shown at its last character, because after it
 * there may be another line.
 */
function shownSpan([start, end]: YamlSpan, yaml: string): YamlSpan {
  const last = Math.max(0, yaml.trimEnd().length - 1);
  return start > last ? [last, last + 1] : [start, Math.max(end, start + 1)];
}

/** Returns the plain value of a node; `undefined` if a limit is reached, which is then the last fault. */
function plain(node: ParsedNode | null, path: YamlPath, key: YamlSpan | null, walk: Walk): YamlValue | undefined {
  // An empty value has no location; problems with it are shown at its key.
  const isEmpty = node === null || node.range[0] === node.range[1];
  const span: YamlSpan = isEmpty ? (key ?? [0, 1]) : [node.range[0], node.range[1]];
  walk.spans.set(spanKey(path), { key: key ?? span, value: span });
  if (path.length > LIMITS.depth) return stopAt(walk, span, TOO_DEEP);
  if (++walk.values > LIMITS.values) return stopAt(walk, span, `more than ${LIMITS.values} values are not read`);
  if (node === null) return null;
  if (isAlias(node)) {
    if (++walk.aliases > LIMITS.aliases) return stopAt(walk, span, `more than ${LIMITS.aliases} aliases are not read`);
    const meant = node.resolve(walk.document) as ParsedNode | undefined;
    if (meant !== undefined) return plain(meant, path, key ?? span, walk);
    walk.faults.push(
      fault(span, `there is no anchor for the alias "*${node.source}"`, "Quote the text, if it is no alias."),
    );
    return null;
  }
  if (isScalar(node)) return scalar(node.value);
  if (isSeq(node)) return list(node.items, path, walk);
  if (isMap(node)) return map(node.items, path, walk);
  return null;
}

interface MapItem {
  readonly key: ParsedNode | null;
  readonly value: ParsedNode | null;
}

function list(items: readonly (ParsedNode | null)[], path: YamlPath, walk: Walk): YamlValue | undefined {
  const values: YamlValue[] = [];
  for (const [index, item] of items.entries()) {
    const value = plain(item, [...path, index], null, walk);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

function map(items: readonly MapItem[], path: YamlPath, walk: Walk): YamlValue | undefined {
  const entries = new Map<string, YamlValue>();
  for (const item of items) {
    const span: YamlSpan = item.key === null ? [0, 1] : [item.key.range[0], item.key.range[1]];
    const name = item.key !== null && isScalar(item.key) ? String(item.key.value) : null;
    if (name === null) {
      walk.faults.push(fault(span, "a key must be plain text", "Write the key as a word."));
      continue;
    }
    if (entries.has(name)) walk.faults.push(fault(span, `the key "${name}" is given twice`, "Keep one of the two."));
    const value = plain(item.value, [...path, name], span, walk);
    if (value === undefined) return undefined;
    entries.set(name, value);
  }
  // `fromEntries` defines its keys, so `__proto__` is an ordinary key.
  return Object.fromEntries(entries);
}

function scalar(value: unknown): YamlValue {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return value;
  // The only other value of YAML's core schema is a big integer.
  return typeof value === "bigint" ? String(value) : null;
}

function stopAt(walk: Walk, span: YamlSpan, message: string): undefined {
  walk.faults.push(fault(span, message, SIMPLER));
  return undefined;
}

const spanKey = (path: YamlPath): string => path.join("\u0000");

function sentence(error: YAMLError): string {
  const text = error.message.replaceAll(/\s+/g, " ").trim();
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function hintFor(error: YAMLError): string {
  switch (error.code) {
    case "TAB_AS_INDENT":
      return "Indent with spaces.";
    case "MISSING_CHAR":
      return "Close what was opened, or quote the text.";
    case "MULTIPLE_DOCS":
      return "Keep one document; the text behind a line of `---` is another.";
    default:
      return "Correct the YAML here; text with `:`, `#` or brackets in it must be quoted.";
  }
}

/**
 * Parses one YAML document, including duplicate keys, and refuses nesting that would exhaust the stack: the library's
 * parser recurses as deep as the text, and if the stack ends inside the engine's own regular expressions, the whole
 * process crashes, not only the call. Its tokenizer keeps a list instead, so the depth is known before anything is
 * composed.
 */
function parseYaml(source: string): Document.Parsed | { readonly tooDeepAt: number } {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(source)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MOST_OPEN) return { tooDeepAt: parser.offset };
  }
  tokens.push(...parser.end());
  // The library compares each key with each other key; this walk finds duplicate keys in one pass.
  const composer = new Composer({ prettyErrors: false, version: "1.2", uniqueKeys: false });
  const [first, second] = composer.compose(tokens, true, source.length);
  if (second !== undefined) {
    const [start, end] = second.range;
    first!.errors.push(new YAMLParseError([start, end], "MULTIPLE_DOCS", "this is a second document"));
  }
  return first as Document.Parsed;
}

/** The most maps and lists that may be open at one point of the text. */
const MOST_OPEN = 200;
