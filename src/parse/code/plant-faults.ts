import { type LanguageFamily, familyOf, maskedCode, isCodeFile } from "./symbols-mask.ts";

/** One small edit of one line, after which a test that checks this line must fail. */
export interface Fault {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** Edits of the same location that raise an error when they run: they show whether a test runs the line. */
  readonly probes: readonly string[];
}

/** A name that no program has. */
const UNKNOWN = "remandPlantedFault";

/** Longer files were generated. */
const LONGEST_CODE = 400_000;
const LONGEST_LINE = 300;

/**
 * Returns the faults that can be planted in a file, those that tests notice most often first. It knows no grammar:
 * faults are made from the signs on a line, outside strings and comments. Running shows which of them do not compile.
 */
export function faultsIn(path: string, text: string, isOpen: (line: string) => boolean = () => true): Fault[] {
  if (!isCodeFile(path) || text.length > LONGEST_CODE) return [];
  const family = familyOf(path);
  const lines = text.split("\n");
  const masked = maskedCode(text, family === "other" ? "java" : family).split("\n");
  const found: { readonly rank: number; readonly fault: Fault }[] = [];
  lines.forEach((line, at) => {
    const code = masked[at]!;
    if (line.length > LONGEST_LINE || IMPORT.test(code) || code.trim() === "" || !isOpen(line)) return;
    for (const edit of editsOf(line, code, family)) {
      const fault = faultOf(path, at, line, edit);
      if (fault.after !== line) found.push({ rank: edit.rank, fault });
    }
  });
  return found.toSorted((a, b) => a.rank - b.rank || a.fault.line - b.fault.line).map(({ fault }) => fault);
}

/** A literal in code, with other values for it: each is a separate fault. */
export interface ValuePlace {
  readonly faults: readonly [Fault, ...Fault[]];
}

/** Returns the literals of a test, the last of each line first: the expected value mostly comes after the input. */
export function valuesIn(path: string, text: string, isOpen: (line: number) => boolean): readonly ValuePlace[] {
  if (!isCodeFile(path) || text.length > LONGEST_CODE) return [];
  const family = familyOf(path);
  const masked = maskedCode(text, family === "other" ? "java" : family).split("\n");
  return text.split("\n").flatMap((line, at) => {
    const code = masked[at]!;
    if (line.length > LONGEST_LINE || IMPORT.test(code) || !isOpen(at + 1)) return [];
    const edits = [...wordEdits(code), ...farNumberEdits(code), ...textEdits(line, code)].toSorted(
      (a, b) => b.from - a.from,
    );
    return [...new Set(edits.map(({ from }) => from))].map((place): ValuePlace => {
      const [first, ...more] = edits.filter(({ from }) => from === place).map((edit) => faultOf(path, at, line, edit));
      return { faults: [first!, ...more] };
    });
  });
}

function faultOf(path: string, at: number, line: string, { from, to, by, probes }: Edit): Fault {
  const put = (part: string): string => line.slice(0, from) + part + line.slice(to);
  return { path, line: at + 1, before: line, after: put(by), probes: probes.map(put) };
}

/** Returns the text with the fault; `null` if the line is not there unchanged. */
export function withFault(
  text: string,
  { line, before, after }: Pick<Fault, "line" | "before" | "after">,
): string | null {
  const lines = text.split("\n");
  const same = lines.flatMap((each, at) => (each === before ? [at] : []));
  // Lines above may have been added or removed, so one of several equal lines is used only at its old position.
  const at = same.length === 1 ? same[0]! : same.includes(line - 1) ? line - 1 : -1;
  if (at < 0) return null;
  lines[at] = after;
  return lines.join("\n");
}

const IMPORT = /^\s*(?:import\b|from\b|use\b|using\b|package\b|#|@|export\b.*\bfrom\b|.*\brequire\s*\()/;

interface Edit {
  readonly rank: number;
  readonly from: number;
  readonly to: number;
  readonly by: string;
  readonly probes: readonly string[];
}

function editsOf(line: string, code: string, family: LanguageFamily): Edit[] {
  return [
    ...operatorEdits(code),
    ...wordEdits(code),
    ...numberEdits(code),
    ...conditionEdits(line, code, family),
    ...returnEdits(code, family),
    ...deletionEdits(code, family),
    ...textEdits(line, code),
  ];
}

/** Replacements of an operator; the first is the opposite. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  "===": ["!=="],
  "!==": ["==="],
  "==": ["!="],
  "!=": ["=="],
  "<=": [">"],
  ">=": ["<"],
  "<": [">="],
  ">": ["<="],
  "&&": ["||"],
  "||": ["&&"],
  "+": ["-", "*"],
  "-": ["*", "+"],
  "*": ["+", "-"],
  "/": ["*", "+"],
  "%": ["*", "+"],
  "+=": ["-=", "*="],
  "-=": ["*=", "+="],
  "*=": ["+=", "-="],
};

/** Operators with spaces on both sides, or between two values; without these, such signs are ambiguous. */
const SPACED = /(?<=\S )(===|!==|==|!=|<=|>=|\+=|-=|\*=|&&|\|\||[-+*/%<>])(?= \S)/g;
const CLOSE = /(?<=[\w)\]])(===|!==|==|!=|&&|\|\||[-+*/%])(?=[\w(])/g;

function operatorEdits(code: string): Edit[] {
  return [...code.matchAll(SPACED), ...code.matchAll(CLOSE)].flatMap((match) => {
    const sign = match[1]!;
    const from = match.index;
    const to = from + sign.length;
    const left = /([A-Za-z_]\w*) ?$/.exec(code.slice(0, from))?.[1];
    const isChange = sign.length > 1 && sign.endsWith("=") && OPERATORS[sign.slice(0, -1)] !== undefined;
    const joined = isChange ? `${sign} ${UNKNOWN} ${sign.slice(0, -1)}` : `${sign} ${UNKNOWN} ${sign}`;
    const isArithmetic = /^[-+*/%]$/.test(sign);
    const divided = left === undefined || !isArithmetic ? [] : [`/ (${left} - ${left}) ${sign}`];
    return OPERATORS[sign]!.map((by, at) => ({ rank: at === 0 ? 0 : 2, from, to, by, probes: [joined, ...divided] }));
  });
}

const WORDS: Readonly<Record<string, string>> = {
  true: "false",
  false: "true",
  True: "False",
  False: "True",
  and: "or",
  or: "and",
};

function wordEdits(code: string): Edit[] {
  return [...code.matchAll(/(?<![\w.$])(true|false|True|False|and|or)(?![\w$:])/g)].map(({ 0: word, index }) => {
    const probes = [/^(?:and|or)$/.test(word) ? `${word} ${UNKNOWN} ${word}` : UNKNOWN];
    return { rank: 1, from: index, to: index + word.length, by: WORDS[word]!, probes };
  });
}

function numberEdits(code: string): Edit[] {
  return [...code.matchAll(/(?<![\w.$])\d{1,9}(?:\.\d{1,9})?(?![\w.])/g)].flatMap(({ 0: digits, index }) => {
    const value = Number(digits);
    const isWhole = !digits.includes(".");
    const others = value === 0 ? ["1", "2"] : [isWhole ? "0" : "0.0", String(value + 1)];
    return others.map((by, at) => ({
      rank: at === 0 ? 1 : 3,
      from: index,
      to: index + digits.length,
      by: isWhole || by.includes(".") ? by : `${by}.0`,
      probes: [UNKNOWN],
    }));
  });
}

/** Replaces a number by one far above and one far below: one of them exceeds any limit that a test allows. */
function farNumberEdits(code: string): Edit[] {
  return [...code.matchAll(/(?<![\w.$])\d{1,9}(?:\.\d{1,9})?(?![\w.])/g)].flatMap(({ 0: digits, index }) => {
    const end = digits.includes(".") ? ".5" : "";
    return [`${Math.trunc(Number(digits)) + 7919}${end}`, Number(digits) === 0 ? `7${end}` : `0${end}`].map((by) => ({
      rank: 1,
      from: index,
      to: index + digits.length,
      by,
      probes: [UNKNOWN],
    }));
  });
}

/** Inverts a condition. */
function conditionEdits(line: string, code: string, family: LanguageFamily): Edit[] {
  const opened = /^\s*(?:\}\s*)?(?:else\s+)?(?:el)?if\b\s*/.exec(code);
  if (opened === null) return [];
  const from = opened[0].length;
  const end = family === "python" ? code.lastIndexOf(":") : code[from] === "(" ? closing(code, from) : opening(code);
  const condition = line.slice(from, end).trim();
  if (end <= from || condition === "" || /:=|\blet\b|;/.test(condition)) return [];
  const isInParentheses = family !== "python" && code[from] === "(";
  const by =
    family === "python"
      ? `not (${condition})`
      : isInParentheses
        ? `(!${condition})`
        : `!(${condition})${blank(line, end)}`;
  const probe = isInParentheses ? `(${UNKNOWN})` : `${UNKNOWN}${blank(line, end)}`;
  return [{ rank: 1, from, to: end, by, probes: [probe] }];
}

const blank = (line: string, end: number): string => (line[end - 1] === " " ? " " : "");
const opening = (code: string): number => (code.trimEnd().endsWith("{") ? code.lastIndexOf("{") : -1);

/** Returns the position after the sign that closes the one at `at`; -1 if it is on another line. */
function closing(code: string, at: number): number {
  let depth = 0;
  for (let next = at; next < code.length; next++) {
    if (code[next] === "(") depth++;
    else if (code[next] === ")" && --depth === 0) return next + 1;
  }
  return -1;
}

/** Languages in which a function may return nothing instead of a value. */
const NOTHING: { readonly [F in LanguageFamily]?: string } = { javascript: "undefined", python: "None" };

function returnEdits(code: string, family: LanguageFamily): Edit[] {
  const nothing = NOTHING[family];
  const match = /(\breturn\s+|=>\s*)(?!\{)(\S.*?)(;?\s*)$/.exec(code);
  if (nothing === undefined || match === null || !isBalanced(match[2]!) || match[2] === nothing) return [];
  const from = match.index + match[1]!.length;
  return [{ rank: 2, from, to: from + match[2]!.length, by: nothing, probes: [UNKNOWN] }];
}

/** Deletes a whole statement on one line: a call, or an assignment. */
function deletionEdits(code: string, family: LanguageFamily): Edit[] {
  const match = /^(\s+)([\w$.[\]]+(?:\(.*\)|\s*[-+*/]?=(?![=>]).*?));?\s*$/.exec(code);
  if (match === null || !isBalanced(match[2]!) || KEYWORD.test(match[2]!)) return [];
  const from = match[1]!.length;
  const by = family === "python" ? "pass" : "";
  return [{ rank: 3, from, to: code.trimEnd().length, by, probes: [UNKNOWN] }];
}

const KEYWORD = /^(?:return|if|else|for|while|switch|case|throw|raise|await|yield|elif|def|func|fn|class|super)\b/;

/** A quoted string, or a template up to its first value. */
const TEXT = /(["'])((?:(?!\1)[^\\]){0,120})\1|`([^`$\\]{1,120})/g;

/** Changes a string. Ranked last, because much text is only shown to people and not tested. */
function textEdits(line: string, code: string): Edit[] {
  if (DIRECTIVE.test(line)) return [];
  return [...line.matchAll(TEXT)]
    .filter(({ index, 0: all }) => code.slice(index, index + all.length).trim() === "")
    .map(({ index, 0: all, 1: quote, 2: words = "", 3: template }) => ({
      rank: 4,
      from: index,
      to: index + all.length,
      by: template === undefined ? `${quote!}${words}~${quote!}` : `${all}~`,
      probes: [template === undefined ? UNKNOWN : `\`\${${UNKNOWN}}${template}`],
    }));
}

/** `"use strict"` and similar directives. */
const DIRECTIVE = /^\s*["']use [\w ]+["'];?\s*$/;

function isBalanced(code: string): boolean {
  let depth = 0;
  for (const sign of code) {
    if ("([{".includes(sign)) depth++;
    else if (")]}".includes(sign) && --depth < 0) return false;
  }
  return depth === 0;
}
