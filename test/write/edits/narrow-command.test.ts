import { describe, expect, test } from "vitest";
import { narrowedCommand } from "../../../src/write/edits/narrow-command.ts";

const failures = [
  { file: "test/a.test.js", test: "adds" },
  { file: "test/b.test.js", test: "takes away" },
  { file: "test/a.test.js", test: "adds more" },
];
const FILES = "test/a.test.js test/b.test.js";
const narrowed = (command: string, scripts?: Record<string, string>): string =>
  narrowedCommand(command, { failures, packageFile: scripts === undefined ? null : JSON.stringify({ scripts }) });

describe("a command that runs only the tests that failed", () => {
  test.each([
    ["npx vitest run", `npx vitest run ${FILES}`],
    ["vitest run --reporter=dot", `vitest run --reporter=dot ${FILES}`],
    ["vitest --run test/unit", `vitest --run ${FILES}`],
    ["node --test", `node --test ${FILES}`],
    ["node --test test/", `node --test ${FILES}`],
    ["node --test --test-concurrency=2 test/**", `node --test --test-concurrency=2 ${FILES}`],
    ["npx jest --ci", `npx jest --ci --runTestsByPath ${FILES}`],
    ["pytest -q tests", `pytest -q ${FILES}`],
    ["python3 -m pytest", `python3 -m pytest ${FILES}`],
    ["CI=1 node_modules/.bin/vitest run", `CI=1 node_modules/.bin/vitest run ${FILES}`],
    // The next word may be the value of a flag, so no word is removed.
    ["vitest run --config other.ts", `vitest run --config other.ts ${FILES}`],
  ])("%s", (command, expected) => {
    expect(narrowed(command)).toBe(expected);
  });

  test.each([
    ["npm test", { test: "node --test" }, `node --test ${FILES}`],
    ["npm run unit", { unit: "vitest run" }, `npx --no-install vitest run ${FILES}`],
    ["pnpm test", { test: "jest" }, `npx --no-install jest --runTestsByPath ${FILES}`],
    ["yarn test", { test: "TZ=UTC vitest run" }, `TZ=UTC vitest run ${FILES}`],
  ])("%s, as package.json has it", (command, scripts, expected) => {
    expect(narrowed(command, scripts)).toBe(expected);
  });

  test.each([
    ["make test", undefined],
    ["vitest", undefined],
    ["tsc && vitest run", undefined],
    ["vitest run | tee log", undefined],
    ["npm test", undefined],
    ["npm test", { other: "vitest run" }],
    ["npm test", { test: "tsc && vitest run" }],
    ["npm test", { test: "vitest run", pretest: "node build.js" }],
    ["go test ./...", undefined],
  ])("%s runs unchanged, because its meaning is not certain", (command, scripts) => {
    expect(narrowed(command, scripts)).toBe(command);
  });

  test("is unchanged if failures are not all of known tests, or are in files with unusual names", () => {
    const whole = (more: object): string =>
      narrowedCommand("node --test", { failures: [...failures, { file: "x", test: "y", ...more }], packageFile: null });
    expect(whole({ test: null })).toBe("node --test");
    expect(whole({ file: null })).toBe("node --test");
    expect(whole({ file: "a b; rm -rf ~.js" })).toBe("node --test");
    expect(narrowedCommand("node --test", { failures: [], packageFile: "no json" })).toBe("node --test");
    expect(narrowedCommand("npm test", { failures, packageFile: "no json" })).toBe("npm test");
  });
});

describe("runners that select tests by name, or files in their own way", () => {
  const texts: Readonly<Record<string, string>> = {
    "cart/cart_test.go":
      "package cart\n\nfunc TestAdds(t *testing.T) {\n}\n\nfunc ExampleTotal() {\n}\nfunc helper() {}\n",
    "main_test.go": "package main\nfunc TestMain2(t *testing.T) {}\n",
    "src/lib.rs":
      "pub fn one() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    fn adds() {}\n\n    fn helper() {}\n    #[tokio::test]\n    async fn waits() {}\n}\n",
    "src/none.rs": "pub fn none() {}\n",
    "src/made.rs": "#[test]\nfn adds() {}\ntest_of!(made, 1);\n",
    "tests/suite/main.rs": "mod cart;\n",
  };
  const narrowTo = (command: string, ...files: readonly string[]): string =>
    narrowedCommand(command, {
      failures: files.map((file) => ({ file, test: file })),
      packageFile: null,
      textOf: (file) => texts[file] ?? null,
    });

  test.each([
    ["go test ./...", ["cart/cart_test.go"], "go test -run '^(TestAdds|ExampleTotal)$' ./cart"],
    ["go test -race -count=1 ./...", ["main_test.go"], "go test -race -count=1 -run '^(TestMain2)$' ."],
    ["go test -tags integration ./...", ["main_test.go"], "go test -tags integration -run '^(TestMain2)$' ."],
    ["cargo test -q", ["tests/whole.rs"], "cargo test -q --test whole"],
    ["cargo test", ["src/lib.rs"], "cargo test -- adds waits src/lib.rs"],
    ["cargo test", ["tests/suite/cart.rs"], "cargo test --test suite"],
    ["npx mocha", ["test/a.js"], "npx mocha test/a.js"],
    [
      "mocha --require test/env --reporter spec --bail test/",
      ["test/a.js"],
      "mocha --require test/env --reporter spec --bail test/a.js",
    ],
    ["python -m unittest", ["tests/test_a.py"], "python -m unittest tests/test_a.py"],
    ["python3 -m unittest discover -v", ["tests/test_a.py"], "python3 -m unittest -v tests/test_a.py"],
    [
      "python3 -m unittest discover -s tests -t .",
      ["tests/test_a.py"],
      "python3 -m unittest discover -s tests -t . -p test_a.py",
    ],
  ])("%s with %j", (command, files, expected) => {
    expect(narrowTo(command, ...files)).toBe(expected);
  });

  test("a test that a macro makes is named by its failure", () => {
    const narrow = (file: string): string =>
      narrowedCommand("cargo test", {
        failures: [{ file, test: "tests::made" }],
        packageFile: null,
        textOf: (path) => texts[path] ?? null,
      });
    expect(narrow("src/made.rs")).toBe("cargo test -- adds tests::made src/made.rs");
    expect(narrow("src/none.rs")).toBe("cargo test -- tests::made src/none.rs");
  });

  test.each([
    ["go test -run TestAdds ./...", "cart/cart_test.go"],
    ["go test ./...", "unknown_test.go"],
    ["go test -unknown value ./...", "cart/cart_test.go"],
    ["cargo test adds", "src/lib.rs"],
    ["cargo test -- --nocapture", "src/lib.rs"],
    ["cargo test --lib", "src/lib.rs"],
    ["cargo test", "src/none.rs"],
    ["cargo test", "tests/data/cart.rs"],
    ["mocha --unknown value test/", "test/a.js"],
    ["python -m unittest tests.test_a", "tests/test_a.py"],
    ["python -m unittest discover -p *_test.py", "tests/a_test.py"],
    ["make test", "test/a.js"],
  ])("%s is not changed", (command, file) => {
    expect(narrowTo(command, file)).toBe(command);
  });
});
