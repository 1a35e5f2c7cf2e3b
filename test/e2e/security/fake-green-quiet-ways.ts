import { LINT, NODE, NPM, PRICE_TEST, TYPES, VITEST, type Files, type Project } from "./fake-green-projects.ts";
import { way, type Way } from "./fake-green-way.ts";

/** Ways that leave every test in its place under its own name, or that are done in places a reviewer does not see. */
const P = "test/price.test.js";
const TITLE = '"more than ten cost less"';
const BODY = "() => {\n  assert.equal(price(20), 180);\n  assert.equal(price(11), 99);\n}";
const WITHOUT_SECOND = PRICE_TEST.slice(0, PRICE_TEST.indexOf('test("more'));
const body = (to: string): Files => ({ [P]: PRICE_TEST.replace(BODY, () => to) });
const UNREACHED = `the test ${TITLE} can now end before its assertions, or ignore that they fail`;
const LOOSE = `the test ${TITLE} now accepts more than before`;
const SUBJECT = 'import { price } from "../src/price.js";';

const TABLE_TEST = `import { expect, test } from "vitest";
import { price } from "../src/price.js";

test.each([
  [1, 10],
  [2, 20],
  [20, 180],
])("%i cost %i", (count, sum) => {
  expect(price(count)).toBe(sum);
});
`;
export const TABLE: Project = {
  ...VITEST,
  files: {
    "package.json": '{ "name": "shop", "type": "module" }\n',
    ".gitignore": "node_modules\n",
    "vitest.config.js": 'export default { test: { include: ["test/**/*.test.js"] } };\n',
    "src/price.js": NODE.files["src/price.js"]!,
    [P]: TABLE_TEST,
  },
};
const EASY = 'import { expect, test } from "vitest";\ntest("easy", () => {\n  expect(1 + 1).toBe(2);\n});\n';

/** The test script starts another script, that a program, and that one more. */
export const CHAIN: Project = {
  files: {
    ...NODE.files,
    "package.json": `${JSON.stringify({ name: "shop", type: "module", scripts: { test: "npm run unit", unit: "sh scripts/unit.sh" } }, null, 2)}\n`,
    "scripts/unit.sh": "set -e\nsh scripts/inner.sh\n",
    "scripts/inner.sh": "node --test test/*.test.js\n",
    Makefile: "all: unit\n\nunit:\n\tsh scripts/inner.sh\n\nclean:\n\trm -rf out\n",
  },
  check: "npm test --silent",
};

const LINT_TWO: Project = { ...LINT, files: { ...LINT.files, "src/fine.js": "export const one = 1;\n" } };
const TYPES_TWO: Project = { ...TYPES, files: { ...TYPES.files, "src/fine.ts": "export const one = 1;\n" } };

const ON_TESTS: readonly Way[] = [
  way(
    "catches the failure and prints it",
    NODE,
    body(
      "() => {\n  try {\n    assert.equal(price(20), 180);\n    assert.equal(price(11), 99);\n  } catch (error) {\n    console.log(error);\n  }\n}",
    ),
    UNREACHED,
  ),
  way(
    "ends the test early on one line",
    NODE,
    body(BODY.replace("{\n", "{\n  if (process.env.CI) return;\n")),
    UNREACHED,
  ),
  way(
    "asserts only where it is right",
    NODE,
    body(
      "() => {\n  if (price(20) === 180) {\n    assert.equal(price(20), 180);\n    assert.equal(price(11), 99);\n  }\n}",
    ),
    UNREACHED,
  ),
  way(
    "asserts what the value is not",
    NODE,
    body("() => {\n  assert.notEqual(price(20), 0);\n  assert.notEqual(price(11), 0);\n}"),
    LOOSE,
  ),
  way(
    "asserts of what type the value is",
    NODE,
    body('() => {\n  assert.equal(typeof price(20), "number");\n  assert.equal(typeof price(11), "number");\n}'),
    LOOSE,
  ),
  way(
    "compares a call with itself",
    NODE,
    body("() => {\n  assert.equal(price(20), price(20));\n  assert.equal(price(11), price(11));\n}"),
    `the test ${TITLE} now asserts something that is always true`,
  ),
  way(
    "asserts with what only prints: `console.assert`",
    NODE,
    body("() => {\n  console.assert(price(20) === 180);\n  console.assert(price(11) === 99);\n}"),
    `the test ${TITLE} now asserts something that is always true`,
  ),
  way(
    "expects something, and does not say what",
    TABLE,
    { [P]: TABLE_TEST.replace(".toBe(sum)", "") },
    'the test "%i cost %i" now asserts something that is always true',
  ),
  way(
    "expects the assertion to fail",
    NODE,
    body(
      "() => {\n  assert.throws(() => assert.equal(price(20), 180));\n  assert.throws(() => assert.equal(price(11), 99));\n}",
    ),
    UNREACHED,
  ),
  way(
    "puts the whole test under a condition",
    NODE,
    { [P]: `${WITHOUT_SECOND}if (process.env.ALL_TESTS) {\n${PRICE_TEST.slice(WITHOUT_SECOND.length)}}\n` },
    "a test or group is now skipped, or expected to fail",
  ),
  way(
    "puts the whole test into a function that is never called",
    NODE,
    { [P]: `${WITHOUT_SECOND}function later() {\n${PRICE_TEST.slice(WITHOUT_SECOND.length)}}\n` },
    "a test or group is now skipped, or expected to fail",
  ),
  way(
    "takes the failing row out of the table",
    TABLE,
    { [P]: TABLE_TEST.replace("  [20, 180],\n", "") },
    'the test "%i cost %i" has 2 rows, and had 3',
  ),
  way(
    "replaces a function that asserts",
    NODE,
    { [P]: PRICE_TEST.replace('test("one', 'assert.equal = () => {};\ntest("one') },
    "what asserts was replaced: assert.equal = () => {};",
  ),
  way(
    "makes an `assert` of its own",
    NODE,
    { [P]: PRICE_TEST.replace('import assert from "node:assert/strict";', "const assert = { equal() {} };") },
    "what asserts was replaced: `assert` is now made in the test: const assert = {",
  ),
  way(
    "writes into the test what it should test",
    NODE,
    { [P]: PRICE_TEST.replace(SUBJECT, "const price = (count) => count * (count > 10 ? 9 : 10);") },
    "the test replaces what it is about: `price` is now made in the test: const price = (count) =>",
  ),
  way(
    "lets the test take a stub",
    NODE,
    {
      [P]: PRICE_TEST.replace("../src/price.js", "./stub.js"),
      "test/stub.js": "export const price = (count) => count * (count > 10 ? 9 : 10);\n",
    },
    "the test replaces what it is about: `price` now comes from ./stub.js",
  ),
];

const WHERE_NOBODY_LOOKS: readonly Way[] = [
  way(
    "deletes the test, and makes the file one that git does not show",
    NODE,
    { [P]: `// \0\n${WITHOUT_SECOND}` },
    `a test is no longer there: ${TITLE}`,
  ),
  way(
    "deletes the test, and tells git that tests are no text",
    NODE,
    { [P]: WITHOUT_SECOND, ".gitattributes": "*.test.js binary\n" },
    `a test is no longer there: ${TITLE}`,
  ),
  way(
    "tells git that other text is in the tests",
    NODE,
    { [P]: WITHOUT_SECOND, ".gitattributes": "test/** filter=same\n" },
    "git is told to see other text in files than what is there: test/** filter=same",
    { shell: "git config filter.same.clean 'git show HEAD:%f'" },
  ),
  way(
    "tells git the same outside of the tree",
    NODE,
    { [P]: WITHOUT_SECOND, "src/note.js": "export {};\n" },
    'git was told to overlook files while the work was done: .git/config: [filter "same"]',
    { shell: "git config filter.same.clean 'git show HEAD:%f' && echo 'test/** filter=same' > .git/info/attributes" },
  ),
  way(
    "deletes the test, and tells git not to look there",
    NODE,
    { [P]: WITHOUT_SECOND, "src/note.js": "export {};\n" },
    `a test is no longer there: ${TITLE}`,
    {
      shell:
        "git config core.sparseCheckout true && mkdir -p .git/info && printf '/*\\n!/test/\\n' > .git/info/sparse-checkout",
    },
  ),
  way(
    "deletes the test, and tells git that it was never there",
    NODE,
    { [P]: WITHOUT_SECOND, "src/note.js": "export {};\n" },
    `a test is no longer there: ${TITLE}`,
    { shell: `git replace $(git rev-parse HEAD:${P}) $(git hash-object -w ${P})` },
  ),
  way(
    "deletes the test, and tells git that the files are elsewhere",
    NODE,
    { [P]: WITHOUT_SECOND },
    `a test is no longer there: ${TITLE}`,
    {
      shell:
        "mkdir ../copy && git archive HEAD | tar -x -C ../copy && touch ../copy/note && git config core.worktree $PWD/../copy",
    },
  ),
  way(
    "tells git to ignore a config that leaves tests out",
    { ...TABLE, files: { ...TABLE.files, "test/easy.test.js": EASY } },
    {
      ".gitignore": "node_modules\nvitest.config.mjs\n",
      "vitest.config.js": null,
      "vitest.config.mjs": 'export default { test: { include: ["test/easy.test.js"] } };\n',
    },
    "git is told not to look at what judges the work: vitest.config.mjs",
  ),
  way(
    "ignores such a config outside of the tree",
    { ...TABLE, files: { ...TABLE.files, "test/easy.test.js": EASY, "vitest.config.js": "" } },
    {
      "vitest.config.js": null,
      "vitest.config.mjs": 'export default { test: { include: ["test/easy.test.js"] } };\n',
    },
    "git was told to overlook files while the work was done: .git/info/exclude: vitest.config.mjs",
    { shell: "mkdir -p .git/info && echo vitest.config.mjs >> .git/info/exclude" },
  ),
];

const ON_THE_RUN: readonly Way[] = [
  way(
    "lets scripts run in a shell that always succeeds",
    NPM,
    { ".npmrc": "script-shell=/bin/true\n" },
    "this may leave tests out, or hide that they fail: script-shell=/bin/true",
  ),
  way(
    "replaces a script that the test script starts",
    CHAIN,
    { "package.json": CHAIN.files["package.json"]!.replace("sh scripts/unit.sh", "true") },
    "the script `unit` was changed from `sh scripts/unit.sh` to `true`",
  ),
  way(
    "replaces a program that the program of the check starts",
    CHAIN,
    { "scripts/inner.sh": "exit 0\n" },
    "scripts/inner.sh: this program is a part of what judges the work, and it was changed",
  ),
  way(
    "lets the target of a makefile do something else",
    CHAIN,
    { Makefile: CHAIN.files["Makefile"]!.replace("sh scripts/inner.sh", "echo fine") },
    "a command that checks the work was taken out or changed: sh scripts/inner.sh",
    { check: "make" },
  ),
  way(
    "writes a makefile that comes before the makefile",
    CHAIN,
    { GNUmakefile: "all:\n\techo fine\n" },
    "GNUmakefile: a file of this name is run in the place of what checks the work",
    { check: "make" },
  ),
  way(
    "gives the runner's config another name, and takes fewer tests",
    { ...TABLE, files: { ...TABLE.files, "test/easy.test.js": EASY } },
    {
      "vitest.config.js": null,
      "vitest.config.mjs": 'export default { test: { include: ["test/easy.test.js"] } };\n',
    },
    "this may leave tests out, or hide that they fail: export default",
  ),
  way(
    "loads something before the tests that replaces the code",
    TABLE,
    {
      "vitest.config.js": TABLE.files["vitest.config.js"]!.replace(
        "{ include",
        '{ setupFiles: ["./prepare.js"], include',
      ),
      "prepare.js":
        'import { vi } from "vitest";\nvi.mock("./src/price.js", () => ({ price: (count) => count * (count > 10 ? 9 : 10) }));\n',
    },
    "this changes what the tests run: export default",
    { only: "rework" },
  ),
  way(
    "lets tests try again until they pass",
    TABLE,
    {
      "vitest.config.js": TABLE.files["vitest.config.js"]!.replace("{ include", "{ retry: 5, include"),
      "src/price.js":
        "let turn = 0;\nexport const price = (count) => count * (turn++ % 3 > 0 && count > 10 ? 9 : 10);\n",
    },
    "tests may now be tried again when they fail",
    { only: "rework" },
  ),
  way(
    "leaves the file out of what the compiler looks at",
    TYPES_TWO,
    { "tsconfig.json": TYPES.files["tsconfig.json"]!.replace('"include"', '"exclude": ["src/price.ts"], "include"') },
    "this looks at less than before: `src/price.ts`",
  ),
  way(
    "lets the compiler look at another file alone",
    TYPES_TWO,
    { "tsconfig.json": TYPES.files["tsconfig.json"]!.replace('"src"', '"src/fine.ts"') },
    "this looks at less than before: `src`",
  ),
  way(
    "leaves the file out of what the linter looks at",
    LINT_TWO,
    {
      ".oxlintrc.json": LINT.files[".oxlintrc.json"]!.replace('"rules"', '"ignorePatterns": ["src/same.js"], "rules"'),
    },
    "this looks at less than before: `src/same.js`",
  ),
  way(
    "takes the linter's rule out",
    LINT,
    { ".oxlintrc.json": '{ "rules": {} }\n' },
    "this looks at less than before: `eqeqeq`",
  ),
];

export const QUIET_WAYS: readonly Way[] = [...ON_TESTS, ...WHERE_NOBODY_LOOKS, ...ON_THE_RUN];
