import type { CodeSymbol } from "../../core/blame/change.ts";
import { familyOf, maskedCode, type LanguageFamily } from "./symbols-mask.ts";

/** The named parts of a file, and the names used on each line. */
export interface CodeReading {
  readonly symbols: readonly CodeSymbol[];
  readonly names: readonly (readonly string[])[];
}

/** Longer files were generated, and are read as data. */
const LONGEST_CODE = 400_000;

/**
 * Reads the named parts of a file: functions, types, top-level values, and tests by title. It knows no grammar: parts
 * begin with certain keywords, and end where their braces close, or in Python where the indent ends.
 */
export function readSymbols(text: string, path: string): CodeReading {
  const family = familyOf(path);
  const code = text.slice(0, LONGEST_CODE).replaceAll("\r\n", "\n");
  const masked = maskedCode(code, family);
  const maskedLines = masked.split("\n");
  const lines = code.split("\n");
  const found =
    family === "python"
      ? pythonSymbols(maskedLines)
      : family === "other"
        ? keySymbols(lines, path)
        : braceSymbols(lines, maskedLines, family);
  return { symbols: found, names: maskedLines.map(namesOn) };
}

const WORD = /[A-Za-z_$][\w$]*/g;
const COMMON = new Set(
  (
    "if else for while do return const let var function class new this self import from export default async await " +
    "true false null undefined None True False def pass raise try except catch finally throw in of and or not is with as " +
    "func type struct interface map string int bool error nil range go defer package pub fn use mod mut impl match " +
    "public private protected static final void extends implements super case switch break continue typeof instanceof " +
    "number boolean unknown any never readonly yield lambda assert describe it test expect"
  ).split(" "),
);

/** Returns the names on a line, each once, without keywords. */
function namesOn(line: string): readonly string[] {
  const found = line.length === 0 ? null : line.slice(0, 2000).match(WORD);
  if (found === null) return NONE;
  const names: string[] = [];
  for (const word of found) if (word.length > 1 && !COMMON.has(word) && !names.includes(word)) names.push(word);
  return names;
}

const NONE: readonly string[] = [];

function pythonSymbols(lines: readonly string[]): CodeSymbol[] {
  const found: CodeSymbol[] = [];
  const open: { name: string; kind: CodeSymbol["kind"]; start: number; indent: number }[] = [];
  let last = 0;
  const close = (indent: number): void => {
    while (open.length > 0 && open.at(-1)!.indent >= indent) {
      const { name, kind, start } = open.pop()!;
      found.push({ name, kind, start, end: Math.max(start, last) });
    }
  };
  for (const [at, line] of lines.entries()) {
    const indent = line.search(/\S/);
    if (indent < 0) continue;
    if (!/^\s*[)\]}]/.test(line)) close(indent);
    const part = /^\s*(?:async\s+)?(def|class)\s+(\w+)/.exec(line);
    const value = indent === 0 ? /^(\w+)\s*(?::[^=]+)?=(?!=)/.exec(line) : null;
    if (part !== null) {
      const name = part[2]!;
      const kind = part[1] === "class" ? "type" : name.startsWith("test") ? "test" : "function";
      open.push({ name, kind, start: at + 1, indent });
    } else if (value !== null) open.push({ name: value[1]!, kind: "value", start: at + 1, indent });
    last = at + 1;
  }
  close(0);
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Reads keys of data and settings: a key at the beginning of a line names the rest of the line. */
function keySymbols(lines: readonly string[], path: string): CodeSymbol[] {
  if (!/\.(?:json|ya?ml|toml|ini|env|properties)$/.test(path)) return [];
  return lines.slice(0, 20_000).flatMap((line, at) => {
    const key = /^\s*(?:- )?["']?([\w.$-]{2,60})["']?\s*[:=]/.exec(line)?.[1];
    return key === undefined ? [] : [{ name: key, kind: "value" as const, start: at + 1, end: at + 1 }];
  });
}

type SymbolPattern = readonly [pattern: RegExp, kind: CodeSymbol["kind"]];

const METHOD: SymbolPattern = [
  /^\s+(?:(?:public|private|protected|internal|static|async|override|readonly|get|set|final|abstract|synchronized|virtual)\s+)*(?:\*\s*)?(#?[A-Za-z_$][\w$]*)\s*(?:<[^>]*>)?\([^;]*$/,
  "function",
];

const BEGINNINGS: Readonly<Record<Exclude<LanguageFamily, "python" | "other">, readonly SymbolPattern[]>> = {
  javascript: [
    [/^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*([A-Za-z_$][\w$]*)/, "function"],
    [
      /^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:class|interface|enum|namespace)\s+([A-Za-z_$][\w$]*)/,
      "type",
    ],
    [/^(?:export\s+)?type\s+([A-Za-z_$][\w$]*)/, "type"],
    [
      /^\s*(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\(|[A-Za-z_$][\w$]*\s*=>)/,
      "function",
    ],
    [/^(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)/, "value"],
    [/^(?:module\.)?exports\.([A-Za-z_$][\w$]*)\s*=/, "function"],
    METHOD,
  ],
  go: [
    [/^func\s+(?:\([^)]*\)\s*)?(\w+)/, "function"],
    [/^type\s+(\w+)/, "type"],
    [/^(?:var|const)\s+(\w+)/, "value"],
    [/^\t(\w+)\s*(?:\w+\s*)?=(?!=)/, "value"],
  ],
  rust: [
    [/^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+|unsafe\s+)*fn\s+(\w+)/, "function"],
    [/^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|mod)\s+(\w+)/, "type"],
    [/^\s*impl(?:<[^>]*>)?\s+(?:[\w:<>, ]+\s+for\s+)?(\w+)/, "type"],
    [/^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(\w+)\s*:/, "value"],
  ],
  java: [
    [
      /^\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|data|open)\s+)*(?:class|interface|enum|record|object)\s+(\w+)/,
      "type",
    ],
    [
      /^\s*(?:(?:public|private|protected|internal|static|final|override|suspend|open)\s+)*fun\s+(?:\w+\.)?(\w+)/,
      "function",
    ],
    [
      /^\s+(?:(?:public|private|protected|internal|static|final|abstract|synchronized|override|async|virtual)\s+)*(?:<[^>]*>\s*)?[\w.<>[\],?]+\s+(\w+)\s*\([^;]*$/,
      "function",
    ],
    [
      /^\s+(?:(?:public|private|protected|internal|static|final|const|readonly|val|var)\s+)+(?:[\w.<>[\],?]+\s+)?(\w+)\s*(?::[^=]+)?=(?!=)/,
      "value",
    ],
  ],
};

const TEST_TITLE =
  /^\s*(?:(?:await|void)\s+)?(?:[tx]?\.)?(?:test|it|describe|suite|context|specify|serial)(?:\.\w+)*(?:\([^"'`]*\))?\s*\(\s*(["'`])(.*?)\1/;
const NO_NAMES = new Set([
  "if",
  "for",
  "while",
  "switch",
  "catch",
  "function",
  "return",
  "else",
  "do",
  "try",
  "await",
  "new",
  "constructor",
]);

function braceSymbols(
  lines: readonly string[],
  masked: readonly string[],
  family: Exclude<LanguageFamily, "python" | "other">,
): CodeSymbol[] {
  const ends = partEnds(masked);
  const found: CodeSymbol[] = [];
  for (const [at, line] of masked.entries()) {
    if (line.length > 400 || line.trim() === "") continue;
    const title = family === "javascript" ? TEST_TITLE.exec(lines[at]!) : null;
    if (title !== null) {
      found.push({ name: title[2]!, kind: "test", start: at + 1, end: ends[at]! });
      continue;
    }
    for (const [pattern, kind] of BEGINNINGS[family]) {
      const name = pattern.exec(line)?.[1];
      if (name === undefined || NO_NAMES.has(name)) continue;
      // A call looks like a method, except for the brace that opens a body.
      if (pattern === METHOD[0] && !opensBody(masked, at)) continue;
      const isTest =
        kind === "function" &&
        ((family === "go" && /^(?:Test|Benchmark|Fuzz)/.test(name)) ||
          /^\s*(?:#\[.*\btest\b|@Test|@ParameterizedTest)/.test(masked[at - 1] ?? ""));
      found.push({ name, kind: isTest ? "test" : kind, start: at + 1, end: ends[at]! });
      break;
    }
  }
  return found;
}

/** Whether the parameter list that begins on this line is followed by an opening brace. */
function opensBody(masked: readonly string[], at: number): boolean {
  let depth = 0;
  for (let line = at; line < Math.min(masked.length, at + 12); line++) {
    const text = masked[line]!;
    for (let index = line === at ? text.indexOf("(") : 0; index < text.length; index++) {
      const char = text[index];
      if (char === "(") depth++;
      else if (char === ")" && --depth === 0) return /^[^;,=()]*\{/.test(text.slice(index + 1));
    }
  }
  return false;
}

/**
 * Returns for each line the last line of what begins there: all brackets that it opened are closed. One pass with a
 * stack.
 */
function partEnds(masked: readonly string[]): number[] {
  const ends = masked.map((_, at) => at + 1);
  const open: number[] = [];
  for (const [at, line] of masked.entries()) {
    for (const char of line.match(/[()[\]{}]/g) ?? []) {
      if (char === "(" || char === "[" || char === "{") open.push(at);
      else {
        const from = open.pop();
        if (from !== undefined) ends[from] = Math.max(ends[from]!, at + 1);
      }
    }
  }
  // A head over several lines ends with the body that its last line opens.
  for (let at = masked.length - 1; at >= 0; at--) {
    const end = ends[at]!;
    if (end > at + 1 && end <= masked.length && ends[end - 1]! > end) ends[at] = ends[end - 1]!;
  }
  return ends;
}
