import { test } from "vitest";

/** `REMAND_TESTS=all` (`npm run test:all`) runs every case. The test command runs the long suites in a shortened form. */
export const runsAll = process.env["REMAND_TESTS"] === "all";

/** Long tables of cases: the test command runs every n-th. */
export const sample = <T>(cases: readonly T[], every: number): readonly T[] =>
  runsAll ? cases : cases.filter((_, at) => at % every === 0);

/** A further case of what another test shows: the test command skips it. */
export const testInFull = runsAll ? test : test.skip;
