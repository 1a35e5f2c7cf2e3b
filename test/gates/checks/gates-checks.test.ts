import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createChecksGate, type ChecksOptions } from "../../../src/gates/checks/checks-gate.ts";
import { leftovers } from "../../../src/adapters/process/leftovers.ts";
import { UNKNOWN_BASE, type BaseFailures } from "../../../src/core/gates/base-failures.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import { describeGate, gateRequest, memoryEvidence } from "../../contract/gate.ts";
import { pythonProgram } from "../../kit/python-environment.ts";

const clock = { now: () => performance.now(), sleep: () => Promise.resolve() };
const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
const cookies: string[] = [];
const cookie = (): string => {
  cookies.push(`check-${process.pid}-${cookies.length}-${Math.random().toString(36).slice(2)}`);
  return cookies.at(-1)!;
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-checks-"));
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  const left = await Promise.all(cookies.splice(0).map((each) => leftovers(each)));
  if (left.flat().length > 0) throw new Error(`still there: ${JSON.stringify(left.flat())}`);
});

type Run = string | { name?: string; run: string; environments?: string[]; timeoutMs?: number };

function gateOf(commands: readonly Run[], options: Partial<ChecksOptions> = {}) {
  const named = commands.map((command) =>
    typeof command === "string" ? { name: command, run: command } : { name: command.run, ...command },
  );
  return createChecksGate({
    commands: named,
    environments: {},
    evidence: memoryEvidence(),
    clock,
    env,
    cookie,
    ...options,
  });
}

const control = () => ({ signal: new AbortController().signal, onOutput: () => undefined });
const judge = (commands: readonly Run[], options: Partial<ChecksOptions> = {}, request: Partial<GateRequest> = {}) =>
  gateOf(commands, options).run(gateRequest({ path: folder, ...request }), control());

describeGate("checks", {
  passing: (evidence) =>
    Promise.resolve({ gate: gateOf(["echo fine"], { evidence }), request: gateRequest({ path: folder }) }),
  failing: (evidence) =>
    Promise.resolve({
      gate: gateOf(["echo 'src/a.ts(3,5): error TS2322: no'; exit 2"], { evidence }),
      request: gateRequest({ path: folder }),
    }),
  broken: (evidence) =>
    Promise.resolve({
      gate: gateOf(["echo fine"], { evidence }),
      request: gateRequest({ path: join(folder, "nowhere") }),
    }),
  slow: (evidence) =>
    Promise.resolve({ gate: gateOf(["sleep 600"], { evidence }), request: gateRequest({ path: folder }) }),
});

describe("a port that two checks want", () => {
  /** Holds a port (a folder in its place) until another check has found it in use. */
  const HOLDS = [
    "echo run >> runs",
    "mkdir port 2>/dev/null || { touch taken; echo 'Error: listen EADDRINUSE: address already in use :::80'; exit 1; }",
    "until [ -e taken ]; do sleep 0.05; done",
    "rmdir port",
  ].join("\n");
  /** Continues when this many runs have started. */
  const meeting = (runs: number): string =>
    `echo run >> runs; until [ $(wc -l < runs) -ge ${runs} ]; do sleep 0.05; done`;
  const runsMade = (): number => readFileSync(join(folder, "runs"), "utf8").split("\n").length - 1;
  const both = (command: string) => {
    const gate = gateOf([command]);
    const request = gateRequest({ path: folder });
    return Promise.all([gate.run(request, control()), gate.run(request, control())]);
  };

  test("is not the work's fault: the check that found it in use is run again, alone", async () => {
    expect((await both(HOLDS)).map(({ result }) => result)).toEqual(["pass", "pass"]);
    expect(runsMade()).toBe(3);
  });

  test("that another program uses fails the check, alone or beside others", async () => {
    const taken = (runs: number) => `${meeting(runs)}; echo 'OSError: [Errno 98] Address already in use'; exit 1`;
    expect((await judge([taken(1)])).result).toBe("fail");
    expect(runsMade()).toBe(1);
    expect((await both(taken(3))).map(({ result }) => result)).toEqual(["fail", "fail"]);
    expect(runsMade()).toBe(5);
  });

  test("is the only failure that is run again", async () => {
    expect((await both(`${meeting(2)}; exit 1`)).map(({ result }) => result)).toEqual(["fail", "fail"]);
    expect(runsMade()).toBe(2);
  });
});

describe("the exit code decides", () => {
  test("a command that exits with 0 passes, and its run is recorded", async () => {
    expect(await judge([{ name: "unit", run: "true" }])).toMatchObject({
      result: "pass",
      findings: [],
      summary: "checks: pass (1 of 1)",
      runs: [
        { check: "unit", command: "true", environment: "local", result: "pass", exitCode: 0, details: "exit code 0" },
      ],
    });
  });

  test("encouraging output does not make a pass", async () => {
    expect((await judge(["echo 'all 12 tests passed'; exit 1"])).result).toBe("fail");
  });

  test("unknown output is one finding, with its last lines", async () => {
    const judgement = await judge([{ name: "build", run: "echo one; echo two >&2; exit 3" }]);
    expect(judgement.findings).toMatchObject([
      {
        severity: "critical",
        category: "check",
        source: "build",
        message: "`echo one; echo two >&2; exit 3` failed with exit code 3: one / two",
      },
    ]);
    expect(judgement.summary).toBe("checks: fail (build: exit code 3: one / two), 1 to fix");
  });

  test("every command runs, even after a failure", async () => {
    const judgement = await judge(["false", "echo ok > ran"]);
    expect(judgement.runs?.map((run) => run.result)).toEqual(["fail", "pass"]);
    expect(existsSync(join(folder, "ran"))).toBe(true);
  });

  test("a real failing test is named with its location and counted", async () => {
    writeFileSync(
      join(folder, "a.test.js"),
      'const { test } = require("node:test");\nconst assert = require("node:assert");\ntest("adds", () => assert.equal(1 - 2, 3));\ntest("fine", () => {});\n',
    );
    const judgement = await judge([{ name: "unit", run: `${process.execPath} --test` }]);
    expect(judgement).toMatchObject({
      result: "fail",
      tests: { total: 2, passed: 1, failed: 1, skipped: 0 },
      findings: [
        { category: "test", severity: "critical", source: "unit", file: "a.test.js", line: 3, symbol: "adds" },
      ],
      runs: [{ result: "fail", details: "1 of 2 tests failed" }],
    });
    expect(judgement.findings[0]?.message).toMatch(/^adds: .*-1 == 3/);
  });

  test("a program that crashes by itself has failed", async () => {
    expect(await judge(["exec sh -c 'kill -SEGV $$'"])).toMatchObject({
      result: "fail",
      findings: [{ message: expect.stringContaining("SIGSEGV") as string }],
    });
  });

  test("the evidence is the raw log, failures first", async () => {
    const evidence = memoryEvidence();
    const judgement = await judge(["echo good", "echo bad; exit 1"], { evidence });
    const logs = judgement.evidence.map((id) => evidence.kept.get(id)!);
    expect(logs).toHaveLength(2);
    expect(logs[0]).toContain("$ echo bad; exit 1\nexit code 1\n\nbad\n");
    expect(logs[1]).toContain("$ echo good\nexit code 0\n\ngood\n");
  });
});

describe("not a judgement of the work", () => {
  test.each([
    ["a command that is not there", "no-such-command-here", "error", /could not be started \(exit code 127\)/],
    ["a file that may not be run", "./plain.txt", "error", /could not be started \(exit code 126\)/],
    ["a command that somebody killed", "exec sh -c 'kill -9 $$'", "error", /ended by SIGKILL/],
    ["a child that somebody killed", "sh -c 'kill -9 $$'; exit $?", "error", /ended by SIGKILL/],
    ["a command that somebody ended", "exec sh -c 'kill -15 $$'", "error", /ended by SIGTERM/],
    ["a child that somebody ended", "sh -c 'kill -15 $$'; exit $?", "error", /ended by SIGTERM/],
  ])("%s", async (_what, run, result, details) => {
    writeFileSync(join(folder, "plain.txt"), "");
    const judgement = await judge([run]);
    expect(judgement).toMatchObject({ result, findings: [], blocking: [] });
    expect(judgement.runs?.[0]?.details).toMatch(details);
  });

  test("a timeout, by the command's own limit, that really ends the program", async () => {
    // Without the timeout, the test's own limit would end long before the command.
    const judgement = await judge([{ run: "echo $$ > pid; exec sleep 600", timeoutMs: 2000 }]);
    expect(existsSync(`/proc/${readFileSync(join(folder, "pid"), "utf8").trim()}`)).toBe(false);
    expect(judgement).toMatchObject({
      result: "error",
      runs: [
        {
          result: "error",
          exitCode: null,
          details: expect.stringMatching(/^it was ended after \d+(?:\.\d)? s, which is its limit$/) as string,
        },
      ],
    });
  });

  test("no command", async () => {
    expect(await judge([])).toMatchObject({
      result: "inconclusive",
      summary: "checks: no command is configured",
    });
  });

  test.each([
    ["a runner that found nothing", "echo 'TAP version 13'; echo '1..0'; echo '# tests 0'"],
    ["a runner that skipped everything", "echo '==== 4 skipped in 0.10s ===='"],
    ["jest with --passWithNoTests", "echo 'No tests found, exiting with code 0'"],
  ])("a pass without a test: %s", async (_what, run) => {
    const judgement = await judge([run]);
    expect(judgement).toMatchObject({ result: "inconclusive", blocking: [] });
    expect(judgement.runs?.[0]?.details).toMatch(/ran no test/);
  });

  test("real tests that are all skipped", async () => {
    writeFileSync(join(folder, "a.test.js"), 'const { test } = require("node:test");\ntest.skip("later", () => {});\n');
    expect(await judge([`${process.execPath} --test`])).toMatchObject({ result: "inconclusive" });
  });

  test("a failure of the work outweighs a broken check", async () => {
    expect(await judge(["no-such-command-here", "false"])).toMatchObject({
      result: "fail",
      blocking: [expect.any(String)],
    });
  });
});

describe("environments", () => {
  const environments = { one: {}, two: { run: "env WHERE=two" }, gone: { run: "env", probe: "no-such-probe" } };

  test("each check runs in each, and a failure in one fails the check", async () => {
    const { gone: _, ...both } = environments;
    const judgement = await judge([{ name: "unit", run: 'test "$WHERE" = two' }], { environments: both });
    expect(judgement.result).toBe("fail");
    expect(judgement.runs?.map(({ environment, result }) => [environment, result])).toEqual([
      ["one", "fail"],
      ["two", "pass"],
    ]);
    expect(judgement.summary).toContain("unit in one: exit code 1");
  });

  test("a compound command runs in it as a whole", async () => {
    const judgement = await judge([`test "$WHERE" = two && echo "it's $WHERE" > out && test "$WHERE" = two`], {
      environments: { two: environments.two },
    });
    expect(judgement.result).toBe("pass");
    expect(readFileSync(join(folder, "out"), "utf8")).toBe("it's two\n");
  });

  test("a check may be limited to some of them", async () => {
    const judgement = await judge([{ run: "true", environments: ["two"] }], { environments });
    expect(judgement.runs).toMatchObject([{ environment: "two", result: "pass" }]);
  });

  test("a missing one blocks, and is probed once", async () => {
    const probe = "echo x >> probes; exit 7";
    const judgement = await judge(["true", "echo again"], { environments: { gone: { probe } } });
    expect(judgement).toMatchObject({ result: "blocked", findings: [], blocking: [] });
    expect(judgement.runs?.map((run) => run.details)).toEqual(
      Array(2).fill(`the environment is not available: \`${probe}\` says exit code 7`),
    );
    expect(readFileSync(join(folder, "probes"), "utf8")).toBe("x\n");
  });

  test("the probe runs inside the environment", async () => {
    const two = { run: "env WHERE=two", probe: 'test "$WHERE" = two' };
    expect(await judge(["true"], { environments: { two } })).toMatchObject({ result: "pass" });
  });

  test("an unconfigured one is an error", async () => {
    expect(await judge([{ run: "true", environments: ["mars"] }], { environments })).toMatchObject({
      result: "error",
      runs: [{ details: "there is no environment mars" }],
    });
  });

  test("the same fault in two of them is one finding", async () => {
    const { gone: _, ...both } = environments;
    const judgement = await judge(["echo 'a.ts(1,2): error TS1: no'; exit 1"], { environments: both });
    expect(judgement.runs).toHaveLength(2);
    expect(judgement.findings).toHaveLength(1);
  });
});

test("checks have the user's environment, and CI", async () => {
  const noisy = { ...env, FORCE_COLOR: "3", NODE_TEST_CONTEXT: "child-v8", TZ: "Asia/Tokyo" };
  await judge(['echo "$FORCE_COLOR|$NODE_TEST_CONTEXT|$NO_COLOR|$CI|$TZ" > seen'], { env: noisy });
  expect(readFileSync(join(folder, "seen"), "utf8")).toBe("|||1|Asia/Tokyo\n");
  await judge(['echo "$NO_COLOR|$CI" > seen'], { env: { ...env, NO_COLOR: "yes", CI: "true" } });
  expect(readFileSync(join(folder, "seen"), "utf8")).toBe("yes|true\n");
});

const isPythonHere = pythonProgram() !== null;
test.skipIf(!isPythonHere)("a check in Python leaves no compiled code behind", async () => {
  writeFileSync(join(folder, "cart.py"), "total = 3\n");
  const judgement = await judge(["python3 -c 'import cart; assert cart.total == 3'"]);
  expect(judgement.result).toBe("pass");
  expect(existsSync(join(folder, "__pycache__"))).toBe(false);
});

test("output is shown while the check runs, and commands are named", async () => {
  const seen: string[] = [];
  const gate = gateOf([
    "echo a; echo b",
    { run: "true && true", environments: [] },
    { run: "make", environments: ["node20"] },
  ]);
  await gate.run(gateRequest({ path: folder }), {
    signal: new AbortController().signal,
    onOutput: (line) => seen.push(line),
  });
  expect(seen).toEqual(["a", "b"]);
  expect(gate.criteria()).toEqual(["echo a; echo b", "true && true", "make (in node20)"]);
});

describe("a failure at the base", () => {
  const TWO_ERRORS = "echo 'a.ts(1,2): error TS1: old'; echo 'b.ts(4,2): error TS2: old too'; exit 1";
  const OLD = ["a.ts: ts1: old", "b.ts: ts2: old too"];
  const baseline = (commands: readonly Run[]) => gateOf(commands).baseline!(gateRequest({ path: folder }), control());
  const atBase = (parts: Partial<BaseFailures>): Partial<GateRequest> => ({
    atBase: { ...UNKNOWN_BASE, failing: OLD, ...parts },
  });
  const known = [{ test: "*.ts", reason: "legacy" }];

  test("is named, and confirmed by another run", async () => {
    expect(await baseline([TWO_ERRORS, "true"])).toMatchObject({ failing: OLD, flaky: [] });
    expect(await baseline([{ name: "build", run: "exit 4" }])).toMatchObject({ failing: ["build"], flaky: [] });
    expect(await baseline(["no-such-command-here"])).toMatchObject({ failing: [], flaky: [] });
    const once = "printf x >> runs; test $(wc -c < runs) -gt 1 || { echo 'a.ts(1,2): error TS1: old'; exit 1; }";
    expect(await baseline([once])).toMatchObject({ failing: [], flaky: ["a.ts: ts1: old"] });
  });

  test("that is known does not block, wherever it moved, and is shown with the pass", async () => {
    const moved = "echo 'a.ts(90,7): error TS1: old'; exit 1";
    const judgement = await judge([moved], {}, atBase({ known }));
    expect(judgement).toMatchObject({ result: "pass", blocking: [], findings: [{ severity: "info", file: "a.ts" }] });
    expect(judgement.findings[0]!.detail).toContain("A known failure (legacy)");
    expect(judgement.runs?.[0]).toMatchObject({
      result: "pass",
      exitCode: 1,
      details: "1 known failure: a.ts: ts1: old",
    });
    expect(judgement.notes).toEqual([
      "1 known failure: a.ts: ts1: old",
      "1 known failure no longer fails, its entry can go: b.ts: ts2: old too",
    ]);
    expect(judgement.summary).toContain("checks: pass, 1 known failure: a.ts: ts1: old");
  });

  test("that is a target blocks until it passes", async () => {
    const judgement = await judge([TWO_ERRORS], {}, atBase({ targets: [OLD[0]!] }));
    expect(judgement.result).toBe("fail");
    const blocking = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
    expect(blocking.map(({ file, detail }) => [file, detail])).toEqual([
      ["a.ts", expect.stringContaining("A target of this story")],
    ]);
    expect(await judge(["true"], {}, atBase({ targets: OLD }))).toMatchObject({ result: "pass" });
  });

  test("that is neither is shown, if the story has another target", async () => {
    const judgement = await judge([TWO_ERRORS], {}, atBase({}));
    expect(judgement.result).toBe("pass");
    expect(judgement.notes?.[0]).toMatch(/^2 failures that were there before and are not targets: a\.ts/);
  });

  test("hides neither new failures, nor a known one that passed at the base", async () => {
    const command = `echo 'c.ts(1,1): error TS3: new'; ${TWO_ERRORS}`;
    const judgement = await judge([command], {}, atBase({ known }));
    expect(judgement.result).toBe("fail");
    expect(judgement.findings.filter(({ id }) => judgement.blocking.includes(id)).map(({ file }) => file)).toEqual([
      "c.ts",
    ]);
    expect(judgement.findings).toHaveLength(3);
  });

  test("proves nothing now if more failed than are listed", async () => {
    const errors = (count: number): string =>
      `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "a.ts($i,2): error TS$i: old"; done; exit 1`;
    const { failing } = await baseline([errors(200)]);
    const known = atBase({ failing, known: [{ test: "a.ts", reason: "legacy" }] });
    expect(await judge([errors(200)], {}, known)).toMatchObject({ result: "pass" });
    // The additional error may be new: it is not among those that are compared.
    const judgement = await judge([errors(201)], {}, known);
    expect(judgement).toMatchObject({ result: "inconclusive", blocking: [] });
    expect(judgement.summary).toMatch(/does not say whether it is worse now/);
  });

  test("that is known is accepted without a run of the base", async () => {
    expect(await judge([TWO_ERRORS], {}, atBase({ failing: null, known }))).toMatchObject({ result: "pass" });
    expect(await judge([TWO_ERRORS], {}, atBase({ failing: null }))).toMatchObject({ result: "fail" });
  });

  test("without details proves nothing now, known or not", async () => {
    for (const each of [[], [{ test: "build", reason: "broken for years" }]]) {
      const judgement = await judge(
        [{ name: "build", run: "exit 4" }],
        {},
        atBase({ failing: ["build"], known: each }),
      );
      expect(judgement).toMatchObject({ result: "inconclusive", blocking: [] });
      expect(judgement.summary).toMatch(/does not say whether it is worse now/);
    }
  });
});
