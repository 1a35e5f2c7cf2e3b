/** What one run of all checks says of single tests. */
export interface SuiteResults {
  /** Every test that ran is named, in every check that ran tests. */
  readonly isNamed: boolean;
  /** How many tests of each name passed: runners may give several tests one name. */
  readonly passed: ReadonlyMap<string, number>;
  /** Names of everything that failed, tests or not. */
  readonly failed: ReadonlySet<string>;
  /** How many tests ran; `null` where the output does not say. */
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
