import { type LanguageFamily, familyOf, maskedCode } from "./symbols-mask.ts";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A value that code gives, and the one beside it that is written down: both as places in the text of a test. */
export interface Comparison {
  readonly actual: Span;
  readonly expected: Span;
}

/** Stands for each character of a text in quotes, so that a text is one word. */
const QUOTED = "\u0001";

/**
 * The comparisons in a test, as far as signs on its lines show them: arguments beside each other, `expect(a).toBe(1)`,
 * `a == 1`, and words of a shell. No grammar is known: whether two places are compared is found out by running.
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
  // What a message is made of is not compared.
  const isFormat = ({ from, to }: Span): boolean => /%[+#]?[a-z]/.test(text.slice(from, to));
  const own = found.filter(({ expected }) => !isTitle(expected) && !isFormat(expected));
  const isInside = (inner: Span, outer: Span): boolean => outer.from <= inner.from && inner.to <= outer.to;
  return own.filter(
    (each) => !own.some((other) => other !== each && isInside(each.expected, other.actual)) && isFirstOf(each, own),
  );
}

const isFirstOf = (each: Comparison, all: readonly Comparison[]): boolean =>
  all.find(({ expected }) => expected.from === each.expected.from) === each;

/** The code without comments, and with a mark in place of each text. */
function codeOf(text: string, family: LanguageFamily): string {
  const masked = maskedCode(text, family);
  let code = masked;
  for (const { 0: all, index } of text.matchAll(/(["'`])(?:(?!\1)[^\\\n])*\1/g)) {
    if (masked.slice(index, index + all.length).trim() !== "") continue;
    code = code.slice(0, index) + QUOTED.repeat(all.length) + code.slice(index + all.length);
  }
  return code;
}

/** Round brackets with what stands between their commas. */
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

/** `equal(add(2, 1), 3)`: the value before the fixed one, or the one behind it where that comes first. */
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

/** Behind the bracket that closes the one at `at`; -1 where none does. */
function closingOf(code: string, at: number): number {
  let depth = 0;
  for (let next = at; next < code.length; next++) {
    if ("([{".includes(code[next]!)) depth++;
    else if (")]}".includes(code[next]!) && --depth === 0) return next + 1;
  }
  return -1;
}

/** Where the value begins that ends before `end`: behind a word or sign that no value goes across. */
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

/** Texts and numbers, and lists and records of them. */
const isLiteral = (code: string): boolean =>
  new RegExp(FIXED.source).test(code) &&
  /^[\s,:[\]{}()]*$/.test(code.replaceAll(FIXED, "").replaceAll(/[A-Za-z_$][\w$]*\s*(?=:)/g, "")) &&
  !/^\(\s*[^,]*\)$/.test(code.trim());

/** Not a function: that is no value to compare. */
const isValue = (code: string): boolean =>
  /[\w)]/.test(code) && !/=>|\bfunction\b|\blambda\b|\bfunc\b|\|\|?\s*\{/.test(code);

/** `same "title" "$(slug ABC)" "abc"`: a word that is made, and the next one that is written down. */
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

/** Another value in place of a fixed one, as it is written. */
export interface OtherValue {
  readonly text: string;
  /** Languages that check types refuse values of another type. */
  readonly keepsType: boolean;
}

/**
 * Values that a comparison must tell from this one, and a loosened one may not: another order, a part less, other
 * letters, the next number, a number as a text.
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
  // The order of a record's keys is no part of its value.
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

/** The plain data of a value: what it holds, without what its type says of it. `null`: the language has no such word. */
export function plainData(path: string, value: string): string | null {
  const family = familyOf(path);
  if (family === "javascript") return `JSON.parse(JSON.stringify(structuredClone(${value})))`;
  return family === "python" ? `__import__("json").loads(__import__("json").dumps(${value}))` : null;
}

/** A written value, once code has run whose own value is left. `null`: the language has no word for it. */
export function valueAfter(path: string, code: string, value: string): string | null {
  const family = familyOf(path);
  if (family === "javascript") return `(${code}, ${value})`;
  return family === "python" ? `(${code}, ${value})[-1]` : null;
}
