/** Long tables of cases: the test command runs every n-th, `REMAND_TESTS=all` runs all of them. */
export const sample = <T>(cases: readonly T[], every: number): readonly T[] =>
  process.env["REMAND_TESTS"] === "all" ? cases : cases.filter((_, at) => at % every === 0);
