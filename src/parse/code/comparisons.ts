import { type LanguageFamily, familyOf, maskedCode } from "./symbols-mask.ts";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A computed value and the literal that it is compared with, as positions in the text of a test. */
export interface Comparison {
  readonly actual: Span;
  readonly expected: Span;
}

/** Replaces each character of a string, so that a string is one word. */
const QUOTED = "\u0001";

/**
 * Finds the comparisons in a test by signs on its lines: neighboring arguments, `expect(a).toBe(1)`, `a == 1`, and
 * words of a shell. It knows no grammar: whether two values are compared is found by running.
 */
export function comparisonsIn(path: string, text: string, title: string): readonly Comparison[] {
  const family = familyOf(path);
  if (family === "other") return shellComparisons(text, title);
  const code = codeOf(text, family);
  const groups = groupsIn(code);
  const isTitle = ({ from, to }: Span): boolean => text.slice(from + 1, to - 1) === title;
  const isFixed = (span: Span): boolean => isLiteral(code.slice(span.from, span.to));
  const isOpen = (span: Span): boolean => !isFixed(span) && isValue(code.slice(span.from, span.to));
  const found = [
    ...besides(groups, isFixed, isOpen),
    ...chained(code, groups, isFixed, isOpen),
    ...signs(code, isOpen),
  ];
  // Arguments of a formatted message are not compared.
  const isFormat = ({ from, to }: Span): boolean => /%[+#]?[a-z]/.test(text.slice(from, to));
  const own = found.filter(({ expected }) => !isTitle(expected) && !isFormat(expected));
  const isInside = (inner: Span, outer: Span): boolean => outer.from <= inner.from && inner.to <= outer.to;
  return own.filter(
    (each) => !own.some((other) => other !== each && isInside(each.expected, other.actual)) && isFirstOf(each, own),
  );
}

const isFirstOf = (each: Comparison, all: readonly Comparison[]): boolean =>
  all.find(({ expected }) => expected.from === each.expected.from) === each;

/** Returns the code without comments, and with a mark in place of each string. */
function codeOf(text: string, family: LanguageFamily): string {
  const masked = maskedCode(text, family);
  let code = masked;
  for (const { 0: all, index } of text.matchAll(/(["'`])(?:(?!\1)[^\\\n])*\1/g)) {
    if (masked.slice(index, index + all.length).trim() !== "") continue;
    code = code.slice(0, index) + QUOTED.repeat(all.length) + code.slice(index + all.length);
  }
  return code;
}

/** Parentheses, with the parts between their commas. */
interface Group extends Span {
  readonly parts: readonly Span[];
}

function groupsIn(code: string): readonly Group[] {
  const open: { sign: string; at: number; commas: number[] }[] = [];
  const groups: Group[] = [];
  for (let at = 0; at < code.length; at++) {
    const sign = code[at]!;
    if ("([{".includes(sign)) open.push({ sign, at, commas: [] });
    else if (sign === ",") open.at(-1)?.commas.push(at);
    else if (")]}".includes(sign)) {
      const group = open.pop();
      if (group?.sign !== "(" || sign !== ")") continue;
      const ends = [...group.commas, at];
      const parts = ends.map((to, index) =>
        trimmed(code, { from: index === 0 ? group.at + 1 : ends[index - 1]! + 1, to }),
      );
      groups.push({ from: group.at, to: at + 1, parts: parts.filter(({ from, to }) => from < to) });
    }
  }
  return groups.toSorted((a, b) => a.from - b.from);
}

function trimmed(code: string, { from, to }: Span): Span {
  const part = code.slice(from, to);
  return { from: from + part.length - part.trimStart().length, to: to - (part.length - part.trimEnd().length) };
}

type Is = (span: Span) => boolean;

/** `equal(add(2, 1), 3)`: the value before the literal, or the one after it if the literal comes first. */
const besides = (groups: readonly Group[], isFixed: Is, isOpen: Is): readonly Comparison[] =>
  groups.flatMap(({ parts }) =>
    parts.flatMap((expected, at): Comparison[] => {
      const actual = at > 0 ? parts[at - 1]! : parts[at + 1];
      return actual !== undefined && isFixed(expected) && isOpen(actual) ? [{ actual, expected }] : [];
    }),
  );

/** `expect(add(2, 1)).toBe(3)` */
const chained = (code: string, groups: readonly Group[], isFixed: Is, isOpen: Is): readonly Comparison[] =>
  groups.flatMap(({ from, parts: [expected] }): Comparison[] => {
    const link = /\)\s*(?:\.\s*\w+\s*)+$/.exec(code.slice(0, from));
    const before = link === null ? undefined : groups.find(({ to }) => to === link.index + 1);
    const actual = before?.parts[0];
    const isPair = expected !== undefined && actual !== undefined && isFixed(expected) && isOpen(actual);
    return isPair ? [{ actual, expected }] : [];
  });

const SIGN = new RegExp(`\\s(?:===?|!==?)\\s+(${QUOTED}+|-?\\d[\\d_]*(?:\\.\\d+)?(?![\\w.])|[[{(])`, "g");

/** `add(2, 1) == 3` */
const signs = (code: string, isOpen: Is): readonly Comparison[] =>
  [...code.matchAll(SIGN)].flatMap(({ index, 0: all, 1: first = "" }): Comparison[] => {
    const start = index + all.length - first.length;
    const to = "[{(".includes(first) ? closingOf(code, start) : start + first.length;
    const actual = trimmed(code, { from: operandStart(code, index), to: index });
    const isPair = to > 0 && isLiteral(code.slice(start, to)) && actual.from < actual.to && isOpen(actual);
    return isPair ? [{ actual, expected: { from: start, to } }] : [];
  });

/** Returns the position after the bracket that closes the one at `at`; -1 if there is none. */
function closingOf(code: string, at: number): number {
  let depth = 0;
  for (let next = at; next < code.length; next++) {
    if ("([{".includes(code[next]!)) depth++;
    else if (")]}".includes(code[next]!) && --depth === 0) return next + 1;
  }
  return -1;
}

/** Returns where the value that ends before `end` begins: after a word or sign that no value spans. */
function operandStart(code: string, end: number): number {
  let depth = 0;
  for (let at = end - 1; at >= 0; at--) {
    const sign = code[at]!;
    if (")]}".includes(sign)) depth++;
    else if ("([{".includes(sign) && --depth < 0) return at + 1;
    else if (depth === 0 && /[,;\n&|?:]/.test(sign)) return at + 1;
    else if (
      depth === 0 &&
      /(?:=>|\b(?:assert|if|return|and|or|not|when|while|elif)) $/.test(code.slice(Math.max(0, at - 7), at + 1))
    )
      return at + 1;
  }
  return 0;
}

const FIXED = new RegExp(
  `${QUOTED}+|(?<![\\w.$])-?\\d[\\d_]*(?:\\.\\d+)?(?![\\w.])|\\b(?:true|false|null|nil|None|True|False)\\b`,
  "g",
);

/** Whether code is a literal: strings and numbers, and lists and records of them. */
const isLiteral = (code: string): boolean =>
  new RegExp(FIXED.source).test(code) &&
  /^[\s,:[\]{}()]*$/.test(code.replaceAll(FIXED, "").replaceAll(/[A-Za-z_$][\w$]*\s*(?=:)/g, "")) &&
  !/^\(\s*[^,]*\)$/.test(code.trim());

/** Whether code is a value: a function cannot be compared. */
const isValue = (code: string): boolean =>
  /[\w)]/.test(code) && !/=>|\bfunction\b|\blambda\b|\bfunc\b|\|\|?\s*\{/.test(code);

/** `same "title" "$(slug ABC)" "abc"`: a computed word, and the next literal one. */
function shellComparisons(text: string, title: string): readonly Comparison[] {
  const words = [...text.matchAll(/"(?:\$\((?:[^()]|\([^()]*\))*\)|[^"\\])*"|'[^']*'|\$\([^()]*\)|[^\s"']+/g)].map(
    ({ 0: word, index }) => ({ word, from: index, to: index + word.length }),
  );
  const made = words.filter(({ word }) => /^"?(?:\$|`)/.test(word));
  return made.flatMap((actual): Comparison[] => {
    const after = words.slice(words.indexOf(actual) + 1, words.indexOf(actual) + 3);
    const isFixed = (word: string): boolean =>
      /^(?:"[^"$`\\]+"|'[^']+'|\d+)$/.test(word) && word.slice(1, -1) !== title;
    const expected = after.find(({ word }) => isFixed(word));
    return expected === undefined ? [] : [{ actual, expected }];
  });
}

/** A literal to replace another one with. */
export interface OtherValue {
  readonly text: string;
  /** Whether it has the same type: typed languages refuse values of another type. */
  readonly keepsType: boolean;
}

/**
 * Returns literals that a comparison must tell from this one, and a loosened comparison may not: another order, one
 * part fewer, changed case, the next number, a number as a string.
 */
export function otherValues(path: string, fixed: string): readonly OtherValue[] {
  const text = fixed.trim();
  const same = (value: string): OtherValue => ({ text: value, keepsType: true });
  const quote = /^["'`]/.exec(text)?.[0];
  if (quote !== undefined) {
    const words = text.slice(1, -1);
    const cased = words === words.toUpperCase() ? words.toLowerCase() : words.toUpperCase();
    return distinct(
      text,
      [cased, words.slice(0, -1), `${words}q`].map((each) => same(quote + each + quote)),
    );
  }
  if (/^-?\d/.test(text)) {
    const next = text.includes(".") ? String(Number(text) + 0.5) : String(Number(text.replaceAll("_", "")) + 1);
    return distinct(text, [same(next), { text: `"${text}"`, keepsType: false }]);
  }
  if (Object.hasOwn(OPPOSITES, text)) return [same(OPPOSITES[text]!)];
  if (!/^[[({]/.test(text)) return [];
  const parts = partsOf(path, text);
  const put = (of: readonly string[]): OtherValue => same(text[0]! + of.join(", ") + text.at(-1)!);
  const fewer = put(parts.slice(0, -1));
  // The order of a record's keys is not part of its value.
  if (text.startsWith("{")) return parts.length < 2 ? [] : [fewer];
  const isTuple = text.startsWith("(");
  return distinct(text, [put(parts.toReversed()), ...(parts.length < (isTuple ? 3 : 2) ? [] : [fewer])]);
}

const OPPOSITES: Readonly<Record<string, string>> = { true: "false", false: "true", True: "False", False: "True" };

const distinct = (text: string, values: readonly OtherValue[]): readonly OtherValue[] =>
  values.filter((each, at) => each.text !== text && values.findIndex((other) => other.text === each.text) === at);

function partsOf(path: string, text: string): readonly string[] {
  const code = codeOf(text, familyOf(path));
  const [group] = groupsIn(`(${code.slice(1, -1)})`);
  return (group?.parts ?? []).map(({ from, to }) => text.slice(from, to));
}

/** Returns code for the plain data of a value, without its type. `null`: the language has no expression for it. */
export function plainData(path: string, value: string): string | null {
  const family = familyOf(path);
  if (family === "javascript") return `JSON.parse(JSON.stringify(structuredClone(${value})))`;
  return family === "python" ? `__import__("json").loads(__import__("json").dumps(${value}))` : null;
}

/**
 * Returns code that runs `code`, drops its value, and evaluates to `value`. `null`: the language has no expression for
 * it.
 */
export function valueAfter(path: string, code: string, value: string): string | null {
  const family = familyOf(path);
  if (family === "javascript") return `(${code}, ${value})`;
  return family === "python" ? `(${code}, ${value})[-1]` : null;
}
