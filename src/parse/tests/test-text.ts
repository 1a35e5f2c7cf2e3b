/** The tests of a file, as far as they can be read without running it. */
export interface TestText {
  readonly tests: readonly TestReading[];
  /** The lines outside the tests, without those that only import or group. */
  readonly around: readonly string[];
}

/** One test. */
export interface TestReading {
  /** `null` if the name is computed. */
  readonly title: string | null;
  /** The called function, or the lines above a test function, without anything that a formatter may change. */
  readonly head: string;
  /** The body in the same form. */
  readonly shape: string;
}

/**
 * Reads a test file by its words, without parsing: two states of one file are compared, so the same mistake in both
 * does no harm. Comments do not count, so a test that was commented out is gone.
 */
export function readTestText(path: string, text: string): TestText {
  const code = withoutComments(path, text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text);
  const blocks = testBlocks(path, code);
  return {
    tests: blocks.map(({ title, head, body }) => ({ title, head: shapeOf(head), shape: shapeOf(body) })),
    around: outside(code, blocks)
      .split("\n")
      .map(shapeOf)
      .filter((line) =>
        // A file without tests is data, or functions for tests: all of it counts.
        blocks.length === 0 ? line !== "" : line.length > 1 && !ARRANGING.test(line) && !/^[)\]},]*$/.test(line),
      ),
  };
}

/** A shorter body resembles many others, so it does not identify a test. */
const SHORTEST_SHAPE = 20;
export const isTellingShape = (shape: string): boolean => shape.length >= SHORTEST_SHAPE;

/** Far more than any test file that a person wrote. */
const LONGEST_READ = 2_000_000;

/** Lines that only import, or name groups. */
const ARRANGING =
  /^(?:import|from\w|use(?:std|super|crate)|package|(?:const|let|var)[^=]{1,200}=(?:await)?(?:require|import)\(|(?:describe|suite|context)\(|[\w,]+$)|from"[^"]{0,300}"$/;

/** Removes white space, semicolons, the kind of quotes, trailing commas and parentheses around a single parameter. */
function shapeOf(code: string): string {
  return code
    .replace(/[\s;]+/g, "")
    .replace(/['`]/g, '"')
    .replace(/,(?=[)\]}]|$)/g, "")
    .replace(/\((\w{1,60})\)=>/g, "$1=>");
}

function outside(code: string, blocks: readonly TestBlock[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of blocks) {
    parts.push(code.slice(from, start));
    from = end;
  }
  return [...parts, code.slice(from)].join("\n");
}

function withoutComments(path: string, text: string): string {
  const isHash = /\.(?:py|rb|sh|exs?)$/.test(path);
  const code: string[] = [];
  let inBlock = false;
  for (const line of text.split("\n")) {
    const start = line.trimStart();
    const opens = !isHash && start.startsWith("/*");
    if (opens || inBlock) inBlock = !start.includes("*/");
    else if (!start.startsWith(isHash ? "#" : "//")) code.push(line);
  }
  return code.join("\n");
}

/** One test as written: its name, and everything between its brackets (in Python, below its head). */
interface TestBlock {
  /** `null` if the name is computed. */
  readonly title: string | null;
  /**
   * The called function with its properties: `test.skip`, `it.each`; for other languages, the lines above the function.
   */
  readonly head: string;
  readonly body: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the tests of a file, in order. A test inside a test is part of it. Reads brackets and words, and does not
 * parse.
 */
function testBlocks(path: string, code: string): TestBlock[] {
  if (path.endsWith(".py")) return pythonBlocks(code);
  const ends = bracketEnds(code, path);
  if (/\.(?:rs|go|java|kts?|cs)$/.test(path)) return functionBlocks(path, code, ends);
  return callBlocks(code, ends);
}

const CALL = /(?<![\w.$])(?:[xf]?it|x?test|specify)(?:\.\w{1,20}){0,3}\s{0,3}(?=[(`])/g;

function callBlocks(code: string, ends: Int32Array): TestBlock[] {
  const blocks: TestBlock[] = [];
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
    });
    from = end;
  }
  return blocks;
}

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
    });
    from = end;
  }
  return blocks;
}

/** Finds the bodies of Python functions by their indentation. */
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
    });
    at = last;
  }
  return blocks;
}

const depthOf = (line: string): number => line.length - line.trimStart().length;

/**
 * Returns for each opening bracket and backtick where it is closed; 0 if never. One pass over any text: strings,
 * comments and regular expressions are skipped.
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
    // Only a template continues after the end of its line; another quote without its closing one is an apostrophe.
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
