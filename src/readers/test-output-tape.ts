import { testCounts, testFailure, type OutputFailure, type PassedTest, type Recognised } from "./test-output-parts.ts";
import { isTape, yamlBlock } from "./test-output-tap.ts";

/**
 * tape prints a line for each assertion, and a comment with the name of the test in front of them:
 * ```
 * # removes an item
 * ok 1 should be strictly equal
 * not ok 2 should be empty
 * # tests 2
 * # pass  1
 * ```
 */
export function readTape(lines: readonly string[]): Recognised | null {
  if (!isTape(lines)) return null;
  const tests = new Map<string, { file: string | null; failure: OutputFailure | null }>();
  let name = "";
  for (const [at, line] of lines.entries()) {
    const comment = /^# (?!(?:tests|pass|fail|skip|todo)\s+\d+$|ok$)(.+)$/.exec(line);
    if (comment !== null) name = comment[1]!.trim();
    const assertion = /^(not )?ok \d+(?: (?:- )?(.*))?$/.exec(line);
    if (assertion === null || /# (?:SKIP|TODO)\b/i.test(line)) continue;
    const said = assertion[2]?.trim() ?? "";
    const test = name === "" ? said : name;
    const known = tests.get(test) ?? { file: null, failure: null };
    tests.set(test, known);
    if (assertion[1] === undefined || known.failure !== null) continue;
    const { message, place, detail } = yamlBlock(lines, at + 1);
    known.failure = testFailure(
      test,
      [said, message].filter((part) => part !== "").join(": ") || "failed",
      place,
      detail,
    );
  }
  const failures = [...tests.values()].flatMap(({ failure }) => failure ?? []);
  const passed = [...tests].flatMap(([test, { failure }]): PassedTest[] =>
    failure === null ? [{ test, file: null }] : [],
  );
  return {
    runner: "tape",
    counts: testCounts(passed.length, failures.length, 0),
    isCountedByLine: true,
    ranTests: tests.size > 0,
    failures,
    passed,
  };
}
