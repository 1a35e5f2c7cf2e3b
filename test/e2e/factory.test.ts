import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createScriptedAgent } from "../../src/adapters/agents/scripted-agent.ts";
import { createSystemClock } from "../../src/adapters/clock/system-clock.ts";
import { run, type Agent, type Event, type RunResult, type Stored } from "../../src/index.ts";
import type { ScriptedAttempt } from "../../src/schemas/agent-script.ts";
import { makeRepository, type TestRepository } from "../adapters/git-repository.ts";

/* S1's pipeline from end to end: a TDD pair, three stages of review, real mutation testing, CI by command, a merge. */

const STRYKER = fileURLToPath(new URL("../../node_modules/.bin/stryker", import.meta.url));
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

let repository: TestRepository;
let lines: Stored[];
let prompts: { role: string; prompt: string }[];

beforeEach(() => {
  repository = makeRepository({
    "package.json": '{ "name": "caps", "private": true, "type": "module" }\n',
    ".gitignore": "reports/\n.stryker-tmp/\nran-once\n",
    "stryker.conf.json": `${JSON.stringify(SETTINGS)}\n`,
    "src/sum.js": "export const sum = (a, b) => a + b;\n",
    "test/sum.test.js": testFile("sum", "sum", "assert.equal(sum(1, 2), 3);"),
    "stories/cap.md":
      "---\ntitle: Cap a number\nstatus: ready\n---\n\nA number is never above its cap.\n\n## Acceptance Criteria\n\n- [ ] cap(7, 5) is 5\n",
  });
  lines = [];
  prompts = [];
});

afterEach(() => repository.clear());

function testFile(name: string, imported: string, ...asserts: readonly string[]): string {
  return [
    'import assert from "node:assert/strict";',
    'import test from "node:test";',
    `import { ${imported} } from "../src/${name}.js";`,
    `test("${name}", () => {\n  ${asserts.join("\n  ")}\n});`,
    "",
  ].join("\n");
}

const CAP = "export function cap(value, limit) {\n  return value > limit ? limit : value;\n}\n";
/** Kills what turns the comparison round, and lets its boundary live: at the limit both branches give the same. */
const GOOD_TEST = testFile("cap", "cap", "assert.equal(cap(7, 5), 5);", "assert.equal(cap(3, 5), 3);");
const WEAK_TEST = testFile("cap", "cap", "assert.equal(cap(7, 5), 5);");

const says = (files: Readonly<Record<string, string>>): ScriptedAttempt => ({
  edit: { ...files },
  say: "READY_FOR_REVIEW: {story}\n\nSummary: did it\n",
});
const passes: ScriptedAttempt = { say: "REVIEW_PASSED: {story}\n\nSummary: reads well\n" };

function agent(role: string, attempts: readonly ScriptedAttempt[]): Agent {
  const scripted = createScriptedAgent({
    name: role,
    role,
    script: { parts: [{ attempts: [...attempts] }] },
    clock: createSystemClock(),
  });
  return {
    name: role,
    run: async (request, control) => {
      prompts.push({ role, prompt: request.prompt });
      const result = await scripted.run(request, control);
      // A second look answers each finding of the first, by the id that it was shown.
      const answers = [...new Set(request.prompt.match(/\b[0-9a-f]{16}\b/g) ?? [])].map(
        (id) => `${id}: ADDRESSED - seen`,
      );
      return { ...result, text: result.text.replace("{answers}", answers.join("\n")) };
    },
  };
}

function factory(
  pair: readonly ScriptedAttempt[],
  set: readonly string[] = [],
  reviewers: Record<string, readonly ScriptedAttempt[]> = {},
): Promise<RunResult> {
  const roles = { "spec-reviewer": [passes], "code-reviewer": [passes], "domain-reviewer": [passes], ...reviewers };
  return run({
    root: repository.root,
    env: repository.env,
    agents: {
      "tdd-pair": agent("tdd-pair", pair),
      ...Object.fromEntries(Object.entries(roles).map(([role, attempts]) => [role, agent(role, attempts)])),
    },
    onLines: (more) => void lines.push(...more),
    config: {
      version: 1,
      preset: "factory",
      autonomy: "full",
      merge: "auto",
      gates: {
        tdd: { commands: ["node --test"], reruns: 0 },
        ci: { commands: ["node --test"] },
        // The boundary of a cap cannot be told apart: at the limit both branches give the same number.
        mutation: { commands: [`${STRYKER} run --mutate {files}`], threshold: 80 },
      },
      limits: { backoff: "10ms" },
    },
    set,
  });
}

const events = <T extends Event["type"]>(type: T): Extract<Event, { type: T }>[] =>
  lines.flatMap(({ event }) => (event.type === type ? [event as Extract<Event, { type: T }>] : []));
const verdicts = (): string[] =>
  events("gate.judged")
    .filter(({ judgement }) => judgement.gate !== "integrity")
    .map(
      ({ judgement: { gate, result, tddPhase } }) => `${gate} ${result}${tddPhase === undefined ? "" : ` ${tddPhase}`}`,
    );

describe("the whole pipeline", () => {
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
      "review pass",
      "mutation pass",
      "ci pass",
      "merge pass",
    ]);
    const brief = prompts.filter(({ role }) => role === "tdd-pair")[1]!.prompt;
    expect(brief).toContain("### Surviving Mutants");
    expect(brief).toMatch(/src\/cap\.js.*:2: no test notices it when/);
    expect(brief).toContain("Recommended test: ");
    expect(events("work.sent-back")[0]).toMatchObject({
      gate: "mutation",
      route: { role: "tdd-pair", tddPhase: "red" },
    });
    expect(repository.git("show", "main:src/cap.js")).toBe(CAP);
    const log = JSON.parse(
      readFileSync(join(repository.root, ".remand/audit-trail/slices/cap/rework-log.json"), "utf8"),
    ) as { slice_id: string };
    expect(log.slice_id).toBe("cap");
  }, 120_000);
});

describe("the TDD gate derives which phase failed", () => {
  const only = ["phases.implement=[integrity, tdd]", "deliver=branch", "merge=manual"];

  test("GREEN: the test fails with the work in place", async () => {
    const wrong = CAP.replace("limit : value", "value : limit");
    await factory([says({ "src/cap.js": wrong, "test/cap.test.js": GOOD_TEST }), says({ "src/cap.js": CAP })], only);
    expect(verdicts()).toEqual(["tdd fail green", "tdd pass"]);
    const brief = prompts[1]!.prompt;
    expect(brief).toContain("Phase that failed: GREEN");
  });

  test("RED: the test passes without the work, so it proves nothing", async () => {
    const empty = testFile("sum", "sum", "assert.equal(sum(2, 2), 4);");
    await factory(
      [says({ "src/cap.js": CAP, "test/cap.test.js": empty }), says({ "test/cap.test.js": GOOD_TEST })],
      only,
    );
    expect(verdicts()).toEqual(["tdd fail red", "tdd pass"]);
    expect(prompts[1]!.prompt).toContain("pass without its work, so they prove nothing");
    expect(events("work.sent-back")[0]).toMatchObject({ scope: { tests: "open" }, route: { tddPhase: "red" } });
  });

  test("RED: no test at all", async () => {
    await factory([says({ "src/cap.js": CAP }), says({ "test/cap.test.js": GOOD_TEST })], only);
    expect(verdicts()).toEqual(["tdd fail red", "tdd pass"]);
  });

  test("RED: the test itself is broken", async () => {
    const broken = GOOD_TEST.replace("assert.equal(cap(7", "assertt.equal(cap(7");
    await factory(
      [says({ "src/cap.js": CAP, "test/cap.test.js": broken }), says({ "test/cap.test.js": GOOD_TEST })],
      only,
    );
    expect(verdicts()).toEqual(["tdd fail red", "tdd pass"]);
  });

  test("DOMAIN: a veto of the domain reviewer", async () => {
    const veto: ScriptedAttempt = {
      say: "REVIEW_FAILED: {story}\n\nIssues Found:\n- src/cap.js:1: a cap is a number with a unit, and has no type\n\nRequired Fixes:\n- give it a type\n",
    };
    await factory(
      [
        says({ "src/cap.js": CAP, "test/cap.test.js": GOOD_TEST }),
        says({ "src/types.js": "export const unit = 'ms';\n" }),
      ],
      [...only, "gates.tdd.stages=[domain]", "roles.stage.domain=domain-reviewer"],
      { "domain-reviewer": [veto, { say: "REVIEW_PASSED: {story}\n\n{answers}\n\nSummary: it has a type\n" }] },
    );
    expect(verdicts()).toEqual(["tdd fail domain", "tdd pass"]);
    expect(events("work.sent-back")[0]).toMatchObject({ route: { tddPhase: "domain" } });
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
  expect(events("gate.judged").at(-1)?.judgement.summary).toContain("is older than this run");
});
