import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { ChecksOptions } from "../../../src/gates/checks/checks-gate.ts";
import { testIdentities } from "../../../src/gates/pinned/match-tests.ts";
import { UNKNOWN_BASE } from "../../../src/core/gates/base-failures.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import { gateRequest } from "../../contract/gate.ts";
import { before, checksGateFixture } from "../../kit/checks-gate.ts";

const bench = checksGateFixture();
const UNIT = { name: "unit", run: "cat out.txt; exit $(cat code.txt)" };
const FILE = "test/a.test.ts";

/** The tests' file, the same at the base and in every tree. */
const holding = (...titles: readonly string[]): Partial<ChecksOptions> => ({
  workspace: {
    fileAt: (_story, _at, path) =>
      Promise.resolve(path === FILE ? titles.map((title) => `test("${title}", () => {});\n`).join("") : null),
  },
});

function put(name: string, text: string): void {
  const path = join(bench.folder(), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Writes what Vitest prints when these tests fail. */
function says(failing: readonly string[], passed: number, broken: readonly string[] = []): void {
  const told = [...broken.map((file) => `${file} [ ${file} ]`), ...failing.map((title) => `${FILE} > ${title}`)];
  put(
    "out.txt",
    [
      " RUN  v3.2.7 /project",
      ...told.map((each) => ` FAIL  ${each}\nAssertionError: expected 1 to be 2\n ❯ ${FILE}:3:1\n⎯⎯⎯⎯⎯⎯⎯⎯`),
      `      Tests  ${failing.length} failed | ${passed} passed (${failing.length + passed})`,
      "",
    ].join("\n"),
  );
  put("code.txt", told.length === 0 ? "0" : "1");
}

const control = { signal: new AbortController().signal, onOutput: () => undefined };
const baseline = async (options: Partial<ChecksOptions>): Promise<Partial<GateRequest>> => {
  const gate = bench.gate([UNIT], options);
  const { failing, run } = await gate.baseline!(gateRequest({ path: bench.folder() }), control);
  return { atBase: { ...UNKNOWN_BASE, failing }, baseRun: run! };
};
const judge = (options: Partial<ChecksOptions>, request: Partial<GateRequest>) => bench.judge([UNIT], options, request);

test("failures of tests that passed at the base are distinguished from new ones", async () => {
  const options = holding("adds", "subtracts");
  says(["subtracts"], 1);
  const known = await baseline(options);
  expect(known.baseRun).toMatchObject({
    ended: ["unit"],
    ranTests: ["unit"],
    names: { unit: "counts" },
    notLoaded: [],
  });
  says(["adds", "subtracts", "outer > multiplies"], 0);
  expect((await judge(options, known)).identities).toEqual({
    failing: [`${FILE} > adds`, `${FILE} > subtracts`, `${FILE} > outer > multiplies`],
    unlisted: 0,
    passing: [],
    passedAtBase: [`${FILE} > adds`],
    passedLast: [],
    ranTests: ["unit"],
    notLoaded: [],
  });
});

test("tests that passed at the last judgement, and tests that are only counted", async () => {
  const options = holding("adds", "subtracts", "new one");
  says(["adds"], 2);
  const last = before(await judge(options, {}));
  says(["new one"], 2);
  expect((await judge(options, { last })).identities).toMatchObject({
    passedAtBase: [],
    passedLast: [`${FILE} > new one`],
  });
  put("out.txt", " RUN  v3.2.7 /project\n      Tests  3 failed | 1 passed (4)\n");
  expect((await judge(options, { last })).identities).toMatchObject({ failing: ["unit"], unlisted: 3 });
});

test("a file that does not load, and a check that ran tests before and runs none now", async () => {
  const options = holding("adds");
  says([], 2);
  const known = await baseline(options);
  says([], 1, ["test/b.test.ts"]);
  const broken = await judge(options, known);
  expect(broken.identities).toMatchObject({ notLoaded: ["test/b.test.ts"], passedAtBase: [] });
  put("out.txt", "src/a.ts(1,1): error TS1005: ';' expected.\n");
  const types = await judge(options, { ...known, last: before(broken) });
  expect(types.identities).toMatchObject({ notLoaded: ["unit"], ranTests: [] });
  // It stays unknown as long as no test runs, whatever the last judgement was.
  expect((await judge(options, { last: before(types) })).identities).toMatchObject({ notLoaded: ["unit"] });
  // A check that is not known to run tests may check types.
  expect((await judge(options, {})).identities).toMatchObject({ notLoaded: [] });
});

test("what did not load at the base either is not reported", async () => {
  const options = holding("adds");
  says([], 1, ["test/b.test.ts"]);
  const known = await baseline(options);
  says(["adds"], 0, ["test/b.test.ts"]);
  expect((await judge(options, known)).identities).toMatchObject({ notLoaded: [], passedAtBase: [`${FILE} > adds`] });
});

test("a test that failed and is named as passed now", async () => {
  put("out.txt", "TAP version 13\nnot ok 1 - adds\n  ---\n  location: '/x/a.test.mjs:1:1'\n  ...\n1..1\n");
  put("code.txt", "1");
  const last = before(await judge({}, {}));
  put("out.txt", "TAP version 13\nok 1 - adds\nok 2 - other\nnot ok 3 - third\n1..3\n");
  expect((await judge({}, { last })).identities).toMatchObject({ passing: last.identities!.failing });
});

test("a test that appends its result to its name when it fails is the one that passes under the plain name", async () => {
  const failed = "make check > rounds up (got 2, want 3)";
  const request = gateRequest({ atBase: { ...UNKNOWN_BASE, failing: [failed] } });
  const passing = async (now: string, before: string): Promise<readonly string[]> => {
    const named = { passed: [{ test: now, file: null }], unlisted: 0, ranTests: true, notLoaded: [], ended: true };
    const outcomes = [{ faults: [], named, run: {} }] as unknown as Parameters<typeof testIdentities>[1];
    const base = { isNamed: true, passed: new Map([[before, 1]]), failed: new Set([failed]), ran: 2 };
    return (await testIdentities(request, outcomes, [], null, base)).passing ?? [];
  };
  expect(await passing("rounds up", "make check > other")).toEqual([failed]);
  expect(await passing("rounds down", "make check > other")).toEqual([]);
  // A separate test at the base.
  expect(await passing("rounds up", "make check > rounds up")).toEqual([]);
});

test("20,000 passing tests add no name", async () => {
  put(
    "out.txt",
    `TAP version 13\n${Array.from({ length: 20_000 }, (_, i) => `ok ${i + 1} - test ${i}\n`).join("")}1..20000\n`,
  );
  put("code.txt", "0");
  const judgement = await judge({}, {});
  expect(judgement.tests?.passed).toBe(20_000);
  expect(JSON.stringify(judgement).length).toBeLessThan(2000);
});

const SLOW = { name: "unit", run: "echo waiting for it; exec sleep 600", timeoutMs: 1500 };

test("a check that ended in time at the base and hangs with the work has failed, with its command and limit", async () => {
  const baseRun = { ended: ["unit"], ranTests: ["unit"], notLoaded: [] };
  const judgement = await bench.judge([SLOW], {}, { baseRun });
  expect(judgement).toMatchObject({
    result: "fail",
    blocking: [judgement.findings[0]!.id],
    findings: [
      {
        severity: "critical",
        message: "`echo waiting for it; exec sleep 600` did not end within its limit of 1.5 s",
        detail: "Before the work began it ended in time.\nIts last lines: waiting for it",
      },
    ],
    runs: [{ result: "fail", details: "it did not end within 1.5 s, and before the work began it did" }],
    identities: { failing: ["unit: does not end"], notLoaded: ["unit"] },
  });
  expect(judgement.failure).toBeDefined();
});

test.each([
  ["it hung at the base too", { ended: [], ranTests: [], notLoaded: [] }],
  ["nothing is known of the base", null],
])("%s: a hanging check has no result", async (_name, baseRun) => {
  const judgement = await bench.judge([SLOW], {}, baseRun === null ? {} : { baseRun });
  expect(judgement).toMatchObject({ result: "error", findings: [], blocking: [] });
});

test("the base's run records which checks ended", async () => {
  const gate = bench.gate([SLOW, { name: "quick", run: "exit 3" }, "no-such-command-here"]);
  const { run } = await gate.baseline!(gateRequest({ path: bench.folder() }), control);
  expect(run?.ended).toEqual(["quick"]);
});
