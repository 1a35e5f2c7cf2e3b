import { describe, expect, test } from "vitest";
import type { ChecksGate } from "../../../src/gates/checks/checks-gate.ts";
import { withTestedWork } from "../../../src/gates/pinned/tested-work.ts";
import { evidenceId, treeId } from "../../../src/core/events/ids.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { suiteResultsText, type SuiteResults } from "../../../src/core/gates/test-names.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import type { PathsFromCommit } from "../../../src/ports/experiment-runner.ts";
import { gateRequest } from "../../contract/gate.ts";
import { fakeWorkspace, judgementOf } from "../../kit/reviewers.ts";

const CONTROL = { signal: new AbortController().signal, onOutput: () => undefined };
const TARGET = "test_cart.py > test_adds";
const NAMED: SuiteResults = { isNamed: true, passed: new Map(), failed: new Set([TARGET]), ran: 1 };

interface World {
  /** Changed files: the base's text and the work's. */
  readonly files: Readonly<Record<string, readonly [base: string | null, work: string | null]>>;
  /** The results of the tests on the work. */
  readonly tests?: SuiteResults;
  /** Files that the run with the base's tests writes. */
  readonly written?: readonly string[];
  readonly request?: Partial<GateRequest>;
  /** The checks' judgement; default: a pass. */
  readonly ran?: Partial<Judgement>;
}

/**
 * Runs the gate over checks that always pass, and returns the files that it restored for the run with the base's tests.
 */
async function judged({ files, tests = NAMED, written = [], request = {}, ran = {} }: World) {
  const taken: string[] = [];
  const texts = new Map<string, string | null>();
  const identities = { failing: [], unlisted: 0, passedAtBase: [], passedLast: [], ranTests: [], notLoaded: [] };
  const known = { ...identities, passing: ["known"] };
  const passing = judgementOf({ gate: "checks", result: "pass", identities: known, ...ran });
  const gate = withTestedWork(
    { name: "checks", judgeTests: () => Promise.resolve({ judgement: passing, tests }) } as unknown as ChecksGate,
    {
      evidence: { read: () => Promise.resolve(suiteResultsText(NAMED)) },
      experimentRunner: {
        open: () =>
          Promise.resolve({
            path: "/bench",
            set: (_tree: string, own: ReadonlyMap<string, string | null>, back?: PathsFromCommit) => {
              taken.push(...(back?.paths ?? []));
              own.forEach((text, path) => texts.set(path, text));
              return Promise.resolve(treeId("pinned"));
            },
            paths: () => Promise.resolve([]),
            writtenPaths: () => Promise.resolve(written),
            text: () => null,
            close: () => Promise.resolve(),
          }),
      },
      workspace: fakeWorkspace({
        changedPaths: () => Promise.resolve(Object.keys(files)),
        fileAt: (_story, at, path) => Promise.resolve(files[path]?.[at === "base" ? 0 : 1] ?? null),
      }),
      testPaths: ["**/test_*.py"],
      oracle: [],
      product: [],
      commands: ["python3 -m unittest"],
    },
  );
  return { judgement: await gate.run(gateRequest(request), CONTROL), taken, texts };
}

describe("a check that named every test at the base", () => {
  const baseRun = { ended: [], ranTests: [], notLoaded: [], tests: evidenceId("base-tests") };
  const atBase = { failing: [TARGET], flaky: [], known: [], targets: [TARGET] };

  test("and names none now did not run the target, whatever it prints", async () => {
    const tests: SuiteResults = { isNamed: false, passed: new Map(), failed: new Set(), ran: 2 };
    const { judgement } = await judged({ files: { "unittest.py": [null, "x"] }, tests, request: { baseRun, atBase } });
    expect(judgement).toMatchObject({ result: "fail", findings: [{ message: `the target ${TARGET} does not run` }] });
  });
});

describe("a check that passes with fewer tests than before", () => {
  const run = { check: "test", command: "test", environment: "local", exitCode: 0, details: "" };
  const ran: Partial<Judgement> = {
    result: "inconclusive",
    summary: "checks: inconclusive (fewer)",
    runs: [{ ...run, result: "pass" }],
  };
  const atBase = { failing: [TARGET], flaky: [], known: [], targets: [TARGET] };
  const tests: SuiteResults = { isNamed: true, passed: new Map([["other", 1]]), failed: new Set(), ran: 1 };
  const judge = (more: Partial<World>) => judged({ files: {}, tests, ran, request: { atBase }, ...more });

  test("rejects the work if a target did not run: its author must fix that, not a person", async () => {
    const { judgement } = await judge({ files: { "test_cart.py": ["def test_adds", "def no_test_adds"] } });
    // The file may be restored.
    const finding = { message: `the target ${TARGET} does not run`, file: "test_cart.py", category: "target" };
    expect(judgement).toMatchObject({ result: "fail", findings: [finding] });
  });

  test("proves nothing if the target may be removed, if there is none, and if tests are not named", async () => {
    const licensed = [TARGET];
    for (const more of [
      { request: { atBase, licensed } },
      { request: {} },
      { tests: { ...tests, isNamed: false } },
    ] satisfies Partial<World>[])
      expect((await judge(more)).judgement.result).toBe("inconclusive");
  });
});

describe("tests that are edited while the base's tests run", () => {
  const files = { "test_cart.py": ["assert 3", "assert 1"], "cart.py": ["a", "b"] } as const;

  test("make the pass inconclusive", async () => {
    const { judgement, taken } = await judged({ files, written: ["test_cart.py", "cart.py"] });
    expect(taken).toEqual(["test_cart.py"]);
    expect(judgement).toMatchObject({ result: "inconclusive", identities: { passing: [] } });
    expect(judgement.summary).toContain("test files were changed while the checks ran: test_cart.py)");
  });

  test("are permitted if the checks edit them at the base too, and if they are the product", async () => {
    const baseRun = { ended: [], ranTests: [], notLoaded: [], written: ["test_cart.py"] };
    const { judgement } = await judged({ files, written: ["test_cart.py", "cart.py"], request: { baseRun } });
    expect(judgement.result).toBe("pass");
  });
});

describe("vendored modules of Go", () => {
  const MODULES = "# example.com/check v1.0.0\n# example.com/rows v1.2.0\n";
  const CHECK = "vendor/example.com/check/check.go";

  test("are removed if the base has none", async () => {
    const files = { "vendor/modules.txt": [null, MODULES], [CHECK]: [null, "x"] } as const;
    expect((await judged({ files })).taken).toEqual(["vendor/modules.txt", CHECK]);
  });

  test("are the base's if their version is the same, and the work's if it changed", async () => {
    const files = {
      "vendor/modules.txt": [MODULES, MODULES.replace("v1.2.0", "v1.3.0")],
      [CHECK]: ["x", "y"],
      "vendor/example.com/rows/rows.go": ["x", "y"],
      "vendor/example.com/new/new.go": [null, "x"],
    } as const;
    expect((await judged({ files })).taken).toEqual([CHECK]);
  });

  test("in other folders of that name belong to the product", async () => {
    expect((await judged({ files: { "vendor/shop.js": ["x", "y"] } })).taken).toEqual([]);
  });
});

test("a manifest that the work adds brings no runner settings into the run with the base's tests", async () => {
  const { texts } = await judged({
    files: { "setup.cfg": [null, "[metadata]\nname = a\n[tool:pytest]\naddopts = -k x\n"] },
  });
  expect([...texts]).toEqual([["setup.cfg", "[metadata]\nname = a\n"]]);
});
