import { type TestBlock, testBlocks } from "./test-blocks.ts";

/** What a file of tests holds, as far as it can be seen without running it. */
export interface TestText {
  readonly tests: readonly TestReading[];
  /** What stands outside of the tests, line by line, without what only arranges them. */
  readonly around: readonly string[];
  readonly skipped: number;
  readonly focused: number;
  readonly retried: number;
  /** Assertions outside of the tests, in functions that tests call. */
  readonly assertionsAround: number;
  readonly mutedAround: number;
  /** Functions of the file that assert for the tests that call them. */
  readonly helpers: ReadonlySet<string>;
  /** Every value that is written in it. */
  readonly literals: ReadonlySet<string>;
}

/** One test, and what can be counted in it. */
export interface TestReading {
  readonly title: string | null;
  /** The body with everything taken out that a formatter may change. */
  readonly shape: string;
  readonly words: ReadonlySet<string>;
  readonly literals: ReadonlySet<string>;
  readonly isTable: boolean;
  readonly isSkipped: boolean;
  readonly assertions: number;
  /** Assertions about the value itself, and of those the ones about a whole at once. */
  readonly exact: number;
  readonly whole: number;
  readonly loose: number;
  readonly trivial: number;
  /** Ways not to reach an assertion, or to ignore what it says. */
  readonly muted: number;
  /** Ways to end early, and assertions that only some condition lets be reached. */
  readonly conditional: number;
  /** How many rows the table has that it is run for; `null` where that cannot be seen. */
  readonly rows: number | null;
}

/**
 * Reads what a test file holds. It reads words and does not parse: what is compared are two states of one file, and
 * the same mistake in both does no harm. Lines that are comments do not count, so a test that was commented out is gone.
 */
export function readTestText(path: string, text: string): TestText {
  const code = withoutComments(path, text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text);
  const blocks = testBlocks(path, code);
  const around = outside(code, blocks);
  return {
    tests: blocks.map((block) => readBlock(path, block)),
    around: around
      .split("\n")
      .map(shapeOf)
      .filter((line) => line.length > 1 && !ARRANGING.test(line) && !/^[)\]},]*$/.test(line)),
    skipped: countOf(code, SKIPPED),
    focused: countOf(code, FOCUSED),
    retried: countOf(code, RETRIED),
    assertionsAround: countOf(around, ASSERTIONS),
    mutedAround: countOf(around, NEVER),
    helpers: new Set(countOf(around, ASSERTIONS) === 0 ? [] : [...around.matchAll(FUNCTIONS)].map(([, name]) => name!)),
    literals: literalsIn(code),
  };
}

function readBlock(path: string, { title, head, body, isTable, isLeftOut, rows }: TestBlock): TestReading {
  const { swallowed, conditional } = findSwallowedAssertions(path, body, (code) => countOf(code, ASSERTIONS));
  return {
    title,
    shape: shapeOf(body),
    words: new Set(body.match(/[A-Za-z_$][\w$]{0,100}|\d+(?:\.\d+)?/g) ?? []),
    literals: literalsIn(body),
    isTable: isTable || title === null || title.includes("${"),
    isSkipped: isLeftOut || countOf(`${head}(${body}`, SKIPPED) > 0,
    assertions: countOf(body, ASSERTIONS),
    exact: countOf(body, EXACT),
    whole: countOf(body, WHOLE),
    loose: countOf(body, LOOSE),
    trivial: countOf(body, TRIVIAL),
    muted: countOf(body, MUTED) + swallowed,
    conditional: countOf(body, GUARDS) + conditional,
    rows,
  };
}

const literalsIn = (code: string): ReadonlySet<string> =>
  new Set((code.match(LITERALS) ?? []).map((each) => each.replace(/^["'`]|["'`]$/g, "")));

const FUNCTIONS = /\b(?:function|const|let|def|func|fn) (\w{3,100})\s?[(=<]/g;

/** Far beyond any file of tests that a person wrote. */
const LONGEST_READ = 2_000_000;

/** Lines that only arrange: what is imported, and how groups are named. */
const ARRANGING =
  /^(?:import|from\w|use(?:std|super|crate)|package|(?:const|let|var)[^=]{1,200}=(?:await)?(?:require|import)\(|(?:describe|suite|context)\(|[\w,]+$)|from"[^"]{0,300}"$/;

const LITERALS = /-?\b\d+(?:\.\d+)?\b|"(?:\\.|[^"\\\n]){0,200}"|'(?:\\.|[^'\\\n]){0,200}'/g;

const SKIPPED =
  /(?<![\w.$])(?:it|test|describe|suite|context|specify|bench)(?:\.\w{1,20}){0,2}\.(?:skip|todo|fails|failing|skipIf|runIf)\b|(?<![\w.$])x(?:it|test|describe|context|specify)\b|\bskip:\s{0,5}(?:true\b|["'`!]|process\.|os\.)|\btodo:\s{0,5}true\b|\b(?:t|tc|this|ctx|context|testContext)\.(?:skip|todo)\(|\bpytest\.mark\.(?:skip|skipif|xfail)\b|\braise (?:unittest\.)?SkipTest\b|^\s{0,80}__test__\s?=\s?False\b|\bpytest\.(?:skip|xfail|importorskip)\(|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b|\bself\.skipTest\(|#\[ignore\b|\bt\.Skip(?:f|Now)?\(|@(?:Disabled|Ignore)\b/gm;

const FOCUSED =
  /(?<![\w.$])(?:it|test|describe|suite|context|specify)(?:\.\w{1,20}){0,2}\.only\b|(?<![\w.$])(?:fit|fdescribe|fcontext)\s?\(|\bonly:\s{0,5}true\b|\bfocus:\s{0,5}true\b/g;

const RETRIED =
  /\bretry:\s{0,5}[1-9]|\bretries\([1-9]|\bretryTimes\(|@pytest\.mark\.flaky\b|\bflaky\(|@RepeatedIfExceptions/g;

const ASSERTIONS =
  /(?<![\w$])expect(?:\.\w{1,30})?\s?\(|(?<![\w$])assert\w{0,40}(?:\.\w{1,40}){0,3}!?\s?\(|^\s{0,80}assert [^\n]|\bself\.fail\w{0,40}\(|\bt\.(?:Error|Fatal|Fail)\w{0,10}\(|\brequire\.\w{1,40}\(|\.should\b|\bpytest\.raises\(|\bt\.(?:is|not|like|deepEqual|equal|same|ok|throws|truthy|falsy|pass|fail)\(/gm;

const WHOLE =
  /\.to(?:Strict)?Equal\(|\.to(?:Match)?(?:Inline)?Snapshot\(|\.(?:deepEqual|deepStrictEqual|partialDeepStrictEqual)\(|\.deep\.equal\(|\bassert(?:Dict|List|Tuple|Set|Sequence)Equal\(|\bassertEqual\(|\bassert_eq!\(|\brequire\.Equal\(|\bassert\.Equal\(|\breflect\.DeepEqual\(/g;

/** A type is no value, and what something is not says little of what it is. */
const EXACT =
  /(?<!\.not)\.toBe\((?!["'](?:number|string|object|function|boolean|undefined)["'])|(?<!\.not)\.to(?:Strict)?Equal\((?!\s?expect\.any)|\.toThrow(?:Error)?\([^)\s]|\.to\.(?:be\.)?equal\(|\.toHaveBeenCalledWith\(|\.toHaveLength\(|(?<!\.not)\.(?:strictE|deepE|deepStrictE|e)qual\((?!\s?typeof\b)|\bassert(?!Not)\w{0,20}Equals?\(|\bassert_eq!\(|^\s{0,80}assert [^\n]{1,200}==|\.Equal\(|[!=]== ?/gm;

const LOOSE =
  /\.toBe(?:Defined|Truthy|Falsy|InstanceOf|TypeOf|(?:Greater|Less)Than(?:OrEqual)?)\(|\.toBe\(["'](?:number|string|object|function|boolean|undefined)["']\)|\.not\.to(?:Be(?:Null|Undefined)?|Equal|StrictEqual)\(|\.to(?:Contain|Match)\(|\.(?:not\.|not(?:Strict|Deep|DeepStrict)?)[eE]qual\(|\.(?:doesNotThrow|doesNotReject|match)\(|\.(?:strictE|e)qual\(\s?typeof\b|\.not\.toThrow|\.toThrow(?:Error)?\(\s?\)|\.toMatchObject\(|\bexpect\.(?:any|anything|objectContaining|stringContaining)\(|\bassert(?:\.ok)?\(|\bassert(?:IsNotNone|True|Is|IsInstance|In|NotEqual|Greater|GreaterEqual|Less|LessEqual|Regex)\(|^\s{0,80}assert [^\n=<>]{1,200}$|^\s{0,80}assert [^\n=<>!]{1,200}(?:[<>]=?|!=)[^\n]{1,200}$|\bassert_ne!\(|^\s{0,80}assert [^\n]{1,200} is not None|\bassert!\(|\.(?:NotNil|NotEmpty|True|NoError)\(|\.to\.(?:exist|be\.ok)\b/gm;

const TRIVIAL =
  /\bexpect\(\s?(?:true|false|null|undefined|\d+|"[^"\n]{0,40}"|'[^'\n]{0,40}')\s?\)\.|\bexpect\(\s?([\w.]{1,60}(?:\([^()\n]{0,80}\))?)\s?\)\.to\w{1,20}\(\s?\1\s?\)|\bassert(?:\.ok|\.isTrue)?!?\(\s?(?:true|1|"[^"\n]{0,40}")\s?[,)]|\bassert\w{0,20}(?:[.]\w{1,30})?!?\(\s?([\w.]{1,60}(?:\([^()\n]{0,80}\))?)\s?,\s?\2\s?[,)]|^\s{0,80}assert (?:True|1|not False)\s{0,5}$|^\s{0,80}assert ([\w.]{1,60}(?:\([^()\n]{0,80}\))?) ?== ?\3\s{0,5}$|^\s{0,80}assert [^\n]{1,200}\bor True\b|^\s{0,80}assert \([^()\n]{1,200}(?:\([^()\n]{0,100}\)[^()\n]{0,100}){0,3}, ?f?["'][^"'\n]{0,200}["']\)\s{0,5}$|\b(?:assert|expect)\w{0,20}(?:\.\w{1,30})?\([^\n]{1,200}\|\| ?true\b|^\s{0,80}expect\([^()\n]{0,200}(?:\([^()\n]{0,100}\)[^()\n]{0,100}){0,3}\)[ \t]{0,5}(?:;|$)(?!\s{0,80}\.)|\bexpect\([^\n]{1,200}\)\.(?:not\.)?to[A-Z]\w{1,30}\s{0,5}(?:;|$)|\bconsole\.assert\(|\bself\.assertTrue\(True\b|\brequire\.True\(t, true\b/gm;

const NEVER =
  /^if\s?\([^\n]{1,200}\) ?return;?\s{0,5}$|^return;?\s{0,5}$|\bif\s?\(\s?(?:false|0)\s?\)|^\s{0,80}if (?:False|0)\s?:|\bif false \{/gm;

const MUTED =
  /\bwhile\s?\(\s?(?:false|0)\s?\)|(?<![\w)\]])\[\]\.(?:forEach|map)\(|\b(?:throws|rejects)\(\s?(?:async )?\(\) =>\s?(?:assert|expect)\b|\bexpect\(\s?\(\) =>\s?(?:assert|expect)\b|\bcatch_unwind\(|\bif\s?\(\s?(?:false|0)\s?\)|^\s{0,80}if (?:False|0)\s?:|\bif false \{|\bcatch\s?(?:\([^)\n]{0,40}\))?\s?\{\s{0,20}(?:\/\/[^\n]{0,100}\n\s{0,40})?\}|\.catch\(\s?\(?\w{0,20}\)?\s?=>\s?(?:\{\s?\}|undefined|null|void 0)|\.catch\(console\.\w{1,10}\)|\bexcept\b[^:\n]{0,60}:\s{0,60}pass\b|\bcontextlib\.suppress\(|(?:^|[{;])\s{0,80}return;?\s{0,5}$/gm;

/** Ends early under a condition, on one line. */
const GUARDS =
  /&&\s{0,5}(?:assert|expect)\b|\bif\s?\([^\n]{1,200}\) ?return;?\s{0,5}$|^\s{0,80}if [^\n]{1,200}: ?return\s{0,5}$/gm;

function countOf(code: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of code.matchAll(pattern)) count++;
  return count;
}

/** Without white space, semicolons, the kind of the quotes, hanging commas and brackets around one parameter. */
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

/**
 * Assertions whose failure may be lost: inside of a `try` whose `catch` ignores the error, or inside of
 * an `if` without an `else`. It reads brackets (in Python, how far lines are set in) and does not parse.
 */
export interface SwallowedAssertions {
  readonly swallowed: number;
  readonly conditional: number;
}

function findSwallowedAssertions(
  path: string,
  body: string,
  assertions: (code: string) => number,
): SwallowedAssertions {
  return path.endsWith(".py") ? inPython(body, assertions) : inBrackets(body, assertions);
}

/** Who asserts, throws or keeps the error to look at it does not swallow it. */
const HEARS = /\b(?:throw|raise|assert\w*|expect|fail\w*|reject|done|panic!|should)\b|(?<![=!<>])=(?![=>])/;

function inBrackets(code: string, assertions: (code: string) => number): SwallowedAssertions {
  let swallowed = 0;
  let conditional = 0;
  for (const { index } of code.matchAll(/\btry\s{0,5}(?=\{)/g)) {
    const block = blockAt(code, code.indexOf("{", index), "{", "}");
    if (block === null) continue;
    const handler = /^\s{0,40}catch\s{0,5}(?:\([^)\n]{0,80}\))?\s{0,5}(?=\{)/.exec(
      code.slice(block.end + 1, block.end + 200),
    );
    if (handler === null) continue;
    const caught = blockAt(code, block.end + 1 + handler[0].length, "{", "}");
    // An empty one is told by its words alone.
    if (caught === null || caught.text.trim() === "" || HEARS.test(caught.text)) continue;
    if (assertions(block.text) > 0) swallowed++;
  }
  for (const { index } of code.matchAll(/\bif\s{0,5}(?=\()/g)) {
    const head = blockAt(code, code.indexOf("(", index), "(", ")");
    if (head === null) continue;
    const rest = code.slice(head.end + 1);
    const open = /^\s{0,20}\{/.exec(rest);
    const block = open === null ? null : blockAt(code, head.end + open[0].length, "{", "}");
    const text = block?.text ?? /^[^;\n]{0,400}/.exec(rest)![0];
    const after = block === null ? rest.slice(text.length + 1) : code.slice(block.end + 1);
    if (!/^\s{0,80}else\b/.test(after.slice(0, 100))) conditional += assertions(text);
  }
  return { swallowed, conditional };
}

/** What stands between a bracket and the one that closes it. Brackets in texts are few, and mostly in pairs. */
function blockAt(code: string, open: number, left: string, right: string): { text: string; end: number } | null {
  let depth = 0;
  for (let at = open; at < code.length && at < open + LONGEST; at++) {
    if (code[at] === left) depth++;
    else if (code[at] === right && --depth === 0) return { text: code.slice(open + 1, at), end: at };
  }
  return null;
}

const LONGEST = 20_000;

function inPython(code: string, assertions: (code: string) => number): SwallowedAssertions {
  const lines = code.split("\n");
  let swallowed = 0;
  let conditional = 0;
  lines.forEach((line, at) => {
    const head = /^(\s*)(?:try|if [^\n]{1,300}):\s*(?:#.*)?$/.exec(line);
    if (head === null) return;
    const depth = head[1]!.length;
    const block = below(lines, at, depth);
    const count = assertions(block.text);
    if (count === 0) return;
    const next = lines[block.end] ?? "";
    if (!line.trimStart().startsWith("try")) {
      if (!/^\s*(?:else|elif)\b/.test(next) || depthOf(next) !== depth) conditional += count;
      return;
    }
    if (!/^\s*except\b/.test(next)) return;
    const caught = below(lines, block.end, depth);
    // `pass` alone is told by its words.
    if (/^\s*pass\s*$/.test(caught.text) || HEARS.test(caught.text)) return;
    swallowed++;
  });
  return { swallowed, conditional };
}

function below(lines: readonly string[], at: number, depth: number): { text: string; end: number } {
  let end = at + 1;
  while (end < lines.length && (lines[end]!.trim() === "" || depthOf(lines[end]!) > depth)) end++;
  return { text: lines.slice(at + 1, end).join("\n"), end };
}

const depthOf = (line: string): number => line.length - line.trimStart().length;
