import type { ShownLine } from "../../src/views/story/diff-document.ts";
import type { WordPart } from "./word-diff.ts";

export type TokenKind = "plain" | "keyword" | "string" | "comment" | "number";

export interface Token {
  readonly text: string;
  readonly kind: TokenKind;
}

interface Language {
  /** The start of a comment that ends with its line. */
  readonly line: RegExp | null;
  readonly block: readonly [open: string, close: string] | null;
  /** Quotes whose text may continue on the next line; longer ones first. */
  readonly long: readonly string[];
  readonly quotes: string;
  readonly keywords: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const BRACES = words(
  "abstract any as async await bool boolean break byte case catch chan char class const continue crate def default defer delete do double dyn else enum export extends extern false final finally float fn for from fun func function get go goto if impl implements import in instanceof int interface internal is keyof let long loop map match mod move mut namespace native new nil null number object of operator override package private protected pub public range readonly ref return self set short signed sizeof static string struct super switch template this throw throws trait true try type typedef typeof undefined union unsafe unsigned use using val var virtual void volatile when where while with yield",
);
const PYTHON = words(
  "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
);
const SCRIPT = words(
  "alias and begin break case class def do done elif else elsif end ensure esac export false fi for function if in local module next nil null not or require rescue return self set super then true undef unless until when while yes no yield",
);
const SQL = words(
  "add all alter and as asc begin between by case check commit constraint create default delete desc distinct drop else end exists foreign from group having in index insert into is join key left like limit not null on or order primary references select set table then union unique update values view when where with",
);
const NONE = words("");

const LIKE_C: Language = { line: /\/\//y, block: ["/*", "*/"], long: ["`"], quotes: "\"'", keywords: BRACES };
const LANGUAGES: readonly (readonly [names: string, language: Language])[] = [
  ["js mjs cjs jsx ts mts cts tsx go", LIKE_C],
  ["java c h cc cpp hpp cs kt swift php scala dart groovy proto", { ...LIKE_C, long: [] }],
  // In Rust, a lone quote marks a lifetime.
  ["rs", { ...LIKE_C, long: [], quotes: '"' }],
  ["css scss less", { ...LIKE_C, line: null, long: [], keywords: NONE }],
  ["json jsonc json5", { ...LIKE_C, long: [], quotes: '"', keywords: words("true false null") }],
  ["py pyi", { line: /#/y, block: null, long: ['"""', "'''"], quotes: "\"'", keywords: PYTHON }],
  [
    "sh bash zsh rb yaml yml toml ini dockerfile makefile pl r ex exs",
    { line: /(?<![^\s])#/y, block: null, long: [], quotes: "\"'", keywords: SCRIPT },
  ],
  ["sql", { line: /--/y, block: ["/*", "*/"], long: [], quotes: "'", keywords: SQL }],
  ["html xml svg vue", { line: null, block: ["<!--", "-->"], long: [], quotes: '"', keywords: NONE }],
];

const BY_ENDING = new Map(
  LANGUAGES.flatMap(([names, language]) => names.split(" ").map((name) => [name, language] as const)),
);

/** The language by the extension of a path; `null` if it is unknown. */
function languageOf(path: string): Language | null {
  const name = path.split("/").at(-1)?.toLowerCase() ?? "";
  return BY_ENDING.get(name.split(".").at(-1) ?? "") ?? null;
}

/** Highlights lines in order: a comment or string that is open at the end of one line continues on the next. */
export type Highlighter = (line: string) => readonly Token[];

/** Longer lines are data. */
const LONGEST = 2000;

export function createHighlighter(path: string): Highlighter {
  const language = languageOf(path);
  if (language === null) return (text) => [{ text, kind: "plain" }];
  /** The end of the open comment or string; `null`: none is open. */
  let open: { readonly close: string; readonly kind: TokenKind } | null = null;
  return (line) => {
    if (line.length > LONGEST) return [{ text: line, kind: "plain" }];
    const tokens: Token[] = [];
    const add = (from: number, to: number, kind: TokenKind): number => {
      const last = tokens.at(-1);
      const text = line.slice(from, to);
      if (last?.kind === kind) tokens[tokens.length - 1] = { text: last.text + text, kind };
      else if (text !== "") tokens.push({ text, kind });
      return to;
    };
    for (let at = 0; at < line.length;) {
      if (open !== null) {
        const end = endOf(line, at, open.close);
        at = add(at, end ?? line.length, open.kind);
        if (end !== null) open = null;
        continue;
      }
      const token = tokenAt(line, at, language);
      if (token.close === undefined) at = add(at, token.end, token.kind);
      else {
        at = add(at, token.end, token.kind);
        open = { close: token.close, kind: token.kind };
      }
    }
    return tokens;
  };
}

/** The position after the next `close` that is not escaped. */
function endOf(line: string, from: number, close: string): number | null {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line.startsWith(close, at)) return at + close.length;
  }
  return null;
}

interface FoundToken {
  readonly end: number;
  readonly kind: TokenKind;
  /** The token continues until this text. */
  readonly close?: string;
}

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const NUMBER = /(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\w*/iy;

function tokenAt(line: string, at: number, { line: comment, block, long, quotes, keywords }: Language): FoundToken {
  if (comment !== null && isAt(comment, line, at) !== null) return { end: line.length, kind: "comment" };
  if (block !== null && line.startsWith(block[0], at))
    return { end: at + block[0].length, kind: "comment", close: block[1] };
  for (const quote of long)
    if (line.startsWith(quote, at)) return { end: at + quote.length, kind: "string", close: quote };
  if (quotes.includes(line[at]!)) return { end: endOf(line, at + 1, line[at]!) ?? line.length, kind: "string" };
  const word = isAt(WORD, line, at);
  if (word !== null) return { end: at + word.length, kind: keywords.has(word) ? "keyword" : "plain" };
  const number = isAt(NUMBER, line, at);
  if (number !== null) return { end: at + number.length, kind: "number" };
  return { end: at + 1, kind: "plain" };
}

function isAt(pattern: RegExp, line: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0] ?? null;
}

/** Highlights both texts of a diff: removed lines continue the old one, added lines the new one. */
export function highlightDiff(path: string, lines: readonly ShownLine[]): ReadonlyMap<ShownLine, readonly Token[]> {
  const [before, after] = [createHighlighter(path), createHighlighter(path)];
  return new Map(
    lines.map((line) => {
      const old = line.kind === "added" ? null : before(line.text);
      return [line, line.kind === "removed" ? old! : after(line.text)];
    }),
  );
}

export interface CodePart extends Token {
  readonly isChanged: boolean;
}

/** The tokens of a line, split where changed words start and end. */
export function mergeParts(tokens: readonly Token[], parts: readonly WordPart[] | undefined): readonly CodePart[] {
  if (parts === undefined) return tokens.map((token) => ({ ...token, isChanged: false }));
  const merged: CodePart[] = [];
  let [part, used] = [0, 0];
  for (const { text, kind } of tokens)
    for (let at = 0; at < text.length;) {
      const { text: whole, isChanged } = parts[part] ?? { text, isChanged: false };
      const length = Math.min(text.length - at, whole.length - used);
      merged.push({ text: text.slice(at, at + length), kind, isChanged });
      at += length;
      used += length;
      if (used >= whole.length) [part, used] = [part + 1, 0];
    }
  return merged;
}
