/** One test as it is written: its name, and everything between its brackets (or below its head, in Python). */
export interface TestBlock {
  /** `null` where the name is computed. */
  readonly title: string | null;
  /** What is called, with what is hung on it: `test.skip`, `it.each`; for others what stands above the function. */
  readonly head: string;
  readonly body: string;
  readonly start: number;
  readonly end: number;
  /** Does it stand for as many tests as its table has rows? */
  readonly isTable: boolean;
  /** How many rows that table has; `null` where it is not written out. */
  readonly rows: number | null;
  /** Does it stand where the runner does not look for tests? */
  readonly isLeftOut: boolean;
}

/** The tests of a file, in order. A test inside a test is a part of it. It reads brackets and words, and does not parse. */
export function testBlocks(path: string, code: string): TestBlock[] {
  if (path.endsWith(".py")) return pythonBlocks(code);
  const ends = bracketEnds(code, path);
  if (/\.(?:rs|go|java|kts?|cs)$/.test(path)) return functionBlocks(path, code, ends);
  return callBlocks(code, ends);
}

const CALL = /(?<![\w.$])(?:[xf]?it|x?test|specify)(?:\.\w{1,20}){0,3}\s{0,3}(?=[(`])/g;

function callBlocks(code: string, ends: Int32Array): TestBlock[] {
  const blocks: TestBlock[] = [];
  const isDoubtful = doubtfulPlaces(code, ends);
  let from = 0;
  for (const match of code.matchAll(CALL)) {
    if (match.index < from) continue;
    const first = match.index + match[0].length;
    const firstEnd = ends[first]!;
    if (firstEnd === 0) continue;
    const isTable = /\.(?:each|for)\s*$/.test(match[0]);
    const second = isTable ? firstEnd + 1 + /^\s*/.exec(code.slice(firstEnd + 1, firstEnd + 50))![0].length : first;
    const open = isTable && code[second] === "(" && ends[second]! > 0 ? second : first;
    const end = ends[open]! + 1;
    const title = /^\s*(["'`])((?:\\.|(?!\1)[^\\\n]){0,300})\1/.exec(code.slice(open + 1, open + 400));
    blocks.push({
      title: title?.[2] ?? null,
      head: match[0].trim(),
      body: (open === first ? "" : code.slice(first, open)) + code.slice(open + 1 + (title?.[0].length ?? 0), end - 1),
      start: match.index,
      end,
      isTable,
      rows: open === first ? null : rowsIn(code.slice(first, open)),
      isLeftOut: isDoubtful(match.index),
    });
    from = end;
  }
  return blocks;
}

/**
 * Does a place stand under a condition, or in a function that is never called? A test there may never be run. Groups and
 * loops are no such thing.
 */
function doubtfulPlaces(code: string, ends: Int32Array): (at: number) => boolean {
  const parents = new Map<number, number>();
  const opens: number[] = [];
  const stack: number[] = [];
  for (let at = 0; at < code.length; at++) {
    if (code[at] !== "{" || (ends[at] ?? 0) === 0) continue;
    while (stack.length > 0 && ends[stack.at(-1)!]! < at) stack.pop();
    parents.set(at, stack.at(-1) ?? -1);
    opens.push(at);
    stack.push(at);
  }
  const known = new Map<number, boolean>();
  let looked = 0;
  const isDoubtful = (open: number): boolean => {
    const before = code.slice(Math.max(0, open - 200), open);
    if (/(?:\bif\s?\([^\n{}]{1,150}\)|\belse)\s{0,5}$/.test(before)) return true;
    const made = /(?<!export )(?:^|[\n;}])\s{0,20}(?:async )?function (\w{1,60})\s?\([^(){}]{0,100}\)\s{0,5}$/.exec(
      before,
    );
    // Each is looked for in the whole file.
    return made !== null && looked++ < MOST_LOOKED_FOR && code.split(new RegExp(`\\b${made[1]}\\b`)).length <= 2;
  };
  return (at) => {
    if (/(?:&&|\|\||\?|\bif\s?\([^\n{}]{1,150}\))\s{0,5}$/.test(code.slice(Math.max(0, at - 200), at))) return true;
    let low = 0;
    for (let high = opens.length; low < high;) {
      const middle = (low + high) >> 1;
      if (opens[middle]! < at) low = middle + 1;
      else high = middle;
    }
    for (let open = opens[low - 1] ?? -1; open !== -1; open = parents.get(open)!) {
      if (ends[open]! < at) continue;
      if (!known.has(open)) known.set(open, isDoubtful(open));
      if (known.get(open)!) return true;
    }
    return false;
  };
}

const MOST_LOOKED_FOR = 50;

const FUNCTIONS: readonly (readonly [RegExp, RegExp])[] = [
  [/\.rs$/, /((?:#\[[^\]]{0,200}\]\s{0,40}){1,6})(?:pub )?(?:async )?fn (\w{1,200})[^{;]{0,300}(?=\{)/g],
  [/\.go$/, /^(func )(Test\w{0,200})\([^{]{0,300}(?=\{)/gm],
  [
    /./,
    /((?:@\w{1,40}(?:\([^)]{0,200}\))?\s{1,40}|\[\w{1,40}\]\s{1,40}){0,6})(?:public |private |internal )?(?:async )?(?:void|fun|Task) (\w{1,200})\s?\([^{;]{0,300}(?=\{)/g,
  ],
];

function functionBlocks(path: string, code: string, ends: Int32Array): TestBlock[] {
  const [, pattern] = FUNCTIONS.find(([name]) => name.test(path))!;
  // The module of the tests, under one more condition than that tests are run.
  const isOtherModule = /#\[cfg\((?!test\))[^\]\n]{0,100}\btest\b[^\]\n]{0,100}\]\s{1,40}(?:pub )?mod /.test(code);
  const blocks: TestBlock[] = [];
  let from = 0;
  for (const match of code.matchAll(pattern)) {
    if (match.index < from) continue;
    const [whole, head = "", title = ""] = match;
    if (path.endsWith(".rs") && !/#\[(?:\w{1,40}::)?test\b/.test(head)) continue;
    const open = match.index + whole.length;
    const end = ends[open]! + 1;
    if (end === 1) continue;
    blocks.push({
      title,
      head: head.trim(),
      body: code.slice(open + 1, end - 1),
      start: match.index,
      end,
      isTable: /Parameterized|rstest|\[Theory/.test(head),
      rows: (
        head.match(/#\[case|\[InlineData/g) ??
        code.slice(open, end).match(/^\s{0,40}\{[^\n]{1,500}\},\s{0,5}$/gm) ??
        []
      ).length,
      isLeftOut: path.endsWith(".rs") && (isOtherModule || /#\[(?:cfg\((?!test\))|should_panic\b)/.test(head)),
    });
    from = end;
  }
  return blocks;
}

/** The body of a function, by its indentation. */
function pythonBlocks(code: string): TestBlock[] {
  const lines = code.split("\n");
  const starts: number[] = [];
  let offset = 0;
  for (const line of lines) {
    starts.push(offset);
    offset += line.length + 1;
  }
  const blocks: TestBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const def = /^(\s*)(?:async )?def (test\w{0,200})\s?\(/.exec(lines[at]!);
    if (def === null) continue;
    const depth = def[1]!.length;
    let above = at;
    while (above > 0 && /^\s*@/.test(lines[above - 1]!) && depthOf(lines[above - 1]!) === depth) above--;
    let last = at;
    for (let next = at + 1; next < lines.length; next++) {
      const line = lines[next]!;
      if (line.trim() === "") continue;
      if (depthOf(line) <= depth && !/^\s*[)\]}]/.test(line)) break;
      last = next;
    }
    const head = lines.slice(above, at).join("\n");
    const isTable = /parametrize|@(?:\w+\.)?(?:data|expand)\b/.test(head);
    blocks.push({
      title: def[2]!,
      head,
      body: `${isTable ? `${head}\n` : ""}${lines[at]!.slice(def[0].length)}\n${lines.slice(at + 1, last + 1).join("\n")}`,
      start: starts[above]!,
      end: starts[last]! + lines[last]!.length,
      isTable,
      rows: isTable ? rowsIn(head.slice(head.search(/,\s{0,80}[[(]/) + 1)) : null,
      isLeftOut: !isCollected(lines, at, depth),
    });
    at = last;
  }
  return blocks;
}

/** Runners look into classes that are called `Test…`, and into those that are made from a class of tests. */
function isCollected(lines: readonly string[], at: number, depth: number): boolean {
  if (depth === 0) return true;
  let above = at - 1;
  while (above >= 0 && (lines[above]!.trim() === "" || depthOf(lines[above]!) >= depth)) above--;
  // Under a condition, or in a function, it may never be there.
  if (/^\s*(?:if|elif|else|def|async def)\b/.test(lines[above] ?? "")) return false;
  const group = /^\s*class (\w+)\s?(\(\s?[\w.])?/.exec(lines[above] ?? "");
  return group === null || group[1]!.startsWith("Test") || group[2] !== undefined;
}

/** The members of the first list in a text, or the lines of a template that is a table, without its head. */
function rowsIn(text: string): number | null {
  if (/^\s*`/.test(text)) return Math.max(0, text.split("\n").filter((line) => line.includes("|")).length - 1);
  const list = /^[\s(]{0,80}\[/.exec(text);
  if (list === null) return null;
  let depth = 1;
  let rows = 0;
  let hasMore = false;
  for (let at = list[0].length; at < text.length && depth > 0; at++) {
    const char = text[at]!;
    if (char === '"' || char === "'" || char === "`") at = quoteEnd(text, at);
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    if (depth === 1 && char === ",") {
      rows++;
      hasMore = false;
    } else if (depth > 0 && !/\s/.test(char)) hasMore = true;
  }
  return hasMore ? rows + 1 : rows;
}

const depthOf = (line: string): number => line.length - line.trimStart().length;

/**
 * For each opening bracket, and each opening back quote, where it is closed; 0 where it never is. One pass over the
 * text, whatever is in it: strings, comments and regular expressions are stepped over.
 */
function bracketEnds(code: string, path: string): Int32Array {
  const ends = new Int32Array(code.length + 1);
  const open: number[] = [];
  const isRust = path.endsWith(".rs");
  let isValue = false;
  for (let at = 0; at < code.length; at++) {
    const char = code[at]!;
    if (char === '"' || char === "`" || char === "'") {
      const end = isRust && char === "'" ? rustQuoteEnd(code, at) : quoteEnd(code, at);
      if (char === "`") ends[at] = end;
      at = end;
      isValue = true;
    } else if (char === "/" && code[at + 1] === "/") {
      const end = code.indexOf("\n", at);
      at = end === -1 ? code.length : end;
    } else if (char === "/" && code[at + 1] === "*") {
      const end = code.indexOf("*/", at + 2);
      at = end === -1 ? code.length : end + 1;
    } else if (char === "/" && !isValue) at = patternEnd(code, at);
    else if (char === "(" || char === "[" || char === "{") {
      open.push(at);
      isValue = false;
    } else if (char === ")" || char === "]" || char === "}") {
      const opened = open.pop();
      if (opened !== undefined) ends[opened] = at;
      isValue = true;
    } else if (!/\s/.test(char)) isValue = /[\w$]/.test(char);
  }
  return ends;
}

function quoteEnd(code: string, start: number): number {
  const quote = code[start]!;
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === quote) return at;
    // Only a template goes on over the end of its line; another quote without its fellow is an apostrophe.
    else if (code[at] === "\n" && quote !== "`") return start;
  }
  return quote === "`" ? code.length - 1 : start;
}

/** `'a'` is a character, `'a` alone a lifetime. */
function rustQuoteEnd(code: string, start: number): number {
  return start + Math.max(0, (/^'(?:\\[^']{1,10}|[^'\\])'/.exec(code.slice(start, start + 14))?.[0].length ?? 1) - 1);
}

function patternEnd(code: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < code.length && code[at] !== "\n"; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === "[") inClass = true;
    else if (code[at] === "]") inClass = false;
    else if (code[at] === "/" && !inClass) return at;
  }
  return start;
}
