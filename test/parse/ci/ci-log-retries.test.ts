import { describe, expect, test } from "vitest";
import { testOutcomes, findRetries } from "../../../src/parse/ci/ci-log-retries.ts";
import { readCiLog } from "../../../src/parse/ci/ci-log.ts";

const linesOf = (text: string): string[] => text.trim().split("\n");

describe("the outcome of each test", () => {
  test("a test that failed and then passed has passed again; a test that never passed has failed", () => {
    const { failed, passedAgain } = testOutcomes(
      linesOf(`
test pool::order ... FAILED
test pool::close ... FAILED
test pool::order ... ok`),
    );
    expect([...failed.keys()]).toEqual(["\tpool::close"]);
    expect([...passedAgain]).toEqual([["\tpool::order", 2]]);
  });

  test("a name is the same test only in the same package", () => {
    const two = testOutcomes(linesOf("--- FAIL: TestNew (0s)\nFAIL\ta\t0.1s\n--- PASS: TestNew (0s)\nok  \tb\t0.1s"));
    expect([...two.failed.keys()]).toEqual(["a\tTestNew"]);
    expect(two.passedAgain.size).toBe(0);
    const one = testOutcomes(linesOf("--- PASS: TestNew (0s)\n--- FAIL: TestNew (0s)\nFAIL\ta\t0.1s"));
    expect([...one.passedAgain.keys()]).toEqual(["a\tTestNew"]);
  });

  test("a pass before a failure counts only for the same command", () => {
    const log =
      "$ go test -v\n--- PASS: TestNew (0s)\nok  \ta\t0.1s\n$ go test -v -race\n--- FAIL: TestNew (0s)\nFAIL\ta\t1s";
    expect([...testOutcomes(linesOf(log)).failed.keys()]).toEqual(["a\tTestNew"]);
    const same = testOutcomes(linesOf(log.replace(" -race", "")));
    expect(same.failed.size).toBe(0);
  });

  test("numbers of a repetition are not part of a test's name, those of a parameter are", () => {
    const log = "t.py::test_a[1] PASSED\nt.py::test_a[2] FAILED";
    expect(testOutcomes(linesOf(log)).failed.size).toBe(1);
    expect(testOutcomes(linesOf(`plugins: repeat-0.9.3\n${log}`)).passedAgain.size).toBe(1);
  });
});

describe("retried tests", () => {
  test("give no result after only one try", () => {
    expect(findRetries(linesOf("Tests:  1 failed, 3 passed, 4 total"))).toBeNull();
    expect(findRetries([])).toBeNull();
  });

  test("a passing run with as many tests is the same run; a run of others is not", () => {
    const failed = "Tests:       1 failed, 9 passed, 10 total";
    expect(findRetries([failed, "Tests:       10 passed, 10 total"])).toMatchObject({ passed: true, at: 1 });
    expect(findRetries([failed, "Tests:       14 passed, 14 total"])).toBeNull();
    expect(findRetries([failed, "second attempt", "Tests:       14 passed, 14 total"])).toMatchObject({ passed: true });
  });

  test("a test that failed each time is not flaky, even if others are", () => {
    const beside = "  1 failed\n    cart.spec.ts\n  1 flaky\n    pay.spec.ts\n  20 passed (58.2s)";
    expect(findRetries(linesOf(beside))).toMatchObject({ passed: false });
    expect(findRetries(linesOf("1 flaky test\n2 consistently failing tests"))).toMatchObject({ passed: false });
    expect(findRetries(linesOf("1 flaky test, 0 consistently failing tests"))).toMatchObject({ passed: true });
  });

  test("a title about flaky tests does not count", () => {
    expect(findRetries(["  ✓ counts a flaky test (4 ms)", "  ✕ orders flaky tests (6 ms)"])).toBeNull();
  });

  test("numbered tries count for tests, not for a download", () => {
    expect(findRetries(["suite run 1: failed", "suite run 2: passed"])).toMatchObject({ passed: true });
    expect(findRetries(["fetch attempt 1: failed", "fetch attempt 2: ok"])).toBeNull();
  });
});

describe("the explanation of a failure", () => {
  const counted = "Tests:       2 failed, 2 total";

  test("an unset variable explains failed tests, unless an assertion failed", () => {
    expect(readCiLog(`Error: BILLING_KEY is not set\n${counted}`)).toMatchObject({ class: "configuration" });
    expect(readCiLog(`Error: BILLING_KEY is not set\nAssertionError: 1 is not 2\n${counted}`)).toMatchObject({
      class: "test",
    });
  });

  test("trouble that was retried or overcome does not count if another sign explains the failure", () => {
    const again = "warning: spurious network error (3 tries remaining): connection reset";
    expect(readCiLog(`$ cargo build\n${again}\nerror: no matching package named \`x\` found`)).toMatchObject({
      class: "build",
    });
    expect(readCiLog(`$ cargo build\n${again}`)).toMatchObject({ class: "infrastructure" });
    expect(readCiLog(`$ ./warm-up\ncurl: (28) Operation timed out\n$ npm test\n${counted}`)).toMatchObject({
      class: "test",
    });
  });

  test("tests that passed in another try do not explain a later failed step", () => {
    const passed = "Tests:       10 passed, 10 total";
    const log = `$ npm test\nTests:       1 failed, 9 passed, 10 total\nretry\n${passed}\n$ npx eslint .\n✖ 1 problem (1 error)`;
    expect(readCiLog(log)).toMatchObject({ class: "lint" });
    expect(readCiLog(log.split("\n$ npx")[0]!)).toMatchObject({ class: "flaky" });
  });

  test("lines after the service's report are clean-up, except about the machine", () => {
    const failed = `${counted}\n##[error]Process completed with exit code 1.\n`;
    expect(readCiLog(`${failed}npm error code ETARGET\n`)).toMatchObject({ class: "test" });
    expect(readCiLog(`${failed}The runner has received a shutdown signal\n`)).toMatchObject({
      class: "infrastructure",
    });
  });

  test("a build step that points to a line of the repository counts as build", () => {
    const log = "$ odd-tool build\nsrc/page.odd:14 wrong shape\nfailed\nERROR: Job failed: exit code 1";
    expect(readCiLog(log)).toMatchObject({ class: "build", confidence: 0.4, step: "odd-tool build" });
    expect(readCiLog(log.replace(":14", ""))).toMatchObject({ class: "infrastructure", confidence: 0.2 });
  });
});
