/**
 * How much a run reports about single tests. `all`: every test by name, with its outcome. `files`: the outcome of each
 * test file or package. `counts`: only numbers, or an unfinished report. `none`: nothing.
 */
export const NAME_LEVELS = ["all", "files", "counts", "none"] as const;
export type NameLevel = (typeof NAME_LEVELS)[number];

/** `not-loaded` applies to a whole file or package: the outcome of its tests is unknown. */
export const TEST_OUTCOMES = ["passed", "failed", "skipped", "not-loaded"] as const;
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

/** One test of a run. */
export interface NamedTest {
  /** `file > test`, as in `TestIdentities`; for what did not load, the file or the package. */
  readonly identity: string;
  /** Relative to the folder of the run; `null` if the runner does not say. */
  readonly file: string | null;
  readonly outcome: TestOutcome;
  /** How many tests have this identity, if more than one. `outcome` is then the worst of theirs. */
  readonly count?: number;
}

/** What one run of a check reports about its tests, by name. */
export interface TestNames {
  readonly level: NameLevel;
  /** The runners that reported. */
  readonly runners: readonly string[];
  /** Sorted by identity. Below the level `all`, any test may be missing. */
  readonly tests: readonly NamedTest[];
}

export const NO_TEST_NAMES: TestNames = { level: "none", runners: [], tests: [] };

/**
 * Removes from a test's name what differs between runs or checkouts: line numbers of doctests, addresses, UUIDs, times,
 * temporary folders, and the number that Go appends to a name in use.
 */
export function normalizedTestName(name: string): string {
  let plain = name.slice(0, LONGEST_NAME);
  // A removal may join two parts into something to remove. Each round shortens the name, so this ends.
  for (;;) {
    const next = withoutChanging(plain);
    if (next === plain) return plain;
    plain = next;
  }
}

function withoutChanging(name: string): string {
  return name
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?\(line \d{1,7}\)/g, "")
    .replaceAll(/\b0x[0-9a-fA-F]{6,16}\b/g, "<address>")
    .replaceAll(/\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b/g, "<uuid>")
    .replaceAll(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, "<time>")
    .replaceAll(/\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?/g, "<time>")
    .replaceAll(TEMPORARY, "<tmp>")
    .replaceAll(/#\d\d\b(?=\/|$)/g, "")
    .trim();
}

/** A path in a folder for temporary files: the rest of the path is new in each run. */
const TEMPORARY =
  /(?:\/private)?(?:\/tmp|\/var\/tmp|\/var\/folders\/[\w+]{1,20}\/[\w+]{1,60}\/T)\/[\w./@+-]{1,300}|[A-Za-z]:\\Users\\[^\\ ]{1,60}\\AppData\\Local\\Temp\\[\w.\\@+-]{1,300}/g;

const LONGEST_NAME = 2000;

const WORST_FIRST: readonly TestOutcome[] = ["not-loaded", "failed", "skipped", "passed"];

/** Merges tests with the same identity, and sorts them. */
export function distinctTests(tests: Iterable<NamedTest>): NamedTest[] {
  const byIdentity = new Map<string, NamedTest>();
  for (const test of tests) {
    const known = byIdentity.get(test.identity);
    if (known === undefined) byIdentity.set(test.identity, test);
    else
      byIdentity.set(test.identity, {
        ...known,
        outcome: WORST_FIRST.find((outcome) => outcome === known.outcome || outcome === test.outcome)!,
        count: (known.count ?? 1) + (test.count ?? 1),
      });
  }
  return [...byIdentity.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

/** What one run of all checks reports about single tests. */
export interface SuiteResults {
  /** Whether every check that ran tests names each of them. */
  readonly isNamed: boolean;
  /** How many tests of each name passed: runners may give several tests the same name. */
  readonly passed: ReadonlyMap<string, number>;
  /** Names of everything that failed, tests or not. */
  readonly failed: ReadonlySet<string>;
  /** How many tests ran; `null` if the output does not say. */
  readonly ran: number | null;
}

export function suiteResultsText({ isNamed, passed, failed, ran }: SuiteResults): string {
  return JSON.stringify({ isNamed, ran, passed: [...passed], failed: [...failed] });
}

/** Reads what `suiteResultsText` wrote; `null` for anything else. */
export function readSuiteResults(text: string): SuiteResults | null {
  try {
    const { isNamed, ran, passed, failed } = JSON.parse(text) as {
      isNamed: boolean;
      ran: number | null;
      passed: [string, number][];
      failed: string[];
    };
    return { isNamed, ran, passed: new Map(passed), failed: new Set(failed) };
  } catch {
    return null;
  }
}
