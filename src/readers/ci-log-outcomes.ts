/** What became of the tests that a log names, over all their tries. */
export interface TestOutcomes {
  /** Tests that failed and did not pass after it, each with the line of its last failure. */
  readonly failed: ReadonlyMap<string, number>;
  /** Tests that failed at one try and passed at another, each with the last line that tells of it. */
  readonly passedAgain: ReadonlyMap<string, number>;
}

interface Seen {
  readonly name: string;
  readonly passed: boolean;
  readonly at: number;
  /** The command that the log named last: before a failure only a pass of the same command tells anything. */
  readonly command: string;
}

/**
 * A name is the same test only within one package, one binary, one environment: two packages may have a test of one
 * name. Where a tool names the package after its tests, they wait until it does.
 */
export function testOutcomes(lines: readonly string[]): TestOutcomes {
  const known: Known = { failed: new Map(), passedAgain: new Map(), passedUnder: new Map() };
  const isRepeated = lines.some((line) => REPEATS.test(line));
  let place = "";
  let command = "";
  let waiting: Seen[] = [];
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
interface Known {
  readonly failed: Map<string, number>;
  readonly passedAgain: Map<string, number>;
  readonly passedUnder: Map<string, string>;
}

function learn({ failed, passedAgain, passedUnder }: Known, place: string, seen: readonly Seen[]): void {
  for (const { name, passed, at, command } of seen) {
    const key = `${place}\t${name}`;
    if (passed) {
      passedUnder.set(key, command);
      if (failed.delete(key)) passedAgain.set(key, at);
    } else if (passedUnder.get(key) === command) passedAgain.set(key, at);
    else if (!passedAgain.has(key)) failed.set(key, at);
  }
}

/** A runner that starts another prints the other's shorter name as well. */
function outcomesOf({ failed, passedAgain }: Known): TestOutcomes {
  const again = [...passedAgain.keys()];
  const isSameTest = (key: string): boolean => again.some((name) => name.endsWith(` ${key.split("\t")[1]}`));
  return { failed: new Map([...failed].filter(([key]) => !isSameTest(key))), passedAgain };
}

/** Repetitions of one test are named apart by some tools. */
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

/** Go names a package after its tests; the others what they run before them. */
const GO_PACKAGE = /^(?:ok|FAIL)\s+(\S+)\s+(?:[\d.]+s|\(cached\))/;
const PLACES = [
  /^\s+Running (?:unittests )?(\S+ \(\S+?\))$/,
  /^(\S+): commands\[\d+\]>/,
  /^> Task (:\S+)/,
  /^Test run for (\S+)/,
];

/** Only layouts that name a test in full: a bare title may be that of another file's test. */
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
