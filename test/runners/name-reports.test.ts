import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { narrowedCommand } from "../../src/write/edits/narrow-command.ts";
import { cargo, go } from "./compiled-projects.ts";
import { type RunnerCase, expectNames, expectSameRun } from "./kit.ts";
import { counted, expectCounts } from "./line-counts.ts";
import { nodeTest, pytest, unittest, vitest } from "./projects.ts";

/** Our own, with Vitest in it. */
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;

describe("counts the tests that run a line, those that failed and those that passed", { timeout: 300_000 }, () => {
  it("node:test, in tests around others too", () => expectCounts(counted.nodeTest));
  it("vitest, through what TypeScript became", () => expectCounts(counted.vitest, modules));
});

/** What is not on this machine is shown as skipped; `npm run test:runners` installs more runners and runs more cases. */
describe("each runner reports its tests by name, and prints and exits as without", { timeout: 300_000 }, () => {
  it("node:test, with a file that does not load", () => expectNames({ ...nodeTest.broken, runner: "node:test" }));
  it("node:test, with a reporter of the user's", () =>
    expectNames({ ...nodeTest.mixed, runner: "node:test", command: "node --test --test-reporter=spec" }));
  it("vitest, with a file that does not load", () => expectNames({ ...vitest.broken, runner: "vitest", modules }));
  it("vitest, with reporters in its configuration", () => {
    const config = 'export default { test: { reporters: ["verbose", ["json", { outputFile: "out.json" }]] } };\n';
    const files = { ...vitest.mixed.files, "vitest.config.js": config };
    return expectNames({ ...vitest.mixed, files, runner: "vitest", modules });
  });
  it.runIf(has("pytest", "--version"))("pytest -q", () => expectNames({ ...pytest.mixed, runner: "pytest" }));
  it.runIf(has("pytest", "--version"))("pytest with a PYTHONPATH of its own", () =>
    expectNames({ ...pytest.mixed, runner: "pytest", command: `PYTHONPATH=src ${pytest.mixed.command}` }),
  );
  it.runIf(has("python3", "--version"))("Python by its path with a PYTHONPATH of its own runs as without us", () =>
    expectSameRun({ ...unittest.broken, command: `PYTHONPATH=src $(command -v python3) -m unittest` }),
  );
  it.runIf(has("python3", "--version"))("unittest, with a file that does not load", () =>
    expectNames({ ...unittest.broken, runner: "unittest" }),
  );
  it.runIf(has("go", "version"))("go test", () => expectNames({ ...go, runner: "go test" }));
  it.runIf(has("cargo", "--version"))("cargo test -q", () => expectNames({ ...cargo, runner: "cargo test" }));
});

/** The case with the tests of this file alone: they must be called as in a run of all. */
function alone(given: RunnerCase, file: string, exitCode: number): RunnerCase {
  const failures = [{ file, test: file }];
  const command = narrowedCommand(given.command, { failures, packageFile: null, textOf: (path) => given.files[path]! });
  expect(command).not.toBe(given.command);
  const names = Object.entries(given.expected).filter(([name]) => name.startsWith(`${file} > `));
  return { ...given, command, exitCode, expected: Object.fromEntries(names) };
}

describe("a file of tests that is run alone names them as a run of all does", { timeout: 300_000 }, () => {
  it.runIf(has("python3", "--version"))("unittest", () => expectNames(alone(unittest.broken, "test_cart.py", 1)));
  it.runIf(has("go", "version"))("go test", () => expectNames(alone(go, "cart/cart_test.go", 1)));
  it.runIf(has("cargo", "--version"))("cargo test, a program of tests", () =>
    expectNames(alone(cargo, "tests/whole.rs", 0)),
  );
  it.runIf(has("cargo", "--version"))("cargo test, tests in a source", () =>
    expectNames(alone(cargo, "src/lib.rs", 0)),
  );
});
