import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunResult } from "../../../src/index.ts";
import { writeEscalation } from "../../../src/write/reports/escalation.ts";
import {
  makeFactoryProject,
  passes,
  rejects,
  says,
  slice,
  testFile,
  type FactoryProject,
  type Scripts,
} from "../factory-project.ts";
import { testInFull } from "../../sampled.ts";

/*
 * S1's rework protocol over whole runs: what fails where goes to whom, on whose account, and what is judged again.
 * The tests of the project are real; mutants and CI are told by small commands of its own, so that each gate can be
 * made to fail when it should. Real mutation testing is in factory.test.ts.
 */

/** A mutant lives until a test speaks of its boundary. */
const MUTATE = `
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
const tests = readdirSync("test").map((name) => readFileSync("test/" + name, "utf8")).join();
const mutant = { id: "1", mutatorName: "EqualityOperator", replacement: ">=", location: { start: { line: 2, column: 16 }, end: { line: 2, column: 17 } } };
const files = Object.fromEntries(process.env.REMAND_FILES.split(",").map((file) => [
  file,
  { language: "javascript", source: readFileSync(file, "utf8"), mutants: [
    { ...mutant, status: tests.includes("at the limit") ? "Killed" : "Survived" },
    { ...mutant, id: "2", replacement: "<", status: "Killed" },
  ] },
]));
mkdirSync("reports/mutation", { recursive: true });
writeFileSync("reports/mutation/mutation.json", JSON.stringify({ schemaVersion: "2", thresholds: { high: 80, low: 60 }, files }));
`;
/** Fails as CI does: once for want of a network, and for a test as long as the code says it is slow. */
const CI = `
test -e ../../ran-once || { touch ../../ran-once; echo 'fatal: unable to access: Could not resolve host: example.test'; exit 128; }
if grep -q slow src/cap.js; then echo ' FAIL  test/cap.test.js > cap'; echo 'AssertionError: expected 9 to be 5'; exit 1; fi
`;

let project: FactoryProject;
beforeEach(() => {
  project = makeFactoryProject({
    ".gitignore": "reports/\n.remand/\n",
    "scripts/mutate.js": MUTATE,
    "scripts/ci.sh": CI,
  });
});
afterEach(() => project.repository.clear());

const code = (more: string, compare = ">"): string =>
  `export function cap(value, limit) {\n  return value ${compare} limit ? limit : value; // ${more}\n}\n`;
const TEST = testFile("cap", "cap", "assert.equal(cap(7, 5), 5);", "assert.equal(cap(3, 5), 3);");

function factory(
  scripts: Scripts,
  config: { autonomy?: "conservative" | "standard" | "full"; set?: readonly string[] } = {},
): Promise<RunResult> {
  const { autonomy = "full", set = [] } = config;
  return project.run(scripts, {
    config: {
      version: 1,
      preset: "factory",
      autonomy,
      ...(autonomy === "full" ? { merge: "auto" as const } : {}),
      gates: {
        tdd: { commands: ["node --test"], reruns: 0 },
        mutation: { commands: ["node scripts/mutate.js"] },
        ci: { commands: ["sh scripts/ci.sh"] },
      },
      blame: { prove: false },
      limits: { backoff: "10ms" },
    },
    // The commands of CI count their runs in a file beside the project.
    set: ["sandbox=off", ...set],
  });
}

const verdicts = (): string[] =>
  project
    .events("gate.judged")
    .filter(({ judgement }) => judgement.gate !== "integrity")
    .map(({ judgement: { gate, result, ciClass } }) => [gate, result, ciClass ?? ""].join(" ").trim());
const trail = (path: string): unknown =>
  JSON.parse(readFileSync(join(project.repository.root, ".remand/audit-trail", path), "utf8"));

const MORE = testFile("more", "more", "assert.equal(more, 1);");
const GOOD = { "src/cap.js": code("good"), "test/cap.test.js": TEST };

describe("every gate fails once on the way of one slice", () => {
  // S1.21, S1.43
  test("each failure goes to the pair, on its own account; only what could have changed is judged again", async () => {
    const result = await factory({
      "tdd-pair": [
        says({ "src/cap.js": code("slow", "<"), "test/cap.test.js": TEST }, "wrote it"),
        says({ "src/cap.js": code("slow") }, "turned it round"),
        says({ "src/cap.js": code("slow, named") }, "named it"),
        says(
          { "test/limit.test.js": testFile("cap", "cap", "assert.equal(cap(5, 5), 5); // at the limit") },
          "added the limit",
        ),
        says({ "src/cap.js": code("good") }, "made it quick"),
      ],
      "code-reviewer": [rejects("src/cap.js:2: the limit has no name"), passes],
    });
    expect(result).toMatchObject({ exitCode: 0, stories: [{ status: "accepted", attempts: 5 }] });
    expect(verdicts()).toEqual([
      "tdd fail",
      "tdd pass",
      "review fail",
      "tdd pass",
      "review pass",
      "mutation fail",
      "tdd pass",
      "mutation pass",
      "ci fail infrastructure",
      "ci fail test",
      "tdd pass",
      "review pass",
      "mutation pass",
      "ci pass",
      "merge pass",
    ]);
    const sent = project
      .events("work.sent-back")
      .map(({ gate, failure, failureLimit, route: { role, tddPhase } }) =>
        [gate, `${failure}/${failureLimit}`, role, tddPhase].join(" "),
      );
    // The CI's test failure is the second on the pair's own account; the network's trouble is not charged.
    expect(sent).toEqual([
      "tdd 1/3 tdd-pair green",
      "review 1/3 tdd-pair green",
      "mutation 1/3 tdd-pair red",
      "ci 2/3 tdd-pair green",
    ]);
    // The second look begins at the stage that failed; a rework of another gate has all of it looked at again, but not
    // one that only added tests. The domain reviewer looks at the types in the tdd gate too.
    const looks = project.events("gate.started").filter(({ gate }) => gate === "review");
    const all = ["spec-compliance", "code-quality", "domain-integrity"];
    expect(looks.map(({ stages }) => stages)).toEqual([all, all.slice(1), all]);
    expect(["spec-reviewer", "code-reviewer", "domain-reviewer"].map((role) => project.prompts(role).length)).toEqual([
      2, 3, 5,
    ]);
    const briefs = project.prompts("tdd-pair");
    expect(briefs[1]).toContain("Phase that failed: GREEN");
    expect(briefs[2]).toContain("src/cap.js:2: the limit has no name");
    expect(briefs[3]).toContain("### Surviving Mutants");
    expect(briefs[4]).toContain("AssertionError: expected 9 to be 5");
    expect(project.repository.git("show", "main:src/cap.js")).toBe(code("good"));
    const log = trail("slices/cap/rework-log.json") as { slice_id: string; rework_entries: Record<string, unknown>[] };
    expect(log.slice_id).toBe("cap");
    const entries = log.rework_entries.map(({ timestamp, ...entry }) => {
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      return entry;
    });
    expect(entries).toEqual([
      {
        gate: "tdd",
        attempt: 1,
        trigger: { phase: "GREEN", output: "tdd: fail (node --test: 1 of 2 tests failed), 1 to fix", concerns: [] },
        action_taken: "Routed to tdd-pair (GREEN) with test output",
        outcome: "Fixed -- turned it round, re-tdd passed",
      },
      {
        gate: "review",
        attempt: 1,
        trigger: {
          stage: "code_quality",
          findings: [{ severity: "IMPORTANT", file: "src/cap.js", line: 2, description: "the limit has no name" }],
        },
        action_taken: "Routed to tdd-pair (GREEN) with findings list",
        outcome: "Fixed -- named it, re-review passed",
      },
      {
        gate: "mutation",
        attempt: 1,
        trigger: {
          survivors: [
            {
              file: "src/cap.js",
              line: 2,
              mutation: "replaced > with >=",
              recommended_test: expect.stringMatching(/boundary.*\(src\/cap\.js:2\)/),
            },
          ],
          score: "50%",
        },
        action_taken: "Routed to tdd-pair (RED) with survivor list",
        outcome: "Fixed -- added the limit, re-mutation passed",
      },
      {
        gate: "ci",
        attempt: 1,
        trigger: {
          classification: "test",
          step: "sh scripts/ci.sh",
          output: expect.stringContaining("AssertionError: expected 9 to be 5"),
        },
        action_taken: "Routed to tdd-pair (GREEN) with CI output",
        outcome: "Fixed -- made it quick, re-ci passed",
      },
    ]);
  });
});

describe("a slice whose budget is used up", () => {
  test("is escalated in S1's words, and the next unblocked slice goes on", async () => {
    project.repository.write("stories/other.md", slice("other"));
    project.repository.write("stories/after.md", slice("after", "depends_on: [cap]\n"));
    const result = await factory(
      {
        "tdd-pair/other": [says({ "src/more.js": "export const more = 1;\n", "test/more.test.js": MORE })],
        "tdd-pair/cap": [
          says({ ...GOOD, "src/cap.js": code("one") }, "first"),
          says({ "src/cap.js": code("two") }, "second"),
          says({ "src/cap.js": code("three") }, "third"),
        ],
        "spec-reviewer/other": [passes],
        "spec-reviewer/cap": [1, 2, 3].map((round) => rejects(`src/cap.js:2: reason ${round}`)),
      },
      { set: ["phases.implement=[integrity, tdd, review]", "deliver=branch", "merge=manual"] },
    );
    expect(result.exitCode).toBe(4);
    expect(result.stories.map(({ id, status }) => `${id} ${status}`).sort()).toEqual([
      "after waiting",
      "cap escalated",
      "other accepted",
    ]);
    expect(project.events("story.started", "after")).toEqual([]);
    const { escalation } = project.events("escalation.raised")[0]!;
    const text = writeEscalation(escalation, { id: "cap", title: "Cap a number (cap)" });
    const commit = project.repository.git("rev-parse", "remand/cap").trim();
    const [mine, findings] = [false, true].map((isBelow) =>
      text.split("\n").filter((line) => line.startsWith("  ") === isBelow),
    );
    expect(findings?.slice(0, 3)).toEqual([
      "  fixed in attempt 2: src/cap.js:2: reason 1 (review)",
      "  fixed in attempt 3: src/cap.js:2: reason 2 (review)",
      "  open: src/cap.js:2: reason 3 (review)",
    ]);
    expect(mine?.slice(0, 11)).toEqual([
      "ESCALATION: Slice cap failed review gate 3 times",
      "",
      "Slice: Cap a number (cap)",
      "Gate: review",
      "",
      "Attempt 1: first -> review: fail (spec-compliance), 1 to fix",
      "Attempt 2: second -> review: fail (spec-compliance), 1 to fix",
      "Attempt 3: third -> review: fail (spec-compliance), 1 to fix",
      "",
      `Current state: remand/cap, ${commit}`,
      expect.stringMatching(
        /^Recommendation: 3 attempts rejected · 1 finding open: .*Read what each of the 3 failed attempts tried\./,
      ),
    ]);
  });
});

testInFull("a mistake in the CI's own configuration goes to its owner, not to the pair", async () => {
  const ci = "! grep -q bad ci.yml || { echo 'Invalid workflow file: .github/workflows/ci.yml#L3'; exit 1; }";
  const result = await factory(
    {
      "tdd-pair": [says({ ...GOOD, "ci.yml": "bad\n" })],
      "ci-integration": [says({ "ci.yml": "good\n" }, "put the workflow right")],
    },
    {
      set: [
        "phases.implement=[integrity, tdd, ci]",
        "deliver=branch",
        "merge=manual",
        `gates.ci.commands=[${JSON.stringify(ci)}]`,
      ],
    },
  );
  expect(result).toMatchObject({ exitCode: 0, stories: [{ status: "accepted", attempts: 2 }] });
  expect(verdicts().filter((verdict) => verdict.startsWith("ci"))).toEqual(["ci fail configuration", "ci pass"]);
  expect(project.events("work.sent-back")).toMatchObject([
    { gate: "ci", failure: 1, route: { role: "ci-integration" } },
  ]);
  expect(project.prompts("ci-integration")[0]).toContain("Invalid workflow file");
});

describe("conservative", () => {
  test("nothing goes back, and no CI run is tried again, before a person has said so", async () => {
    const agents = { "tdd-pair": [says({ ...GOOD, "src/cap.js": code("bad", "<") }), says(GOOD)] };
    expect(await factory(agents, { autonomy: "conservative" })).toMatchObject({
      exitCode: 4,
      stories: [{ attempts: 1, question: { reason: { type: "approval", of: "rework" } } }],
    });
    expect(project.events("work.sent-back")).toEqual([]);
  });

  testInFull("a CI run that failed by infrastructure waits for a person too", async () => {
    const set = ["phases.implement=[integrity, tdd, ci]", "deliver=branch"];
    expect(await factory({ "tdd-pair": [says(GOOD)] }, { autonomy: "conservative", set })).toMatchObject({
      exitCode: 4,
      stories: [{ attempts: 1, question: { reason: { type: "approval", of: "retry" } } }],
    });
    expect(verdicts()).toEqual(["tdd pass", "ci fail infrastructure"]);
  });
});
