import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunResult } from "../../../src/index.ts";
import type { ScriptedAttempt } from "../../../src/core/schemas/agent-script.ts";
import {
  makeFactoryProject,
  passes,
  rejects,
  says,
  testFile,
  type FactoryProject,
  type Scripts,
} from "../factory-project.ts";
import { testInFull } from "../../sampled.ts";

/* S1's pipeline from end to end: a TDD pair, three stages of review, real mutation testing, CI by command, a merge. */

const STRYKER = fileURLToPath(new URL("../../../node_modules/.bin/stryker", import.meta.url));
const SETTINGS = {
  testRunner: "command",
  commandRunner: { command: "node --test" },
  reporters: ["json"],
  jsonReporter: { fileName: "reports/mutation/mutation.json" },
  coverageAnalysis: "off",
  concurrency: 2,
  allowEmpty: true,
  checkers: [],
  plugins: [],
};

let project: FactoryProject;
beforeEach(() => {
  project = makeFactoryProject({
    ".gitignore": "reports/\n.stryker-tmp/\nran-once\n",
    "stryker.conf.json": `${JSON.stringify(SETTINGS)}\n`,
  });
});
afterEach(() => project.repository.clear());

const CAP = "export function cap(value, limit) {\n  return value > limit ? limit : value;\n}\n";
/** Kills what turns the comparison round, and lets its boundary live: at the limit both branches give the same. */
const GOOD_TEST = testFile("cap", "cap", "assert.equal(cap(7, 5), 5);", "assert.equal(cap(3, 5), 3);");
const BOUNDARY = {
  file: "src/cap.js",
  mutation: "replaced value > limit with value >= limit",
  by: "Ada",
  reason: "at the limit both branches give the same number",
};
const WEAK_TEST = testFile("cap", "cap", "assert.equal(cap(7, 5), 5);");

function factory(
  pair: readonly ScriptedAttempt[],
  set: readonly string[] = [],
  reviewers: Scripts = {},
): Promise<RunResult> {
  return project.run(
    { "tdd-pair": pair, ...reviewers },
    {
      config: {
        version: 1,
        preset: "factory",
        autonomy: "full",
        merge: "auto",
        gates: {
          tdd: { commands: ["node --test"], reruns: 0 },
          ci: { commands: ["node --test"] },
          mutation: { commands: [`${STRYKER} run --mutate {files}`], equivalent: [BOUNDARY] },
        },
        limits: { backoff: "10ms" },
      },
      set,
    },
  );
}

const verdicts = (): string[] =>
  project
    .events("gate.judged")
    .filter(({ judgement }) => judgement.gate !== "integrity")
    .map(
      ({ judgement: { gate, result, tddPhase } }) => `${gate} ${result}${tddPhase === undefined ? "" : ` ${tddPhase}`}`,
    );

describe("the whole pipeline", () => {
  // S1.19, S1.49
  test("a survivor comes back as a missing test, the test is added, and the slice is merged", async () => {
    const result = await factory([
      says({ "src/cap.js": CAP, "test/cap.test.js": WEAK_TEST }),
      says({ "test/cap-below.test.js": testFile("cap", "cap", "assert.equal(cap(3, 5), 3);") }),
    ]);
    expect(result).toMatchObject({ exitCode: 0, stories: [{ status: "accepted", attempts: 2 }] });
    expect(verdicts()).toEqual([
      "tdd pass",
      "review pass",
      "mutation fail",
      "tdd pass",
      "mutation pass",
      "ci pass",
      "merge pass",
    ]);
    const judged = project.events("gate.judged").filter(({ judgement }) => judgement.gate === "mutation");
    expect(judged.at(-1)!.judgement).toMatchObject({
      summary: expect.stringMatching(/, 1 equivalent\)$/),
      notes: [expect.stringContaining(`equivalent mutant, says Ada: src/cap.js:2 ${BOUNDARY.mutation}`)],
    });
    // The domain reviewer twice, for the types and in the review; no reviewer again for the added test.
    expect(["spec-reviewer", "code-reviewer", "domain-reviewer"].map((role) => project.prompts(role).length)).toEqual([
      1, 1, 2,
    ]);
    const brief = project.prompts("tdd-pair")[1]!;
    expect(brief).toContain("### Surviving Mutants");
    expect(brief).toMatch(/src\/cap\.js.*:2: no test notices it when/);
    expect(brief).toContain("Recommended test: ");
    expect(project.events("work.sent-back")[0]).toMatchObject({
      gate: "mutation",
      route: { role: "tdd-pair", tddPhase: "red" },
    });
    expect(project.repository.git("show", "main:src/cap.js")).toBe(CAP);
    const log = JSON.parse(
      readFileSync(join(project.repository.root, ".remand/audit-trail/slices/cap/rework-log.json"), "utf8"),
    ) as { slice_id: string };
    expect(log.slice_id).toBe("cap");
  });
});

describe("the TDD gate derives which phase failed", () => {
  const only = ["phases.implement=[integrity, tdd]", "deliver=branch", "merge=manual"];

  // S1.2
  test("GREEN: the test fails with the work in place", async () => {
    const wrong = CAP.replace("limit : value", "value : limit");
    await factory([says({ "src/cap.js": wrong, "test/cap.test.js": GOOD_TEST }), says({ "src/cap.js": CAP })], only);
    expect(verdicts()).toEqual(["tdd fail green", "tdd pass"]);
    const brief = project.prompts("tdd-pair")[1]!;
    expect(brief).toContain("Phase that failed: GREEN");
  });

  test("RED: the test passes without the work, so it proves nothing", async () => {
    const empty = testFile("sum", "sum", "assert.equal(sum(2, 2), 4);");
    await factory(
      [says({ "src/cap.js": CAP, "test/cap.test.js": empty }), says({ "test/cap.test.js": GOOD_TEST })],
      only,
    );
    expect(verdicts()).toEqual(["tdd fail red", "tdd pass"]);
    expect(project.prompts("tdd-pair")[1]!).toContain("pass without its work, so they prove nothing");
    expect(project.events("work.sent-back")[0]).toMatchObject({ scope: { tests: "open" }, route: { tddPhase: "red" } });
  });

  testInFull("RED: no test at all", async () => {
    await factory([says({ "src/cap.js": CAP }), says({ "test/cap.test.js": GOOD_TEST })], only);
    expect(verdicts()).toEqual(["tdd fail red", "tdd pass"]);
  });

  testInFull("RED: the test itself is broken", async () => {
    const broken = GOOD_TEST.replace("assert.equal(cap(7", "assertt.equal(cap(7");
    await factory(
      [says({ "src/cap.js": CAP, "test/cap.test.js": broken }), says({ "test/cap.test.js": GOOD_TEST })],
      only,
    );
    expect(verdicts()).toEqual(["tdd fail red", "tdd pass"]);
  });

  test("DOMAIN: a veto of the domain reviewer", async () => {
    const veto = rejects("src/cap.js:1: a cap is a number with a unit, and has no type", "give it a type");
    await factory(
      [
        says({ "src/cap.js": CAP, "test/cap.test.js": GOOD_TEST }),
        says({ "src/types.js": "export const unit = 'ms';\n" }),
      ],
      only,
      { "domain-reviewer": [veto, passes] },
    );
    expect(verdicts()).toEqual(["tdd fail domain", "tdd pass"]);
    expect(project.events("work.sent-back")[0]).toMatchObject({ route: { tddPhase: "domain" } });
  });
});

test("a mutation report of yesterday proves nothing", async () => {
  await factory(
    [says({ "src/cap.js": CAP, "test/cap.test.js": GOOD_TEST })],
    [
      "phases.implement=[integrity, mutation]",
      "deliver=branch",
      "merge=manual",
      `gates.mutation.commands=${JSON.stringify(["mkdir -p reports/mutation && touch -d yesterday reports/mutation/mutation.json"])}`,
    ],
  );
  expect(verdicts()).toEqual(["mutation inconclusive", "mutation inconclusive"]);
  expect(project.events("gate.judged").at(-1)?.judgement.summary).toContain("is older than this run");
});
