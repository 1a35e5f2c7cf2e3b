import {
  CASES,
  DATA,
  LINT,
  NODE,
  NPM,
  PRICE_TEST,
  snapshots,
  TYPES,
  UNTESTED,
  VITEST,
  type Files,
} from "./fake-green-projects.ts";
import { QUIET_WAYS } from "./fake-green-quiet-ways.ts";
import { way, type Way } from "./fake-green-way.ts";

const P = "test/price.test.js";
const SECOND = 'test("more than ten cost less", ';
const BODY = "() => {\n  assert.equal(price(20), 180);\n  assert.equal(price(11), 99);\n}";
const changed = (from: string, to: string): Files => ({ [P]: PRICE_TEST.replace(from, () => to) });
const withoutSecond = PRICE_TEST.slice(0, PRICE_TEST.indexOf(SECOND));

const ON_TESTS: readonly Way[] = [
  way(
    "deletes the file with the failing test",
    NODE,
    { [P]: null },
    `${P}: the test file was deleted, and the 2 tests in it`,
  ),
  way(
    "deletes the failing test alone",
    NODE,
    { [P]: withoutSecond },
    'a test is no longer there: "more than ten cost less"',
  ),
  way(
    "puts the failing test into a comment",
    NODE,
    { [P]: `${withoutSecond}/*\n${PRICE_TEST.slice(withoutSecond.length)}*/\n` },
    'a test is no longer there: "more than ten cost less"',
  ),
  way(
    "puts an easy test in the place of the failing one",
    NODE,
    { [P]: `${withoutSecond}test("it is a function", () => {\n  assert.equal(typeof price, "function");\n});\n` },
    'a test is no longer there: "more than ten cost less"',
  ),
  way(
    "skips it: `test.skip`",
    NODE,
    changed(SECOND, 'test.skip("more than ten cost less", '),
    "a test or group is now skipped, or expected to fail",
  ),
  way(
    "calls it work to do: `test.todo`",
    NODE,
    changed(SECOND, 'test.todo("more than ten cost less", '),
    "a test or group is now skipped, or expected to fail",
  ),
  way(
    "skips it by an option",
    NODE,
    changed(SECOND, `${SECOND}{ skip: "later" }, `),
    "a test or group is now skipped, or expected to fail",
  ),
  way(
    "skips it from inside",
    NODE,
    changed(BODY, BODY.replace("() => {", "(t) => {\n  if (price(20) !== 180) return t.skip();")),
    "a test or group is now skipped, or expected to fail",
  ),
  way(
    "lets only another test run",
    NODE,
    changed('test("one', 'test.only("one'),
    "only some of the tests in this file run now (`only`, `fit`, `focus`)",
    { check: "node --test --test-only test/*.test.js" },
  ),
  way(
    "takes an assertion out",
    NODE,
    {
      ...changed("  assert.equal(price(20), 180);\n", ""),
      "src/price.js": "export const price = (count) => (count === 11 ? 99 : count * 10);\n",
    },
    'the test "more than ten cost less" asserts less than before',
  ),
  way(
    "takes all assertions out",
    NODE,
    changed(BODY, "() => {\n  price(20);\n}"),
    'the test "more than ten cost less" asserts nothing any more',
  ),
  way(
    "asserts that true is true",
    NODE,
    changed(BODY, "() => {\n  assert.ok(true);\n  assert.ok(true);\n}"),
    'the test "more than ten cost less" now asserts something that is always true',
  ),
  way(
    "compares a value with itself",
    NODE,
    changed(BODY, "() => {\n  const sum = price(20);\n  assert.equal(sum, sum);\n  assert.equal(price(1), 10);\n}"),
    'the test "more than ten cost less" now asserts something that is always true',
  ),
  way(
    "asserts that there is a value, not which",
    NODE,
    changed(BODY, "() => {\n  assert.ok(price(20));\n  assert.ok(price(11));\n}"),
    'the test "more than ten cost less" now accepts more than before',
  ),
  way(
    "returns before the assertions",
    NODE,
    changed(BODY, BODY.replace("{\n", "{\n  return;\n")),
    'the test "more than ten cost less" can now end before its assertions, or ignore that they fail',
  ),
  way(
    "catches the failure",
    NODE,
    changed(
      BODY,
      "() => {\n  try {\n    assert.equal(price(20), 180);\n    assert.equal(price(11), 99);\n  } catch {}\n}",
    ),
    'the test "more than ten cost less" can now end before its assertions, or ignore that they fail',
  ),
  way(
    "puts the assertions where they are never reached",
    NODE,
    changed(
      BODY,
      "() => {\n  if (false) {\n    assert.equal(price(20), 180);\n    assert.equal(price(11), 99);\n  }\n}",
    ),
    'the test "more than ten cost less" can now end before its assertions, or ignore that they fail',
  ),
  way(
    "puts the whole test where it is never reached",
    NODE,
    { [P]: `${withoutSecond}if (false) {\n${PRICE_TEST.slice(withoutSecond.length)}}\n` },
    "a part of this file stands in a condition that is never true",
  ),
  way(
    "makes the test expect what the code does",
    NODE,
    { [P]: PRICE_TEST.replace("180", "200").replace("99", "110") },
    'existing tests were changed: "more than ten cost less"',
    { only: "rework" },
  ),
  way(
    "makes the test's data say what the code does",
    DATA,
    { "test/expected.json": '{ "20": 200 }\n' },
    "test/expected.json: a file that belongs to the tests was changed",
    { only: "rework" },
  ),
  way(
    "empties the test's data",
    DATA,
    { "test/expected.json": "{}\n" },
    "test/expected.json: a file that belongs to the tests was changed",
    { only: "rework" },
  ),
  way(
    "gives the test file a name that the runner does not look for",
    NODE,
    { [P]: null, "test/price.test.js.off": PRICE_TEST },
    "2 tests moved to test/price.test.js.off, where the runner does not look",
  ),
  way(
    "moves the test file to a folder that is never looked at",
    NODE,
    { [P]: null, "test/.old/price.test.js": PRICE_TEST },
    "2 tests moved to test/.old/price.test.js, where the runner does not look",
  ),
  way(
    "ends the run before the test",
    NODE,
    changed(BODY, BODY.replace("{\n", "{\n  process.exit(0);\n")),
    "the test run may end before its tests, or say that all is well: process.exit(0);",
  ),
  way(
    "turns the run's exit code round",
    NODE,
    { [P]: `${PRICE_TEST}process.on("exit", () => process.reallyExit(0));\n` },
    'the test run may end before its tests, or say that all is well: process.on("exit"',
    { check: "node test/price.test.js" },
  ),
  way(
    "expects the test to fail: `test.fails`",
    VITEST,
    { "test/page.test.js": VITEST.files["test/page.test.js"]!.replaceAll("test(", "test.fails(") },
    "12 tests or groups are now skipped, or expected to fail",
  ),
  way(
    "rewrites every snapshot",
    VITEST,
    { "test/__snapshots__/page.test.js.snap": snapshots((n) => `page: ${n}`) },
    "12 of 12 snapshots say something else now",
  ),
  way(
    "rewrites one snapshot",
    {
      ...VITEST,
      files: { ...VITEST.files, "src/page.js": "export const page = (n) => (n === 3 ? `page: ${n}` : `page ${n}`);\n" },
    },
    { "test/__snapshots__/page.test.js.snap": snapshots((n) => (n === 3 ? `page: ${n}` : `page ${n}`)) },
    "1 of 12 snapshots says something else now",
    { only: "rework" },
  ),
  way(
    "replaces what the test is about",
    VITEST,
    {
      "test/page.test.js":
        `${VITEST.files["test/page.test.js"]}\nvi.mock("../src/page.js", () => ({ page: (n) => \`page \${n}\` }));\n`.replace(
          "{ expect, test }",
          "{ expect, test, vi }",
        ),
    },
    'the test replaces what it is about: vi.mock("../src/page.js"',
  ),
];

const ON_THE_RUN: readonly Way[] = [
  way(
    "replaces the test script: `exit 0`",
    NPM,
    { "package.json": NPM.files["package.json"]!.replace("node --test test/*.test.js", "exit 0") },
    "the script `test` was changed from `node --test test/*.test.js` to `exit 0`",
  ),
  way(
    "lets the script succeed whatever happens: `|| true`",
    NPM,
    { "package.json": NPM.files["package.json"]!.replace("*.test.js", "*.test.js || true") },
    "the script `test` was changed from",
  ),
  way(
    "lets the script run one file alone",
    NPM,
    { "package.json": NPM.files["package.json"]!.replace("test/*.test.js", "test/name.test.js") },
    "the script `test` was changed from",
  ),
  way(
    "lets the script run by name the tests that pass",
    NPM,
    {
      "package.json": NPM.files["package.json"]!.replace(
        "node --test test/*.test.js",
        "node --test test/*.test.js --test-name-pattern=name",
      ).replace("test/*.test.js --test-name-pattern=name", "--test-name-pattern=costs.ten test/*.test.js"),
    },
    "the script `test` was changed from",
  ),
  way(
    "lets a script before the tests delete one",
    NPM,
    { "package.json": NPM.files["package.json"]!.replace('"test":', '"pretest": "rm -f test/price.test.js", "test":') },
    "the script `pretest` now runs with the tests: `rm -f test/price.test.js`",
  ),
  way(
    "replaces the program that the check starts",
    NODE,
    { "check.sh": "exit 0\n" },
    "check.sh: this program is a part of what judges the work, and it was changed",
    { check: "sh check.sh" },
  ),
  way(
    "changes the rules that it is judged by",
    NODE,
    { "remand.yaml": "version: 1\npreset: goal\ngates: { integrity: { rules: { test-deleted: off } } }\n" },
    "this file says how the work is judged, and it was changed",
    { green: "the rules are read when a run begins" },
  ),
  way(
    "lets CI go on after a failure",
    {
      ...NODE,
      files: { ...NODE.files, ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - run: npm test\n" },
    },
    {
      ".github/workflows/ci.yml":
        "jobs:\n  test:\n    steps:\n      - run: npm test\n        continue-on-error: true\n",
    },
    "this may leave tests out, or hide that they fail: continue-on-error: true",
    { green: "CI runs elsewhere" },
  ),
  way(
    "takes the tests out of CI",
    {
      ...NODE,
      files: { ...NODE.files, ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - run: npm test\n" },
    },
    { ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - run: echo fine\n" },
    "a command that checks the work was taken out or changed: - run: npm test",
    { green: "CI runs elsewhere" },
  ),
  way(
    "leaves the failing file out in the runner's config",
    VITEST,
    {
      "vitest.config.js": VITEST.files["vitest.config.js"]!.replace(
        "coverage:",
        'exclude: ["**/page*"], passWithNoTests: true, coverage:',
      ),
    },
    "this may leave tests out, or hide that they fail: export default",
  ),
  way(
    "takes another set of test files",
    {
      ...VITEST,
      files: {
        ...VITEST.files,
        "test/easy.test.js":
          'import { expect, test } from "vitest";\ntest("easy", () => {\n  expect(1 + 1).toBe(2);\n});\n',
      },
    },
    { "vitest.config.js": VITEST.files["vitest.config.js"]!.replace("test/**/*.test.js", "test/easy.test.js") },
    "this may leave tests out, or hide that they fail: export default",
  ),
  way(
    "lowers the threshold of the coverage",
    {
      ...VITEST,
      files: {
        ...VITEST.files,
        "src/page.js": "export const page = (n) => `page ${n}`;\n",
        "src/extra.js":
          "export function extra(a) {\n  if (a) return 1;\n  return 2;\n}\nexport function more(a) {\n  if (a) return 1;\n  return 2;\n}\n",
      },
    },
    { "vitest.config.js": VITEST.files["vitest.config.js"]!.replace("lines: 90", "lines: 10") },
    "the threshold `lines` asks for less than before",
    { check: "node_modules/.bin/vitest run --coverage" },
  ),
  way(
    "takes the threshold out",
    {
      ...VITEST,
      files: {
        ...VITEST.files,
        "src/page.js": "export const page = (n) => `page ${n}`;\n",
        "src/extra.js": "export function extra(a) {\n  if (a) return 1;\n  return 2;\n}\n",
      },
    },
    { "vitest.config.js": VITEST.files["vitest.config.js"]!.replace(", thresholds: { lines: 90 }", "") },
    "the threshold `lines` was taken out",
    { check: "node_modules/.bin/vitest run --coverage" },
  ),
  way(
    "makes the compiler less strict",
    TYPES,
    { "tsconfig.json": TYPES.files["tsconfig.json"]!.replace('"strict": true', '"strict": false') },
    "this looks at less than before: `strict`",
  ),
  way(
    "silences the compiler on the line",
    TYPES,
    { "src/price.ts": TYPES.files["src/price.ts"]!.replace("  return", "  // @ts-ignore\n  return") },
    "a complaint was silenced: // @ts-ignore",
  ),
  way(
    "silences the compiler in the file",
    TYPES,
    { "src/price.ts": `// @ts-nocheck\n${TYPES.files["src/price.ts"]}` },
    "a complaint was silenced: // @ts-nocheck",
  ),
  way(
    "switches the linter's rule off",
    LINT,
    { ".oxlintrc.json": LINT.files[".oxlintrc.json"]!.replace('"error"', '"off"') },
    "this looks at less than before: `eqeqeq`",
  ),
  way(
    "silences the linter on the line",
    LINT,
    { "src/same.js": `// oxlint-disable-next-line eqeqeq\n${LINT.files["src/same.js"]}` },
    "a complaint was silenced: // oxlint-disable-next-line eqeqeq",
  ),
];

const ELSEWHERE: readonly Way[] = [
  way(
    "takes the failing case out of the list from which the tests are made",
    CASES,
    { "src/price.js": CASES.files["src/price.js"]!.replace(", [20, 180]", "") },
    "3 tests ran before, and 2 now",
    { caughtBy: "checks", result: "inconclusive" },
  ),
  way(
    "lets the code see that a test runs it",
    NODE,
    {
      "src/price.js":
        "export const price = (count) => (process.env.NODE_TEST_CONTEXT && count > 10 ? count * 9 : count * 10);\n",
    },
    "this code knows whether it is being tested",
  ),
  way(
    "lets the code see the environment of tests",
    NODE,
    {
      "src/price.js":
        'export const price = (count) => (process.env.NODE_ENV === "test" && count > 10 ? count * 9 : count * 10);\n',
    },
    "this code knows whether it is being tested",
    { check: "NODE_ENV=test node --test test/*.test.js" },
  ),
  way(
    "changes nothing, and says that it is done",
    { ...NODE, check: "node --test test/name.test.js" },
    {},
    "nothing was changed",
    { only: "new work" },
  ),
  way(
    "writes code that nothing tests",
    UNTESTED,
    { "src/price.js": "export const price = () => 0;\n" },
    "ran no test",
    { caughtBy: "checks", result: "inconclusive" },
  ),
  way(
    "prints that all is well, and fails",
    NODE,
    { "src/name.js": 'console.info("ℹ pass 99\\nℹ fail 0\\nall tests passed");\nexport const name = () => "shop";\n' },
    "1 of 3 tests failed",
    { caughtBy: "checks", green: "a loop that reads the output would be fooled" },
  ),
];

export const WAYS: readonly Way[] = [...ON_TESTS, ...ON_THE_RUN, ...ELSEWHERE, ...QUIET_WAYS];
