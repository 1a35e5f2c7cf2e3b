import { describe, expect, test } from "vitest";
import type { ChecksGate } from "../../../src/gates/checks/checks-gate.ts";
import { runSelected, selectCommands } from "../../../src/gates/pinned/selected-tests.ts";
import { gateRequest } from "../../contract/gate.ts";
import { judgementOf } from "../../kit/reviewers.ts";

describe("tests by their files", () => {
  test("are run by the commands whose runner takes files, and the others are left out", () => {
    const commands = ["npm test", "eslint .", "pytest -q"].map((run) => ({ name: run, run }));
    const scripts = JSON.stringify({ scripts: { test: "node --test" } });
    expect(selectCommands(commands, ["test/a.test.js"], scripts).map(({ run }) => run)).toEqual([
      "node --test test/a.test.js",
      "pytest -q test/a.test.js",
    ]);
    expect(selectCommands([{ name: "make", run: "make test" }], ["test/a.test.js"], null)).toEqual([]);
  });

  const TEST = 'import test from "node:test";\ntest("adds", () => { assert.equal(1, 1); });\n';
  const control = { signal: new AbortController().signal, onOutput: () => undefined };
  const run = (passed: readonly string[], files: readonly string[], text: string | null = TEST) => {
    const tests = {
      isNamed: true,
      passed: new Map(passed.map((name) => [name, 1])),
      failed: new Set<string>(),
      ran: 1,
    };
    const judged = { judgement: judgementOf({ gate: "checks", result: "pass" }), tests };
    const checks = { judgeTests: () => Promise.resolve(judged) } as unknown as ChecksGate;
    return runSelected(
      () => checks,
      files,
      gateRequest(),
      control,
      () => text,
    );
  };

  test("count only if a test of each file ran: a run that left one out is ignored", async () => {
    expect(await run(["test/a.test.js > adds"], ["test/a.test.js"])).not.toBeNull();
    expect(await run(["test/a.test.js > adds"], ["test/a.test.js", "test/b.test.js"])).toBeNull();
  });

  test("are unknown for a file without tests, such as data", async () => {
    expect(await run(["test/a.test.js > adds"], ["test/a.test.js"], "[1, 2]")).toBeNull();
  });
});
