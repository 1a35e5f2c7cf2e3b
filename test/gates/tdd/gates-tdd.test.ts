import { describe, expect, test } from "vitest";
import { createTddGate, type TddOptions } from "../../../src/gates/tdd/tdd-gate.ts";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import type { Finding } from "../../../src/core/gates/finding.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { roleName, treeId } from "../../../src/core/events/ids.ts";
import type { Evidence } from "../../../src/ports/evidence.ts";
import type { Gate, GateRequest } from "../../../src/ports/gate.ts";
import type { ExperimentRunner } from "../../../src/ports/experiment-runner.ts";
import type { Workspace } from "../../../src/ports/workspace.ts";
import { judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import { createChecksGate } from "../../../src/gates/checks/checks-gate.ts";
import { describeGate, gateRequest } from "../../contract/gate.ts";
import { fakeWorkspace, fixedClock, judgementOf } from "../../kit/reviewers.ts";

/* Real runs, on real projects, are in test/e2e/presets/factory.test.ts. */

const clock = { now: () => performance.now(), sleep: () => Promise.resolve() };
const withTest = fakeWorkspace({ changedPaths: () => Promise.resolve(["src/pay.js", "test/pay.test.js"]) });

function tddOver(command: string, evidence: Evidence): Gate {
  const tests = createChecksGate({
    commands: [{ name: "unit", run: command }],
    environments: {},
    evidence,
    clock,
    env: { PATH: process.env["PATH"] ?? "" },
    reruns: 0,
  });
  return gateOf(tests);
}

function gateOf(tests: Gate, options: Partial<TddOptions> = {}): Gate {
  return createTddGate({
    tests,
    domain: null,
    experimentRunner: null,
    workspace: withTest as unknown as Workspace,
    testPaths: ["test/**"],
    clock: fixedClock,
    ...options,
  });
}

const over =
  (command: string, path = "/tmp") =>
  (evidence: Evidence) =>
    Promise.resolve({ gate: tddOver(command, evidence), request: gateRequest({ path }) });

describeGate("tdd", {
  passing: over("echo fine"),
  failing: over("echo 'src/a.ts(3,5): error TS2322: no'; exit 2"),
  broken: over("echo fine", "/nowhere-at-all"),
  slow: over("sleep 600"),
});

/** Makes a gate that returns the given answers in turn, and records its requests. */
function stub(name: "checks" | "review", ...answers: readonly Partial<Judgement>[]) {
  const asked: GateRequest[] = [];
  const gate: Gate = {
    name,
    criteria: () => [name],
    run: (request) => {
      asked.push(request);
      const answer = answers[Math.min(asked.length, answers.length) - 1]!;
      return Promise.resolve(judgementOf({ gate: name, result: "pass", tree: request.tree, ...answer }));
    },
  };
  return { gate, asked };
}

const wrong = (changes: Partial<Finding>): Finding =>
  identifyFinding({ severity: "critical", category: "test", message: "boom", source: "unit", ...changes });
const failing = (...findings: readonly Finding[]): Partial<Judgement> => ({
  result: "fail",
  findings,
  blocking: findings.map(({ id }) => id),
  failure: findings[0]!.id,
});

/** Makes an experiment runner in which the new tests run without the work. */
function experimentRunner() {
  const opened: { tree: string; paths: readonly string[] }[] = [];
  let closed = 0;
  const made: ExperimentRunner = {
    open: () =>
      Promise.resolve({
        path: "/bench",
        set: (tree, texts) => {
          opened.push({ tree, paths: [...texts.keys()] });
          return Promise.resolve(treeId("bench"));
        },
        paths: () => Promise.resolve([]),
        text: () => null,
        close: () => {
          closed++;
          return Promise.resolve();
        },
      }),
  };
  return { made, opened, closed: () => closed };
}

async function judge(gate: Gate, request: Partial<GateRequest> = {}): Promise<Judgement> {
  const judgement = await gate.run(gateRequest(request), {
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });
  expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
  expect(judgement.gate).toBe("tdd");
  return judgement;
}

describe("the failed phase", () => {
  test.each(["SyntaxError: Unexpected token", "ReferenceError: pay is not defined", "fixture 'db' not found"])(
    "is RED for a test file that does not run: %s",
    async (message) => {
      const { gate } = stub("checks", failing(wrong({ file: "test/pay.test.js", message })));
      expect(await judge(gateOf(gate))).toMatchObject({ result: "fail", tddPhase: "red" });
    },
  );

  test("is GREEN for a test that fails with the work, and for a fault in the code itself", async () => {
    const assertion = wrong({ file: "test/pay.test.js", message: "expected 3 to be 4" });
    const inCode = wrong({ file: "src/pay.js", message: "ReferenceError: fee is not defined" });
    for (const each of [assertion, inCode])
      expect(await judge(gateOf(stub("checks", failing(each)).gate))).toMatchObject({ tddPhase: "green" });
    const both = failing(wrong({ file: "test/pay.test.js", message: "SyntaxError: no" }), assertion);
    expect(await judge(gateOf(stub("checks", both).gate))).toMatchObject({ tddPhase: "green" });
  });

  test("is RED without a test for the story", async () => {
    const judged = await judge(gateOf(stub("checks", {}).gate, { workspace: fakeWorkspace() as unknown as Workspace }));
    expect(judged).toMatchObject({ result: "fail", tddPhase: "red", findings: [{ category: "tdd-red" }] });
    expect(judged.summary).toContain("RED: no test was written for this story");
  });

  test.each(["fail", "inconclusive"] as const)("is RED if the runner finds no test: %s", async (result) => {
    const workspace = fakeWorkspace() as unknown as Workspace;
    const tests = { total: 0, passed: 0, failed: 0, skipped: 0 };
    const empty = { ...failing(wrong({ message: "`pytest -q` failed with exit code 5" })), result, tests };
    const judged = await judge(gateOf(stub("checks", empty).gate, { workspace }));
    expect(judged).toMatchObject({ result: "fail", tddPhase: "red" });
    expect(judged.summary).toContain("RED: no test was written for this story");
    const some = { ...empty, result: "fail" as const, tests: { ...tests, total: 1, failed: 1 } };
    expect(await judge(gateOf(stub("checks", some).gate, { workspace }))).toMatchObject({ tddPhase: "green" });
  });

  test("is RED if tests were only removed", async () => {
    const gone = fakeWorkspace({
      changedPaths: () => Promise.resolve(["test/pay.test.js"]),
      fileAt: () => Promise.resolve(null),
    });
    const judged = await judge(gateOf(stub("checks", {}).gate, { workspace: gone as unknown as Workspace }));
    expect(judged.tddPhase).toBe("red");
  });

  test("is RED for tests that pass without the work", async () => {
    const { made, opened, closed } = experimentRunner();
    const { gate, asked } = stub("checks", {});
    const judged = await judge(gateOf(gate, { experimentRunner: made }));
    expect(judged).toMatchObject({ result: "fail", tddPhase: "red", findings: [{ file: "test/pay.test.js" }] });
    expect(opened).toEqual([{ tree: "base", paths: ["test/pay.test.js"] }]);
    expect(asked.map(({ path }) => path)).toEqual(["/nowhere", "/bench"]);
    expect(closed()).toBe(1);
  });

  test("is none if the tests fail without the work", async () => {
    const { made, closed } = experimentRunner();
    const { gate } = stub("checks", {}, failing(wrong({ file: "test/pay.test.js" })));
    const judged = await judge(gateOf(gate, { experimentRunner: made }));
    expect(judged).toMatchObject({ result: "pass", blocking: [] });
    expect(judged.tddPhase).toBeUndefined();
    expect(closed()).toBe(1);
  });

  test("is not determined again while the tests are unchanged", async () => {
    const { made, opened } = experimentRunner();
    const workspace = fakeWorkspace({
      changedPaths: (_story, from) => Promise.resolve(from === "base" ? ["test/pay.test.js"] : ["src/pay.js"]),
    });
    const last = judgementOf({ gate: "tdd", result: "pass", tree: treeId("before") });
    const options = { experimentRunner: made, workspace: workspace as unknown as Workspace };
    expect((await judge(gateOf(stub("checks", {}).gate, options), { last })).result).toBe("pass");
    expect(opened).toEqual([]);
  });

  // S1.2
  test("is DOMAIN for a veto of the domain reviewer, and earlier runs stay known", async () => {
    const run = {
      check: "unit",
      command: "node --test",
      environment: "local",
      result: "pass",
      exitCode: 0,
      details: "",
    } as const;
    const review = stub("review", failing(wrong({ file: "src/pay.js", message: "money has no type" })));
    const judged = await judge(gateOf(stub("checks", { runs: [run] }).gate, { domain: review.gate }));
    expect(judged).toMatchObject({ result: "fail", tddPhase: "domain", runs: [run] });
    expect(review.asked[0]?.stages).toEqual(["domain"]);
  });
});

test.each([
  [["test/pay.test.js"], 0],
  [["test/pay.test.js", "src/pay.js"], 1],
])("after a pass and a change of %j the domain reviewer is asked %i times", async (changed, times) => {
  const workspace = fakeWorkspace({
    changedPaths: (_story, from) => Promise.resolve(from === "base" ? ["test/pay.test.js", "src/pay.js"] : changed),
  }) as unknown as Workspace;
  const stages = [{ stage: "domain", result: "pass", reviewer: roleName("domain-reviewer") }] as const;
  const last = judgementOf({ gate: "tdd", result: "pass", tree: treeId("before"), stages });
  const review = stub("review", { stages });
  const judged = await judge(
    gateOf(stub("checks", {}).gate, { domain: review.gate, workspace, experimentRunner: null }),
    {
      last,
    },
  );
  expect(review.asked).toHaveLength(times);
  expect(judged).toMatchObject({ result: "pass", stages });
});

test("runs that proved nothing have no phase at fault", async () => {
  for (const result of ["inconclusive", "error", "blocked"] as const) {
    const review = stub("review", {});
    const judged = await judge(gateOf(stub("checks", { result }).gate, { domain: review.gate }));
    expect(judged.result).toBe(result);
    expect(judged.tddPhase).toBeUndefined();
    expect(review.asked).toEqual([]);
  }
});

test("the criteria are its tests and its domain reviewer", () => {
  expect(gateOf(stub("checks", {}).gate, { domain: stub("review", {}).gate }).criteria()).toEqual(["checks", "review"]);
});
