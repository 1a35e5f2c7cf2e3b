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
    // A flag whose value may be the next word: nothing is taken out.
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
  ])("%s is run whole: what it means is not plain", (command, scripts) => {
    expect(narrowed(command, scripts)).toBe(command);
  });

  test("so is one whose failures are not all of known tests, or in files with odd names", () => {
    const whole = (more: object): string =>
      narrowedCommand("node --test", { failures: [...failures, { file: "x", test: "y", ...more }], packageFile: null });
    expect(whole({ test: null })).toBe("node --test");
    expect(whole({ file: null })).toBe("node --test");
    expect(whole({ file: "a b; rm -rf ~.js" })).toBe("node --test");
    expect(narrowedCommand("node --test", { failures: [], packageFile: "no json" })).toBe("node --test");
    expect(narrowedCommand("npm test", { failures, packageFile: "no json" })).toBe("npm test");
  });
});
