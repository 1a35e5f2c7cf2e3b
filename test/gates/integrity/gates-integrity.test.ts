import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readChanges } from "../../../src/gates/integrity/file-changes.ts";
import type { IntegrityOptions } from "../../../src/gates/integrity/integrity-gate.ts";
import { RemandError } from "../../../src/core/events/error.ts";
import type { TestPolicy } from "../../../src/core/stories/scope.ts";
import type { Evidence } from "../../../src/ports/evidence.ts";
import { describeGate } from "../../contract/gate.ts";
import { control, integrityTrees, lines, scopeOf, type IntegrityTrees, type Tree } from "../../kit/integrity-trees.ts";

let trees: IntegrityTrees;
beforeAll(() => {
  trees = integrityTrees();
});
afterAll(() => trees.clear());

const gateOf = (options: Partial<IntegrityOptions> = {}) => trees.gateOf(options);
const requestFor: IntegrityTrees["requestFor"] = (...args) => trees.requestFor(...args);
const judge: IntegrityTrees["judge"] = (...args) => trees.judge(...args);

const CODE = { "src/add.js": "exports.add = (a, b) => a - b;\n" };
const FIXED = { "src/add.js": "exports.add = (a, b) => a + b;\n" };
const TESTS = {
  "test/add.test.js": `test("adds", () => { expect(add(1, 2)).toBe(3); });\ntest("adds nothing", () => { expect(add(0, 0)).toBe(0); expect(add(1, 0)).toBe(1); });\n`,
};

describeGate("integrity", {
  passing: (evidence: Evidence) =>
    Promise.resolve({ gate: gateOf({ evidence }), request: requestFor({ ...CODE, ...TESTS }, { ...FIXED, ...TESTS }) }),
  failing: (evidence: Evidence) =>
    Promise.resolve({
      gate: gateOf({ evidence }),
      request: requestFor({ ...CODE, ...TESTS }, FIXED, scopeOf("add-only")),
    }),
  broken: (evidence: Evidence) => {
    const broken = () => Promise.reject(new RemandError("git-failed", "git says no", "Ask again."));
    return Promise.resolve({
      gate: gateOf({ evidence, workspace: { ...trees.workspace, changedPaths: broken } }),
      request: requestFor(CODE, FIXED),
    });
  },
  slow: () => null,
});

describe("empty work", () => {
  test("fails if it is new, and says what to do", async () => {
    const judgement = await judge(CODE, CODE);
    expect(judgement).toMatchObject({ result: "fail", summary: "integrity: fail (nothing was changed), 1 to fix" });
    expect(judgement.findings[0]?.suggestedFix).toMatch(/TASK_INCOMPLETE/);
  });

  test("is judged since the previous attempt, not since the story began", async () => {
    expect((await judge(CODE, FIXED, null, FIXED)).result).toBe("fail");
  });

  test("is left to the stall rule if it is a rework", async () => {
    expect((await judge(CODE, FIXED, scopeOf("add-only"), FIXED)).result).toBe("pass");
  });
});

describe("tests in rework", () => {
  const rework = (now: Tree, tests: TestPolicy = "add-only") => judge({ ...CODE, ...TESTS }, now, scopeOf(tests));

  test.each([
    ["deleted", {}, "the test file was deleted, and the 2 tests in it"],
    ["emptied", { "test/add.test.js": "" }, '2 tests are no longer there: "adds", "adds nothing"'],
    [
      "taken out",
      { "test/add.test.js": TESTS["test/add.test.js"].replace(/test\("adds",.*\n/, "") },
      'a test is no longer there: "adds"',
    ],
    [
      "commented out",
      { "test/add.test.js": TESTS["test/add.test.js"].replace('test("adds",', '// test("adds",') },
      'a test is no longer there: "adds"',
    ],
    [
      "renamed",
      { "test/add.test.js": TESTS["test/add.test.js"].replace('"adds"', '"works"') },
      'existing tests were changed: "adds"',
    ],
    [
      "skipped",
      { "test/add.test.js": TESTS["test/add.test.js"].replace('test("adds"', 'test.skip("adds"') },
      'existing tests were changed: "adds"',
    ],
    [
      "turned round",
      { "test/add.test.js": TESTS["test/add.test.js"].replace('test("adds"', 'test.fails("adds"') },
      'existing tests were changed: "adds"',
    ],
    [
      "left alone by others",
      { "test/add.test.js": TESTS["test/add.test.js"].replace('test("adds nothing"', 'test.only("adds nothing"') },
      'existing tests were changed: "adds nothing"',
    ],
    [
      "loosened",
      { "test/add.test.js": TESTS["test/add.test.js"].replace(" expect(add(1, 0)).toBe(1);", "") },
      'existing tests were changed: "adds nothing"',
    ],
  ] as const)("%s: fails, with its file and what to do", async (_what, tests, message) => {
    const judgement = await rework({ ...FIXED, ...tests });
    expect(judgement.result).toBe("fail");
    const blocking = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
    expect(blocking).toContainEqual(
      expect.objectContaining({
        severity: "blocker",
        category: expect.stringMatching(/^integrity\/[a-z-]+$/) as string,
        source: "integrity",
        file: "test/add.test.js",
        message,
      }),
    );
    for (const finding of blocking) expect(finding.suggestedFix).toMatch(/\w/);
  });

  test.each(["add-only", "frozen", "required"] as const)("with the scope's tests %s they must stay", async (tests) => {
    expect((await rework(FIXED, tests)).result).toBe("fail");
  });

  test("may change if the tests themselves are at fault, and stay tests", async () => {
    const changed = { "test/add.test.js": TESTS["test/add.test.js"].replace('"adds"', '"sums"').replace("(3)", "(4)") };
    expect(await rework({ ...FIXED, ...changed }, "open")).toMatchObject({
      result: "pass",
      findings: [{ severity: "info", category: "integrity/test-changed" }],
    });
  });

  test("may be added and moved", async () => {
    const added = {
      ...FIXED,
      "test/add.test.js": `${TESTS["test/add.test.js"]}test("more", () => { expect(1).toBe(1); });\n`,
    };
    expect(await rework(added)).toMatchObject({ result: "pass", findings: [] });
    const moved = { ...FIXED, "test/deep/add.test.js": TESTS["test/add.test.js"] };
    expect(await rework(moved)).toMatchObject({ result: "pass", findings: [] });
  });

  test("must stay if an earlier attempt added them", async () => {
    const earlier = { ...CODE, ...TESTS, "test/more.test.js": 'test("more", () => { expect(1).toBe(1); });\n' };
    const judgement = await judge({ ...CODE, ...TESTS }, { ...FIXED, ...TESTS }, scopeOf("add-only"), earlier);
    expect(lines(judgement.findings)).toEqual([
      "blocker test/more.test.js: the test file was deleted, and the test in it",
    ]);
  });

  test("are not reported again after a finding was overturned", async () => {
    const first = await rework(FIXED);
    const request = { ...requestFor({ ...CODE, ...TESTS }, FIXED, scopeOf("add-only")), overturned: first.blocking };
    expect(await gateOf().run(request, control())).toMatchObject({ result: "pass", findings: [] });
  });
});

describe("tests in new work", () => {
  test("may be rewritten and deleted: it is shown, and the base's version decides", async () => {
    const skipped = { ...FIXED, "test/add.test.js": 'test.skip("adds", () => {});\n' };
    const judgement = await judge({ ...CODE, ...TESTS }, skipped);
    expect(judgement.result).toBe("pass");
    expect(lines(judgement.findings)).toEqual(['info test/add.test.js: a test is no longer there: "adds nothing"']);
    expect(lines((await judge({ ...CODE, ...TESTS }, FIXED)).findings)).toEqual([
      "info test/add.test.js: the test file was deleted, and the 2 tests in it",
    ]);
  });

  test("follow the config's severity, as in rework", async () => {
    const base = { ...CODE, ...TESTS };
    for (const scope of [null, scopeOf("add-only")]) {
      expect((await judge(base, FIXED, scope, base, { rules: { "test-changed": "minor" } })).findings).toMatchObject([
        { severity: "minor", category: "integrity/test-changed" },
      ]);
      expect(await judge(base, FIXED, scope, base, { rules: { "test-changed": "off" } })).toMatchObject({
        result: "pass",
        findings: [],
      });
    }
  });

  test("fail the gate if the rules say that a minor finding does", async () => {
    const request = requestFor({ ...CODE, ...TESTS }, { ...FIXED, ...TESTS, "src/b.js": "console.log(1);\n" });
    const strict = { ...request, rules: { ...request.rules, failOn: { minor: 1 } } };
    expect(await gateOf().run(strict, control())).toMatchObject({ result: "fail", blocking: [expect.any(String)] });
    const every = { ...request, rules: { ...request.rules, failOn: {}, everyFinding: true } };
    expect(await gateOf().run(every, control())).toMatchObject({ result: "fail", blocking: [expect.any(String)] });
  });

  test("may be renamed, with a note", async () => {
    const renamed = { "test/add.test.js": TESTS["test/add.test.js"].replace('"adds"', '"sums"') };
    expect(lines((await judge({ ...CODE, ...TESTS }, { ...FIXED, ...renamed })).findings)).toEqual([
      'info test/add.test.js: existing tests were changed: "adds"',
    ]);
  });
});

describe("leftovers", () => {
  const added = (path: string, text: string) => judge(CODE, { ...FIXED, [path]: text });

  test("conflict markers fail, with their line", async () => {
    const judgement = await added("src/b.js", "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n");
    expect(judgement).toMatchObject({ result: "fail", findings: [{ severity: "blocker", file: "src/b.js", line: 2 }] });
    expect((await added("notes.md", "Title\n=======\n<<<<<<< is how it begins\n")).findings).toEqual([]);
  });

  test("markers from before are not this work's", async () => {
    const marks = "<<<<<<< a\n=======\n>>>>>>> b\n";
    expect((await judge({ ...CODE, "old.txt": marks }, { ...FIXED, "old.txt": `${marks}more\n` })).findings).toEqual(
      [],
    );
  });

  test("a secret fails, and is not repeated", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const judgement = await added("src/b.js", `const x = 1;\nconst key = "${token}";\n`);
    expect(judgement).toMatchObject({
      result: "fail",
      findings: [{ severity: "critical", file: "src/b.js", line: 2 }],
    });
    expect(JSON.stringify(judgement)).not.toContain(token);
    expect((await added("test/b.test.js", `const key = "${token}";\n`)).result).toBe("pass");
  });

  test("a debug line is only shown", async () => {
    const judgement = await added("src/b.js", "debugger;\n  console.log(x);\nconsole.error(x);\n");
    expect(judgement).toMatchObject({ result: "pass", blocking: [] });
    expect(judgement.findings.map(({ severity, line }) => [severity, line])).toEqual([
      ["major", 1],
      ["minor", 2],
    ]);
  });
});

test("unusual file names are recognized in the diff", async () => {
  const name = 'src/ü "quoted"\tname.js';
  const judgement = await judge(CODE, { ...FIXED, [name]: "debugger;\n" });
  expect(judgement.findings).toMatchObject([{ file: name, line: 1 }]);
});

test("an internal error is not hidden", async () => {
  const broken = { ...trees.workspace, diff: () => Promise.reject(new TypeError("our own fault")) };
  await expect(gateOf({ workspace: broken }).run(requestFor(CODE, FIXED), control())).rejects.toThrow("our own fault");
});

test("lines of content that look like headers are content", () => {
  const diff =
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n--- gone\n+++ b/fake\n+@@ -1 +1 @@\n same\n\\ No newline at end of file\ndiff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n";
  expect(readChanges(diff)).toMatchObject({
    isCut: false,
    files: [
      {
        path: "x",
        removed: ["-- gone"],
        added: [
          { file: "x", line: 1, text: "++ b/fake" },
          { file: "x", line: 2, text: "@@ -1 +1 @@" },
        ],
      },
      { path: "y", added: [], removed: ["z"] },
    ],
  });
});
