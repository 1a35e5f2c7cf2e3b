/** What a file of tests holds, as far as it can be seen without running it. */
export interface TestText {
  /** The names of its tests, as they are written. */
  readonly titles: readonly string[];
  /** How many tests there are, those whose names are computed included. */
  readonly tests: number;
  readonly skipped: number;
  readonly focused: number;
  readonly assertions: number;
}

/**
 * Counts what a test file holds. It reads words and does not parse: what is compared are two states of one file, and
 * the same mistake in both does no harm. Lines that are comments do not count, so a test that was commented out is gone.
 */
export function readTestText(path: string, text: string): TestText {
  const code = withoutComments(path, text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text);
  const patterns = /\.(?:java|kts?|cs)$/.test(path) ? [METHODS] : TITLES;
  const titles = patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => (match[2] ?? match[1])!));
  return {
    titles,
    tests: Math.max(titles.length, countOf(code, TESTS)),
    skipped: countOf(code, SKIPPED),
    focused: countOf(code, FOCUSED),
    assertions: countOf(code, ASSERTIONS),
  };
}

/** Far beyond any file of tests that a person wrote. */
const LONGEST_READ = 2_000_000;

/** `it("…")`, `test.skip("…")`; `def test_…`; `fn …` below `#[test]`; `func Test…`. */
const TITLES = [
  /(?<![\w.$])(?:[xf]?it|x?test|specify)(?:\.\w{1,20}){0,3}\s?\(?\s{0,20}(["'`])((?:\\.|(?!\1)[^\\\n]){1,300})\1/g,
  /^\s{0,40}(?:async )?def (test\w{0,200})\s?\(/gm,
  /#\[(?:\w{1,40}::)?test[^\]]{0,100}\]\s{0,40}(?:#\[[^\]]{0,200}\]\s{0,40}){0,5}(?:pub )?(?:async )?fn (\w{1,200})/g,
  /^func (Test\w{0,200})\(/gm,
];

/** There tests are methods, told by what stands above them; all methods are taken, since losing any one would show. */
const METHODS = /\b(?:void|fun|Task) (\w{1,200})\s?\(/g;

const TESTS =
  /(?<![\w.$])(?:[xf]?it|x?test|specify)(?:\.\w{1,20}){0,3}\s?[(`]|^\s{0,40}(?:async )?def test\w{0,200}\s?\(|#\[(?:\w{1,40}::)?test\b|^func Test\w{0,200}\(|@(?:Parameterized)?Test\b/gm;

const SKIPPED =
  /(?<![\w.$])(?:it|test|describe|suite|context|specify|bench)(?:\.\w{1,20}){0,2}\.(?:skip|todo|fails|failing|skipIf|runIf)\b|(?<![\w.$])x(?:it|test|describe|context|specify)\b|\bskip:\s{0,5}(?:true|["'`])|\b(?:t|this|ctx|context)\.skip\(|@pytest\.mark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail)\(|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b|\bself\.skipTest\(|#\[ignore\b|\bt\.Skip(?:f|Now)?\(|@(?:Disabled|Ignore)\b/g;

const FOCUSED =
  /(?<![\w.$])(?:it|test|describe|suite|context|specify)(?:\.\w{1,20}){0,2}\.only\b|(?<![\w.$])(?:fit|fdescribe|fcontext)\s?\(|\bonly:\s{0,5}true\b|\bfocus:\s{0,5}true\b/g;

const ASSERTIONS =
  /(?<![\w$])expect(?:\.\w{1,30})?\s?\(|(?<![\w$])assert\w{0,40}(?:\.\w{1,40}){0,3}!?\s?\(|^\s{0,80}assert [^\n]|\bself\.(?:assert|fail)\w{0,40}\(|\bt\.(?:Error|Fatal|Fail)\w{0,10}\(|\brequire\.\w{1,40}\(|\.should\b|\bpytest\.raises\(|\bt\.(?:is|not|like|deepEqual|equal|same|ok|throws|truthy|falsy|pass|fail)\(/gm;

function countOf(code: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of code.matchAll(pattern)) count++;
  return count;
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
