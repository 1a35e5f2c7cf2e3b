import { testBlocks, type TestBlock } from "./test-blocks.ts";

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
    tests: blocks.map(readBlock),
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

function readBlock({ title, head, body, isTable }: TestBlock): TestReading {
  return {
    title,
    shape: shapeOf(body),
    words: new Set(body.match(/[A-Za-z_$][\w$]{0,100}|\d+(?:\.\d+)?/g) ?? []),
    literals: literalsIn(body),
    isTable: isTable || title === null || title.includes("${"),
    isSkipped: countOf(`${head}(${body}`, SKIPPED) > 0,
    assertions: countOf(body, ASSERTIONS),
    exact: countOf(body, EXACT),
    whole: countOf(body, WHOLE),
    loose: countOf(body, LOOSE),
    trivial: countOf(body, TRIVIAL),
    muted: countOf(body, MUTED),
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
  /(?<![\w.$])(?:it|test|describe|suite|context|specify|bench)(?:\.\w{1,20}){0,2}\.(?:skip|todo|fails|failing|skipIf|runIf)\b|(?<![\w.$])x(?:it|test|describe|context|specify)\b|\bskip:\s{0,5}(?:true\b|["'`!]|process\.|os\.)|\btodo:\s{0,5}true\b|\b(?:t|this|ctx|context)\.(?:skip|todo)\(|@pytest\.mark\.(?:skip|skipif|xfail)\b|\bpytestmark\s?=\s?pytest\.mark\.(?:skip|xfail)|\bpytest\.(?:skip|xfail|importorskip)\(|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b|\bself\.skipTest\(|#\[ignore\b|\bt\.Skip(?:f|Now)?\(|@(?:Disabled|Ignore)\b/g;

const FOCUSED =
  /(?<![\w.$])(?:it|test|describe|suite|context|specify)(?:\.\w{1,20}){0,2}\.only\b|(?<![\w.$])(?:fit|fdescribe|fcontext)\s?\(|\bonly:\s{0,5}true\b|\bfocus:\s{0,5}true\b/g;

const RETRIED =
  /\bretry:\s{0,5}[1-9]|\bretries\([1-9]|\bretryTimes\(|@pytest\.mark\.flaky\b|\bflaky\(|@RepeatedIfExceptions/g;

const ASSERTIONS =
  /(?<![\w$])expect(?:\.\w{1,30})?\s?\(|(?<![\w$])assert\w{0,40}(?:\.\w{1,40}){0,3}!?\s?\(|^\s{0,80}assert [^\n]|\bself\.fail\w{0,40}\(|\bt\.(?:Error|Fatal|Fail)\w{0,10}\(|\brequire\.\w{1,40}\(|\.should\b|\bpytest\.raises\(|\bt\.(?:is|not|like|deepEqual|equal|same|ok|throws|truthy|falsy|pass|fail)\(/gm;

const WHOLE =
  /\.to(?:Strict)?Equal\(|\.to(?:Match)?(?:Inline)?Snapshot\(|\.(?:deepEqual|deepStrictEqual|partialDeepStrictEqual)\(|\.deep\.equal\(|\bassert(?:Dict|List|Tuple|Set|Sequence)Equal\(|\bassertEqual\(|\bassert_eq!\(|\brequire\.Equal\(|\bassert\.Equal\(|\breflect\.DeepEqual\(/g;

const EXACT =
  /\.toBe\(|\.to(?:Strict)?Equal\(|\.toThrow(?:Error)?\([^)\s]|\.to\.(?:be\.)?equal\(|\.toHaveBeenCalledWith\(|\.toHaveLength\(|\.(?:strictE|deepE|deepStrictE|e)qual\(|\bassert\w{0,20}Equals?\(|\bassert_eq!\(|^\s{0,80}assert [^\n]{1,200}==|\.Equal\(|[!=]== ?/gm;

const LOOSE =
  /\.toBe(?:Defined|Truthy|Falsy|InstanceOf)\(|\.not\.toBe(?:Null|Undefined)\(|\.not\.toThrow|\.toThrow(?:Error)?\(\s?\)|\.toMatchObject\(|\bexpect\.(?:any|anything|objectContaining|stringContaining)\(|\bassert(?:\.ok)?\(|\bassert(?:IsNotNone|True|Is|IsInstance|In)\(|^\s{0,80}assert [^\n=<>]{1,200}$|^\s{0,80}assert [^\n]{1,200} is not None|\bassert!\(|\.(?:NotNil|NotEmpty|True|NoError)\(|\.to\.(?:exist|be\.ok)\b/gm;

const TRIVIAL =
  /\bexpect\(\s?(?:true|false|null|undefined|\d+|"[^"\n]{0,40}"|'[^'\n]{0,40}')\s?\)\.|\bexpect\(\s?([\w.]{1,60})\s?\)\.to\w{1,20}\(\s?\1\s?\)|\bassert(?:\.ok|\.isTrue)?!?\(\s?(?:true|1|"[^"\n]{0,40}")\s?[,)]|\bassert\w{0,20}(?:[.]\w{1,30})?!?\(\s?([\w.]{1,60})\s?,\s?\2\s?[,)]|^\s{0,80}assert (?:True|1|not False)\s{0,5}$|^\s{0,80}assert ([\w.]{1,60}) ?== ?\3\s{0,5}$|\bself\.assertTrue\(True\b|\brequire\.True\(t, true\b/gm;

const NEVER = /\bif\s?\(\s?(?:false|0)\s?\)|^\s{0,80}if (?:False|0)\s?:|\bif false \{/gm;

const MUTED =
  /\bif\s?\(\s?(?:false|0)\s?\)|^\s{0,80}if (?:False|0)\s?:|\bif false \{|\bcatch\s?(?:\([^)\n]{0,40}\))?\s?\{\s{0,20}(?:\/\/[^\n]{0,100}\n\s{0,40})?\}|\.catch\(\s?\(?\w{0,20}\)?\s?=>\s?(?:\{\s?\}|undefined|null|void 0)|\bexcept\b[^:\n]{0,60}:\s{0,60}pass\b|\bcontextlib\.suppress\(|(?:^|[{;])\s{0,80}return;?\s{0,5}$/gm;

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
