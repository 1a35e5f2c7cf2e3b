/** What a log shows about tests that ran more than once. */
export interface Retries {
  /** Whether everything that failed passed in another try on the same tree. */
  readonly passed: boolean;
  readonly shows: string;
  /** The last line that shows it. */
  readonly at: number;
}

/**
 * Finds flaky tests. A failure is flaky only if one tree gave two results: a test passed in another try, and no test
 * failed in each of its tries. `null` if the log shows no second try.
 */
export function findRetries(lines: readonly string[]): Retries | null {
  const outcomes = testOutcomes(lines);
  const gateAt = lines.findLastIndex((line) => !isName(line) && NONE_FAILED_EACH_TIME.test(line));
  const runAt = passedRunAgain(lines);
  const namedAt = Math.max(-1, ...outcomes.passedAgain.values());
  const cleanAt = lines.findLastIndex((line) => ALL_PASSED.test(line));
  const markedAt = lines.findLastIndex(
    (line, at) => MARKED.test(line) || (!isName(line) && SAID.test(line)) || (at < cleanAt && RETRIED.test(line)),
  );
  const at = Math.max(gateAt, runAt, namedAt, markedAt, numberedTries(lines));
  if (at < 0) return null;
  const neverAt = lines.findLastIndex((line) => NEVER_PASSED.test(line));
  const stillFailed = [...outcomes.failed.values()].some((failedAt) => failedAt > runAt);
  const countedAt = lines.findLastIndex((line) => COUNTED_FAILED.test(line));
  const isHard = (): boolean => {
    if (neverAt >= 0) return true;
    if (gateAt >= 0) return false;
    if (stillFailed) return true;
    return namedAt < 0 && countedAt > Math.max(runAt, cleanAt);
  };
  if (isHard()) return { passed: false, shows: "a test failed at each of its tries", at };
  return { passed: true, shows: "what failed passed when it was run again", at };
}

/**
 * Finds numbered tries of which some passed and some failed. The log must mention tests, because downloads are retried
 * as well.
 */
function numberedTries(lines: readonly string[]): number {
  const passedAt = lines.findLastIndex((line) => NUMBERED.exec(line)?.[1] !== undefined);
  const failedAt = lines.findLastIndex((line) => NUMBERED.exec(line)?.[2] !== undefined);
  const isOfTests = lines.some((line) => /\b(?:tests?|specs?|suites?|checks)\b/i.test(line));
  return passedAt >= 0 && failedAt >= 0 && isOfTests ? Math.max(passedAt, failedAt) : -1;
}

const NUMBERED =
  /\b(?:run|attempt|try|iteration|round) ?#?\d+(?: ?(?:\/|of) ?\d+)?\b.{0,30}?\b(?:(pass(?:ed)?|ok|green|success(?:ful)?|succeeded)|(fail(?:ed|ure)?|red|not ok))\b/i;

/** Whether a line is about a single test, so that its text is the test's title. */
function isName(line: string): boolean {
  return /^\s*(?:[✓✔√✕✗✘×●•›]|PASS\b|FAIL\b|(?:not )?ok\b|--- |=== RUN|test \S+ \.\.\.|\d+\) )/.test(line);
}

/**
 * Finds a whole run that failed, followed by one that passed with as many tests, or that is called another try. A run
 * of another package says nothing about the first.
 */
function passedRunAgain(lines: readonly string[]): number {
  const failedAt = lines.findLastIndex((line) => COUNTED_FAILED.test(line));
  const passedAt = lines.findLastIndex((line, at) => at > failedAt && ALL_PASSED.test(line));
  if (failedAt < 0 || passedAt < 0) return -1;
  const between = lines.slice(failedAt + 1, passedAt + 1);
  if (between.some((line) => FAILED_BEHIND.test(line))) return -1;
  const isCalledSo = between.some((line) => CALLED_ANOTHER_TRY.test(line));
  const total = totalIn(lines[failedAt]!);
  return isCalledSo || (total !== null && total === totalIn(lines[passedAt]!)) ? passedAt : -1;
}

/** Returns how many tests a runner's last line counts. */
function totalIn(line: string): number | null {
  const [, total] = /(\d+) total|Total: +(\d+)|Tests run: (\d+)|^(\d+) tests?\b|\((\d+)\)$/.exec(line) ?? [];
  if (total !== undefined) return Number(total);
  const parts = [...line.matchAll(/(\d+) (?:failed|passed|failures?|passing|failing|errors?)\b/g)];
  return parts.length === 0 ? null : parts.reduce((sum, [, count]) => sum + Number(count), 0);
}

const CALLED_ANOTHER_TRY =
  /\b(?:attempt|try|run|pass) ?#?[2-9]\b|\bretry|\bre-?run|\bagain\b|second (?:try|attempt|run)|--(?:failed|last-failed|lf|only-failures|rerun)\b/i;
/** The failure of one part of a larger run: what passes after it is another part. */
const FAILED_BEHIND =
  /^error: (?:\d+ targets? failed|test failed)|^\S+: (?:commands\[\d|exit [1-9]|FAIL\b)|^(?:npm error|npm ERR!) workspace/;

/** Marks with which runners show that a test passed in another try. */
const MARKED =
  /\bFlakes: [1-9]|^\s*FLAKY \d+\/\d+|FLAKEY TEST|\bTRY [2-9] PASS\b|^\s*[✓✔].*\(retry (?:x|#)[1-9]\d*\)|PASSED .{0,60}\([1-9]\d* retries\)|\bRun [2-9]: PASS|\b[1-9]\d* rerun\b|FLAKY, failed in \d+ out of|\b[1-9]\d* Flaked\b|::\S+ RERUN\b/;

/** A test was retried. The result of the whole run shows whether it passed. */
const RETRIED = /\[MinitestRetry\] retry|^\s*RETRY ERRORS\b|\(Attempt \d+ of \d+\)|RSpec::Retry:|retry #\d/;

/** What projects' own tools print about such tests. */
const SAID =
  /^(?!.*\b(?:no|0|zero|without|not) (?:\w+ )?(?:flak|unstable|non-?determin)).*(?:\bflak(?:y|e|es|ey|iness)\b|pass(?:ed|es) (?:only )?(?:on|after|at|in|when) (?:a |the |its |\d+ )?(?:second|another|re-?(?:run|try)|retr|attempt)|(?:succeeded|passed) after (?:\d+ )?retr|fail(?:ed|s)?\b.{0,60}\b(?:then|later|and) pass|run \d+:? FAIL.{0,20}run \d+:? PASS|not deterministic|non-?deterministic|\bunstable\b|different (?:results?|outcomes?) (?:on|for|of|at) the same|mixed results|needed (?:a second|another|more than one) (?:try|attempt|run)|attempts? to pass|retr(?:ied|y) tests?: [1-9]|(?:retry|rerun|attempt) [#\d]+(?: of \d+)?:? .{0,80}pass(?:ed)?)/i;

/** The job fails for tests that only pass in another try, and the log says that no test failed in every try. */
const NONE_FAILED_EACH_TIME =
  /[1-9]\d* flaky\b.{0,40}\b0 (?:\w+ )?fail|flak(?:e|y|iness) (?:gate|policy|check|guard|budget)|not accept flaky|FLAKY (?:targets|tests)|flaky (?:tests?|examples?|specs?|scenarios?) ?(?:found|detected|\(|:)|passed only (?:after|on|when|at)|(?:failed|blocked|blocking) (?:because of|for|while .{0,40}) ?flak|quarantin|failed at first, passed|no (?:test|spec|example)s? failed (?:on|in|at) (?:every|all|each)|\b0 (?:\w+ ){0,2}(?:failed (?:in|on) (?:all|every)|consistently)|failOn(?:PassedAfterRetry|FlakeCount) is|different (?:results?|outcomes?) (?:on|for|of|at) the same/i;

/** The log says that something failed in every try. */
const NEVER_PASSED =
  /^(?!.*\b(?:no|0|zero|not) ).*(?:\b[1-9]\d* consistently fail|failed (?:on|in|at) (?:every|all|each) (?:of |its )?(?:\d+ )?(?:run|attempt|tr)|Final attempt failed|all \d+ attempts failed|(?:retries|attempts) exhausted)|\b[1-9]\d* failed\b.{0,40}\b[1-9]\d* flaky|\b[1-9]\d* flaky\)?,? .{0,20}\b[1-9]\d* failed/i;

/** A runner's count of a whole run, with failures in it. */
const COUNTED_FAILED =
  /\bTests?:?\s+(?:\d+ (?:passed|skipped|todo)[,|] *)*[1-9]\d* failed|= (?:.{0,80}, )?[1-9]\d* (?:failed|errors?)\b.{0,80}=|FAILED \((?:failures|errors)=|test result: FAILED|^#\s*fail [1-9]|ℹ fail [1-9]|^\s*[1-9]\d* failing\b|(?:examples?|scenarios?|specs?|tests?|runs)\b.{0,40}, [1-9]\d* (?:failures?|failed)|FAILURES!|Failed!\s+- Failed:\s+[1-9]|^\s*[1-9]\d* failed\b|Tests run: \d+, Failures: (?:[1-9]|\d+, Errors: [1-9])|[1-9]\d* tests? failed out of|Executed \d+ (?:tests?, with [1-9]|of \d+ .{0,40}\([1-9]\d* FAILED\))|TOTAL: [1-9]\d* FAILED/i;

/** A runner's summary: everything passed. */
export const ALL_PASSED =
  /\bTests?:? +\d+ passed(?:,? \(?\d+(?: total)?\)?)?$|Test (?:Files|Suites):? +\d+ passed|= \d+ passed.{0,120}=$|^\d+ passed\b(?!.*[1-9]\d* (?:failed|errors?))|^\s*\d+ passing\b|^OK \(\d+ tests?|test result: ok\.|^#\s*fail 0$|ℹ fail 0$|Failures: 0, Errors: 0|\d+ (?:examples?|tests?|specs?|scenarios?), 0 failures|100% tests passed|All specs passed|\d+ tests? pass(?:ed)?\.$|^Passed!|^(?!.*[1-9]\d* (?:failed|failures?|errors?|failing)\b).*\b0 (?:failed|failures?|failing)\b|\ball (?:\d+ )?tests? passed|BUILD SUCCESSFUL/i;

/** The outcomes of the tests that a log names, over all their tries. */
export interface TestOutcomes {
  /** Tests that failed and did not pass later, each with the line of its last failure. */
  readonly failed: ReadonlyMap<string, number>;
  /** Tests that failed in one try and passed in another, each with the last line that shows it. */
  readonly passedAgain: ReadonlyMap<string, number>;
}

interface SeenTest {
  readonly name: string;
  readonly passed: boolean;
  readonly at: number;
  /**
   * The last command that the log named before it: a pass before a failure counts only if both have the same command.
   */
  readonly command: string;
}

/**
 * Reads the outcomes of the tests in a log. A name means the same test only within one package, binary and environment,
 * because two packages may have tests of the same name. If a tool names the package after its tests, their outcomes are
 * kept until then.
 */
export function testOutcomes(lines: readonly string[]): TestOutcomes {
  const known: KnownTests = { failed: new Map(), passedAgain: new Map(), passedUnder: new Map() };
  const isRepeated = lines.some((line) => REPEATS.test(line));
  let place = "";
  let command = "";
  let waiting: SeenTest[] = [];
  for (const [at, line] of lines.entries()) {
    command = COMMAND.exec(line)?.[1] ?? command;
    const behind = GO_PACKAGE.exec(line)?.[1];
    const ahead = PLACES.map((pattern) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
    if (behind !== undefined || ahead !== undefined) {
      learn(known, behind ?? place, waiting);
      waiting = [];
      place = ahead ?? place;
    }
    const seen = seenIn(line);
    if (seen !== null) waiting.push({ ...seen, name: oneName(seen.name, isRepeated), at, command });
  }
  learn(known, place, waiting);
  return outcomesOf(known);
}

/** What is known of each test so far. */
interface KnownTests {
  readonly failed: Map<string, number>;
  readonly passedAgain: Map<string, number>;
  readonly passedUnder: Map<string, string>;
}

function learn({ failed, passedAgain, passedUnder }: KnownTests, place: string, seen: readonly SeenTest[]): void {
  for (const { name, passed, at, command } of seen) {
    const key = `${place}\t${name}`;
    if (passed) {
      passedUnder.set(key, command);
      if (failed.delete(key)) passedAgain.set(key, at);
    } else if (passedUnder.get(key) === command) passedAgain.set(key, at);
    else if (!passedAgain.has(key)) failed.set(key, at);
  }
}

/**
 * Removes failures of tests that passed under a longer name: a runner that starts another also prints the other's
 * shorter name.
 */
function outcomesOf({ failed, passedAgain }: KnownTests): TestOutcomes {
  const again = [...passedAgain.keys()];
  const isSameTest = (key: string): boolean => again.some((name) => name.endsWith(` ${key.split("\t")[1]}`));
  return { failed: new Map([...failed].filter(([key]) => !isSameTest(key))), passedAgain };
}

/** Gives repetitions of one test the same name: some tools number them. */
function oneName(name: string, isRepeated: boolean): string {
  const one = name.trim().replace(/\brepetition \d+ of \d+/, "repetition");
  return isRepeated ? one.replace(/\[\d+(?:-\d+)?\]$/, "") : one;
}

const REPEATS = /^plugins: .*\b(?:repeat|flakefinder)-/;
const COMMAND = /^(?:##\[group\]Run |Run (?=[a-z./])|\$ |\+ )(\S.*)$/;

function seenIn(line: string): { readonly name: string; readonly passed: boolean } | null {
  for (const { pattern, passed } of OUTCOMES) {
    const [, name] = pattern.exec(line) ?? [];
    if (name !== undefined) return { name, passed };
  }
  return null;
}

/** Go names a package after its tests; other tools name it before them. */
const GO_PACKAGE = /^(?:ok|FAIL)\s+(\S+)\s+(?:[\d.]+s|\(cached\))/;
const PLACES = [
  /^\s+Running (?:unittests )?(\S+ \(\S+?\))$/,
  /^(\S+): commands\[\d+\]>/,
  /^> Task (:\S+)/,
  /^Test run for (\S+)/,
];

/** Only forms with the full name of a test: a bare title may belong to a test in another file. */
const OUTCOMES: readonly { readonly pattern: RegExp; readonly passed: boolean }[] = [
  { passed: true, pattern: /^\s*--- PASS: (\S+)/ },
  { passed: false, pattern: /^\s*--- FAIL: (\S+)/ },
  { passed: true, pattern: /^test (\S.*?) \.\.\. ok$/ },
  { passed: false, pattern: /^test (\S.*?) \.\.\. FAILED$/ },
  { passed: true, pattern: /^\s*(?:TRY \d+ )?PASS \[ *[\d.]+s\] (?:\([ \d/]+\) )?(\S.*)$/ },
  { passed: true, pattern: /^\s*FLAKY \d+\/\d+ \[ *[\d.]+s\] (?:\([ \d/]+\) )?(\S.*)$/ },
  { passed: false, pattern: /^\s*(?:TRY \d+ )?(?:FAIL|TIMEOUT|SIGABRT) \[ *[\d.]+s\] (?:\([ \d/]+\) )?(\S.*)$/ },
  { passed: true, pattern: /^(\S+ > .+?) PASSED$/ },
  { passed: false, pattern: /^(\S+ > .+?) FAILED$/ },
  { passed: true, pattern: /^(\S+::\S.*?) PASSED\b/ },
  { passed: false, pattern: /^(\S+::\S.*?) (?:FAILED|RERUN)\b/ },
  { passed: true, pattern: /^Test Case '(.{1,200}?)' passed\b/ },
  { passed: false, pattern: /^Test Case '(.{1,200}?)' failed\b/ },
  { passed: true, pattern: /^ {2}Passed (\S+\.\S+) \[/ },
  { passed: false, pattern: /^ {2}Failed (\S+\.\S+) \[/ },
  { passed: true, pattern: /^PASS (?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \(|$)/ },
  { passed: false, pattern: /^FAIL (?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \(|$)/ },
  { passed: true, pattern: /^\[\d+-\d+\] PASSED in .* (?:- )?(\S+)$/ },
  { passed: false, pattern: /^\[\d+-\d+\] (?:FAILED|RETRYING) in .* (?:- )?(\S+)$/ },
  { passed: true, pattern: /Test +#\d+: (\S+) \.+ +Passed/ },
  { passed: false, pattern: /Test +#\d+: (\S+) \.+\*\*\*/ },
];
