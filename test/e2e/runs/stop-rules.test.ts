import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ScriptedAttempt } from "../../../src/core/schemas/agent-script.ts";
import {
  auditPassed,
  makeProject,
  REAL_TESTS,
  reviewFailed,
  reviewPassed,
  wait,
  works,
  type Project,
} from "../critic-audit-project.ts";
import { makeFactoryProject, says, testFile } from "../factory-project.ts";
import { testInFull } from "../../sampled.ts";

/* When a loop stops, from end to end: by which tests and findings fail, and never by how many. */

describe("one story", () => {
  let project: Project;
  beforeEach(() => {
    project = makeProject();
    project.story("cap");
  });
  afterEach(() => project.clear());

  const GOAL = ["preset=goal", REAL_TESTS, "gates.checks.reruns=0"];
  const writes = (text: string): ScriptedAttempt => ({ ...works("// it"), edit: { "src/wait.js": text } });
  const broken = (line: string): ScriptedAttempt =>
    writes(`export function waitMs(retry) {\n  ${line}\n  return (;\n}\n`);
  const why = (): unknown => project.events("escalation.raised")[0]?.escalation.reason;
  const checks = () =>
    project.events("gate.judged").flatMap(({ judgement }) => (judgement.gate === "checks" ? [judgement] : []));

  test("a syntax error that is fixed is progress, though more tests fail than files did before", async () => {
    const wrong = writes("export const waitMs = () => 0;\nwaitMs.fails = 'none';\n");
    const result = await project.run({ developer: [broken("// one"), wrong, works("// right")] }, { set: GOAL });
    expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 3 }] });
    expect(
      checks().map(({ result: said, identities }) => [said, identities?.failing.length, identities?.notLoaded]),
    ).toEqual([
      ["fail", 1, ["test/wait.test.js"]],
      ["fail", 2, []],
      ["pass", 0, []],
    ]);
    expect(project.events("tree.restored")).toEqual([]);
    expect(project.file("cap", "src/wait.js")).toContain("// right");
  });

  testInFull("a tree that does not load is never brought back", async () => {
    const half = writes(wait("// half").replace("retry - 1", "retry"));
    const worse = writes("export const waitMs = () => 0;\nwaitMs.fails = 'none';\n");
    const result = await project.run(
      { developer: [broken("// one"), half, broken("// two"), worse], critic: [], auditor: [] },
      {
        set: [
          REAL_TESTS,
          "gates.checks.reruns=0",
          "gates.checks.blame=false",
          "limits.failures=9",
          "limits.perLocation=9",
        ],
      },
    );
    expect(result).toMatchObject({ exitCode: 4, stories: [{ attempts: 4 }] });
    expect(why()).toMatchObject({
      type: "stall",
      stall: "regression-cascade",
      detail: "the rework broke 1 test that passed before: test/wait.test.js > it works in every flavour",
    });
    expect(project.events("tree.restored")).toHaveLength(1);
    expect(project.file("cap", "src/wait.js")).toContain("// half");
  });

  testInFull("three reviews with three different findings, each of them fixed, reach their third rework", async () => {
    const result = await project.run(
      {
        developer: ["// one", "// two", "// three", "// four"].map((line) => works(line)),
        critic: [
          reviewFailed("src/wait.js:1: the cap is missing"),
          reviewFailed("src/wait.js:2: a comment says nothing"),
          reviewFailed("src/wait.js:3: a negative retry is not refused"),
          reviewPassed,
        ],
        auditor: [auditPassed],
      },
      { set: ["limits.failures=4"] },
    );
    expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 4 }] });
    expect(project.verdicts("cap").filter((said) => said.startsWith("review"))).toEqual([
      "review fail",
      "review fail",
      "review fail",
      "review pass",
    ]);
    expect(project.events("work.sent-back")).toHaveLength(3);
  });

  test("a check that hangs only with the work is the work's failure, and goes back with the command and the limit", async () => {
    const check =
      "node --input-type=module -e \"import { waitMs } from './src/wait.js'; console.log('called'); waitMs(1)\"";
    const hangs = writes("export function waitMs(retry) {\n  for (;;);\n}\n");
    const result = await project.run(
      { developer: [hangs, works("// right")], critic: [reviewPassed], auditor: [auditPassed] },
      {
        set: [
          `gates.checks.commands=${JSON.stringify([{ name: "call", run: check, timeout: "8s" }])}`,
          "gates.checks.blame=false",
        ],
      },
    );
    expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 2 }] });
    expect(checks().map((judgement) => judgement.result)).toEqual(["fail", "pass"]);
    expect(project.events("story.prepared")[0]?.baseRuns?.checks?.ended).toEqual(["call"]);
    const brief = project.prompts("developer")[1]!;
    expect(brief).toContain("did not end within its limit of 8 s");
    expect(brief).toContain("Its last lines: called");
  });
});

test("a rework that adds the failing test it was asked for is not taken back", async () => {
  const project = makeFactoryProject({});
  try {
    const right = "export function cap(value, limit) {\n  return value > limit ? limit : value;\n}\n";
    const wrong = right.replace("limit : value", "value : limit");
    const asked = testFile("cap", "cap", "assert.equal(cap(7, 5), 5);");
    const pair = [says({ "src/cap.js": wrong }), says({ "test/cap.test.js": asked }), says({ "src/cap.js": right })];
    await project.run(
      { "tdd-pair": pair },
      {
        config: {
          version: 1,
          preset: "factory",
          autonomy: "full",
          gates: { tdd: { commands: ["node --test"], reruns: 0, blame: false } },
          limits: { backoff: "10ms" },
        },
        set: ["phases.implement=[integrity, tdd]", "deliver=branch", "merge=manual"],
      },
    );
    const said = project.events("gate.judged").filter(({ judgement }) => judgement.gate === "tdd");
    expect(said.map(({ judgement: { result, tddPhase } }) => [result, tddPhase])).toEqual([
      ["fail", "red"],
      ["fail", "green"],
      ["pass", undefined],
    ]);
    expect(project.events("tree.restored")).toEqual([]);
  } finally {
    project.repository.clear();
  }
});
