import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHost } from "../../../src/compose/host.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import type { ScriptedAttempt } from "../../../src/core/schemas/agent-script.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gitIn } from "../../kit/git-repository.ts";
import {
  auditFailed,
  auditPassed,
  CAP,
  makeProject,
  OTHER,
  REAL_TESTS,
  reviewFailed,
  reviewPassed,
  works,
  type Project,
} from "../critic-audit-project.ts";
import { testInFull } from "../../sampled.ts";

/* S0 and S2 from end to end: real git, real worktrees, `node --test` as the check, and scripted agents. */

let project: Project;
beforeEach(() => {
  project = makeProject();
});
afterEach(() => project.clear());

const SWALLOWED = "src/wait.js:2: the error is swallowed";

test("review fails, rework, audit fails, rework, the critic again, and all is accepted", async () => {
  const excused = "excused: [{ criterion: AC3, by: Ada, reason: waits are short there }]\n";
  project.story("cap", excused, [CAP, OTHER, "a wait can be cut short"]);
  const result = await project.run(
    {
      developer: [works("// one"), works("// two"), works("// three")],
      critic: [reviewFailed(SWALLOWED), reviewPassed, reviewPassed],
      auditor: [auditFailed, auditPassed],
    },
    { set: [REAL_TESTS] },
  );
  expect(result).toMatchObject({ exitCode: 0, stories: [{ id: "cap", status: "accepted", attempts: 3 }] });
  expect(project.verdicts()).toEqual([
    "checks pass",
    "review fail",
    "checks pass",
    "review pass",
    "audit fail",
    "checks pass",
    "review pass",
    "audit pass",
  ]);
  const [, second, third] = project.prompts("developer");
  for (const part of [
    "### CRITIC REVIEW FAILED",
    SWALLOWED,
    "- do something about it",
    "### Priority: HIGH",
    "rework 1 of 2",
    "### If a Finding Is Wrong",
  ])
    expect(second).toContain(part);
  for (const part of [
    "### AUDIT_FAILED",
    `${OTHER}: FAILED - there is no second argument`,
    "src/wait.js:1: waitMs takes one argument",
    "- add capMs",
  ])
    expect(third).toContain(part);
  expect(third).toMatch(new RegExp(`must stay so:\n- ${CAP}`));
  // What was tried before, and why it was not enough, goes with it.
  expect(third).toContain("Attempt 1: // one -> review: fail, 1 to fix");
  expect(project.file("cap", "src/wait.js")).toContain("// three");

  const critics = project.prompts("critic");
  expect(critics[0]).toContain("Did it: // one");
  expect(critics[0]).toContain("+  // one");
  expect(critics[1]).toContain("## Re-Review Assignment");
  expect(critics[1]).toContain("-  // one");
  expect(critics[2]).toContain("### What Changed Since You Passed It");
  const [auditor] = project.prompts("auditor");
  for (const part of [
    `AC1: ${CAP}`,
    "AC3: a wait can be cut short (does not count, says Ada: waits are short there)",
    "Error handling: ADEQUATE",
    "Summary: reads well",
    "`node --test` (local): PASS - 2 of 2 tests passed",
  ])
    expect(auditor).toContain(part);
  expect(project.asked.filter(({ role }) => role !== "developer").every(({ access }) => access === "read")).toBe(true);
  expect(result.state.spent.costUsd).toBeCloseTo(0.3 + 0.06 + 0.06);
});

// S0.36, S1.36, S1.37
test("the third failed review asks a person, and says what was tried", async () => {
  project.story("cap");
  const result = await project.run({
    developer: [works("// one"), works("// two"), works("// three")],
    critic: [
      reviewFailed("src/wait.js:2: a", "src/wait.js:9: b", "src/wait.js:5: e"),
      reviewFailed("src/wait.js:9: b", "src/wait.js:3: f"),
      reviewFailed("src/wait.js:2: a"),
    ],
    auditor: [auditPassed],
  });
  expect(result).toMatchObject({ exitCode: 4, stories: [{ status: "escalated", attempts: 3 }] });
  expect(result.stories[0]!.question).toMatchObject({
    gate: "review",
    title: "Cap the wait (cap): the review gate failed 3 times",
  });
  expect(project.prompts("auditor")).toHaveLength(0);
  const listed = readFileSync(`${project.repository.root}/.remand/audit-trail/failed-tasks.json`, "utf8");
  expect(JSON.parse(listed)).toEqual([
    { task_id: "cap", reason: "review_failure_limit", review_attempts: 3, audit_attempts: 0 },
  ]);
  const [, second, third] = project.prompts("developer");
  expect(second).not.toContain("### Accumulated Feedback");
  expect(third).toContain(
    [
      "### Accumulated Feedback",
      "",
      "Still open from before:",
      "- src/wait.js:9: b (since attempt 1)",
      "",
      "New:",
      "- src/wait.js:3: f",
      "",
      "Settled, and to be kept so:",
      "- src/wait.js:2: a (fixed in attempt 2; found in attempt 1)",
      "- src/wait.js:5: e (fixed in attempt 2; found in attempt 1)",
      "",
    ].join("\n"),
  );
  const folder = `${project.repository.root}/.remand/audit-trail/escalations`;
  const record = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!), "utf8")) as {
    slice: unknown;
    attempts: { why_it_failed: string; findings: { title: string }[]; outputs: unknown[] }[];
  };
  expect(record.slice).toEqual({
    description: "Cap the wait (cap)",
    definition: expect.stringContaining("Give the wait a cap."),
    acceptance_criteria: [CAP, OTHER],
  });
  expect(record.attempts.map(({ why_it_failed }) => why_it_failed)).toEqual([
    "src/wait.js:2: a; src/wait.js:9: b; src/wait.js:5: e",
    "src/wait.js:9: b; src/wait.js:3: f",
    "src/wait.js:2: a",
  ]);
  expect(record.attempts[2]!.outputs).toEqual([
    {
      gate: "review",
      result: "fail",
      summary: "review: fail, 1 to fix",
      output: ["src/wait.js:2: a"],
      evidence: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    },
  ]);
  expect(result.stories[0]!.question!.attempts[0]!.findings![0]).toMatchObject({
    title: "a",
    status: "open",
    fixedIn: 2,
  });
});

test("the same failure three times ends the loop inside its budget", async () => {
  project.story("cap");
  const result = await project.run(
    {
      developer: [works("// one"), works("// two"), works("// three"), works("// four")],
      critic: [reviewFailed(SWALLOWED, "src/wait.js:9: too long")],
      auditor: [auditPassed],
    },
    { set: ["gates.review.failures=9", "stall.plateau=0"] },
  );
  expect(result).toMatchObject({ exitCode: 4, stories: [{ status: "escalated", attempts: 3 }] });
  expect(result.stories[0]!.question!.reason).toMatchObject({ type: "stall", stall: "same-failure" });
});

describe("environments", () => {
  const environments = [
    REAL_TESTS,
    "environments.alpha.run=env FLAVOUR=alpha",
    "environments.beta.run=env FLAVOUR=beta",
  ];
  const inBeta = {
    ...works('waitMs.fails = "beta";'),
    edit: {
      "src/wait.js": 'export function waitMs(retry) {\n  return 100 * 2 ** (retry - 1);\n}\nwaitMs.fails = "beta";\n',
    },
  };
  const audits = { ...auditPassed, say: auditPassed.say!.replace("(local)", "(alpha)") };

  // S0.30
  test("a failure in one of them goes back with the table", async () => {
    project.story("cap");
    const result = await project.run(
      { developer: [inBeta, works("// fixed")], critic: [reviewPassed], auditor: [audits] },
      { set: environments },
    );
    expect(result.exitCode).toBe(0);
    const [, brief] = project.prompts("developer");
    expect(brief).toContain("### ENVIRONMENT-SPECIFIC FAILURE");
    expect(brief).toMatch(/\| alpha \| PASS \| .*\|\n\| beta \| FAIL \| .*1 of 2 tests failed/);
    expect(brief).toContain("### Common Causes");
  });

  testInFull("where no gate runs the checks the audit does, and an exit code outweighs an auditor", async () => {
    project.story("cap");
    const result = await project.run(
      { developer: [inBeta, works("// fixed")], critic: [reviewPassed], auditor: [audits] },
      { set: [...environments, "phases.implement=[integrity, review, audit]"] },
    );
    expect(result.exitCode).toBe(0);
    expect(project.verdicts()).toEqual(["review pass", "audit fail", "review pass", "audit pass"]);
    const [failed] = project.events("gate.judged").filter(({ judgement }) => judgement.result === "fail");
    expect(failed!.judgement.disagreement).toContain(
      "auditor against engine: the auditor passed the work, and `node --test` failed in beta",
    );
    const [, brief] = project.prompts("developer");
    expect(brief).toContain("### ENVIRONMENT-SPECIFIC FAILURE");
    expect(brief).toMatch(/\| alpha \| PASS .*\n\| beta \| FAIL /);
    expect(brief).toContain("the exit code counts");
  });
});

describe("AUDIT_BLOCKED", () => {
  const blocked = {
    say: "AUDIT_BLOCKED: {story}\n\nPre-existing Failures:\n- the database is down\n\nCannot proceed with audit until infrastructure is fixed.\n",
  };
  const repaired = { say: "Started it.\n\nREMEDIATION_COMPLETE\n\nFixes Applied:\n- started the database\n" };

  test("halts dispatch, has it repaired and checked by another role, and resumes without a charge", async () => {
    project.story("one", "priority: 1\n");
    project.story("two", "priority: 2\n");
    const result = await project.run(
      {
        developer: [works("// one")],
        critic: [reviewPassed],
        "auditor/one": [blocked, auditPassed],
        auditor: [auditPassed],
        remediation: [repaired],
        "health-check": [
          { say: "HEALTH_AUDIT: UNHEALTHY\n\nFailures:\n- port 5432 refuses\n- no table `users`\n" },
          { say: "HEALTH_AUDIT: HEALTHY\n" },
        ],
      },
      { set: ["concurrency.stories=1", "limits.timeout.remediation=77s"] },
    );
    expect(result.exitCode).toBe(0);
    expect(project.events("health.checked", null).map(({ remaining }) => remaining)).toEqual([
      ["port 5432 refuses", "no table `users`"],
      [],
    ]);
    expect(project.prompts("remediation")[1]).toContain("-> port 5432 refuses; no table `users`");
    const types = project.lines.map(({ event }) => event.type);
    const halted = types.slice(types.indexOf("remediation.started"), types.lastIndexOf("health.checked"));
    expect(halted).not.toContain("attempt.started");
    expect(types.filter((type) => type === "remediation.started")).toHaveLength(2);
    expect(project.verdicts("one")).toEqual(["checks pass", "review pass", "audit blocked", "audit pass"]);
    expect(result.state.remediation).toBeNull();
    const [told, again] = project.asked.filter(({ role }) => role === "remediation");
    expect(told).toMatchObject({ access: "full", timeoutMs: 77_000 });
    for (const part of [
      "Issue: audit: the database is down",
      "what kept the audit gate of one from judging",
      "`grep -q waitMs src/wait.js` (local)",
    ])
      expect(told!.prompt).toContain(part);
    expect(again!.prompt).toContain("Attempt: 2 of 3");
    expect(project.prompts("health-check")[0]).toContain("`grep -q waitMs src/wait.js` (local)");
  });

  // S2.43
  testInFull("that no role can repair goes to a person", async () => {
    project.story("one");
    const result = await project.run({ developer: [works("// one")], critic: [reviewPassed], auditor: [blocked] });
    expect(result.exitCode).toBe(4);
    expect(result.state.escalation).toMatchObject({ reason: { type: "infrastructure", tries: 3 } });
  });
});

describe("a reviewer that is not understood", () => {
  // S2.34
  test.each([
    ["an unknown signal", { say: "LGTM: {story}\n" }],
    ["another task's id", { say: "REVIEW_PASSED: elsewhere\n" }],
  ])("%s is asked about, and then counts", async (_what, odd) => {
    project.story("cap");
    const result = await project.run({
      developer: [works("// one")],
      critic: [odd, odd, reviewPassed],
      auditor: [auditPassed],
    });
    expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 1 }] });
    expect(project.prompts("critic")[2]).toContain("asked 2 of 2 times");
    expect(project.verdicts()).toEqual(["checks pass", "review pass", "audit pass"]);
  });

  test("a FAIL without particulars is asked about once, and goes back as what it is", async () => {
    project.story("cap");
    const vague = { say: "REVIEW_FAILED: {story}\n\nSummary: I would not have done it so\n" };
    const result = await project.run({
      developer: [works("// one"), works("// two")],
      critic: [vague, vague, reviewPassed],
      auditor: [auditPassed],
    });
    expect(result.exitCode).toBe(0);
    const [, brief] = project.prompts("developer");
    expect(brief).toContain("failed without particulars, even when asked for them");
    expect(brief).toContain("Fix what its summary suggests");
    expect(brief).toContain("I would not have done it so");
  });

  test("a crash is the gate's error: it is tried again, and after three a person is asked; no failure is counted", async () => {
    project.story("cap");
    const crash = { say: "REVIEW_FAILED: {story}\n\nIssues Found:\n- src/wait.js:1: x\n", crash: true };
    const once = await project.run({
      developer: [works("// one")],
      critic: [crash, reviewPassed],
      auditor: [auditPassed],
    });
    expect(once).toMatchObject({ exitCode: 0, stories: [{ attempts: 1 }] });
    expect(project.verdicts()).toEqual(["checks pass", "review error", "review pass", "audit pass"]);
    project.story("again");
    const always = await project.run({ developer: [works("// one")], critic: [crash], auditor: [auditPassed] });
    const again = always.stories.find(({ id }) => id === "again")!;
    expect(again).toMatchObject({ status: "escalated" });
    expect(again.question!.reason).toMatchObject({ type: "gate-error", errors: 3 });
    expect(project.verdicts("again")).toEqual(["checks pass", "review error", "review error", "review error"]);
    expect(project.events("work.sent-back")).toHaveLength(0);
  });

  testInFull("an agent that is gone has its fallback", async () => {
    project.story("cap");
    const result = await project.run(
      {
        developer: [works("// one")],
        critic: [{ error: "launch" }],
        "second-critic": [reviewPassed],
        auditor: [auditPassed],
      },
      { set: ["agents.critic.fallback=second-critic"] },
    );
    expect(result.exitCode).toBe(0);
    const [review] = project.events("gate.judged").filter(({ judgement }) => judgement.gate === "review");
    expect(review!.judgement).toMatchObject({
      stages: [{ reviewer: "second-critic" }],
      asked: { critic: 1, "second-critic": 1 },
    });
  });
});

describe("reviewers who contradict each other", () => {
  const set = (one: string, other: string) => [
    `gates.review.perspectives=[${one}, ${other}]`,
    `roles.stage.${one}=reviewer-a`,
    `roles.stage.${other}=reviewer-b`,
  ];
  const asks = (fix: string) => ({
    say: JSON.stringify({
      passed: false,
      issues: [
        { severity: "critical", category: "style", file: "src/wait.js", line: 2, description: fix, suggestedFix: fix },
      ],
    }),
  });
  const fine = { say: JSON.stringify({ passed: true, issues: [] }) };
  const scripts = {
    developer: [works("// one"), works("// two")],
    "reviewer-a": [asks("Add a check of the argument"), { say: "REVIEW_PASSED: {story}\n" }, fine],
    "reviewer-b": [asks("Remove the check of the argument"), { say: "REVIEW_PASSED: {story}\n" }, fine],
    auditor: [auditPassed],
  };

  // S4.32
  test("security wins, and the brief says so", async () => {
    project.story("cap");
    const result = await project.run(scripts, { set: set("security", "code") });
    const [, brief] = project.prompts("developer");
    expect(brief).toContain("### Reviewers Disagree");
    expect(brief).toContain("Follow security.");
    expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 2 }] });
  });

  testInFull("a tie is a person's", async () => {
    project.story("cap");
    const result = await project.run(scripts, { set: set("first", "second") });
    expect(result.exitCode).toBe(4);
    expect(result.stories[0]!.question!.reason).toMatchObject({ type: "conflict" });
  });
});

test("stages end at the first that fails, and go on from there: what passed is not reviewed twice", async () => {
  project.story("cap");
  const result = await project.run(
    {
      developer: [works("// one"), works("// two")],
      "spec-reviewer": [reviewPassed],
      "code-reviewer": [reviewFailed(SWALLOWED), reviewPassed, answeredIn("code-reviewer")],
      "domain-reviewer": [reviewPassed],
      auditor: [auditPassed],
    },
    {
      set: [
        "gates.review.stages=[spec, code, domain]",
        "roles.stage.spec=spec-reviewer",
        "roles.stage.code=code-reviewer",
        "roles.stage.domain=domain-reviewer",
      ],
    },
  );
  expect(result.exitCode).toBe(0);
  const reviewers = project.asked.flatMap(({ role }) => (role.endsWith("-reviewer") ? [role] : []));
  // The second reviewer passes without a word about the finding, is asked for it, and then answers.
  expect(reviewers).toEqual(["spec-reviewer", "code-reviewer", "code-reviewer", "code-reviewer", "domain-reviewer"]);
  const reviews = project
    .events("gate.judged")
    .flatMap(({ judgement }) => (judgement.gate === "review" ? [judgement] : []));
  expect(reviews.map(({ stages }) => stages!.map(({ stage, result: each }) => `${stage} ${each}`))).toEqual([
    ["spec pass", "code fail"],
    ["spec pass", "code pass", "domain pass"],
  ]);
  expect(project.prompts("developer")[1]).toContain("code: CHANGES REQUIRED (code-reviewer)");
});

describe("a staged review after the rework", () => {
  const set = ["gates.review.stages=[code]", "roles.stage.code=code-reviewer"];
  const reviews = () =>
    project.events("gate.judged").flatMap(({ judgement }) => (judgement.gate === "review" ? [judgement] : []));

  testInFull("gives another finding at the same line an id and a text of its own", async () => {
    project.story("cap");
    const rounded = SWALLOWED.replace("the error is swallowed", "the wait is rounded down");
    const result = await project.run(
      {
        developer: [works("// one"), works("// two"), works("// three")],
        "code-reviewer": [
          reviewFailed(SWALLOWED),
          {
            get say(): string {
              const [first] = reviews();
              return `${reviewFailed(rounded).say}\nEarlier Findings:\n- ${first!.blocking[0]!}: ADDRESSED - it is thrown\n`;
            },
          },
          reviewPassed,
        ],
        auditor: [auditPassed],
      },
      { set },
    );
    expect(result.exitCode).toBe(0);
    const [first, second] = reviews();
    expect(second!.findings.map(({ message }) => message)).toEqual(["the wait is rounded down"]);
    expect(second!.blocking).not.toEqual(first!.blocking);
    const [, , third] = project.prompts("developer");
    expect(third).toContain("the wait is rounded down");
  });

  testInFull(
    "a reviewer that passes twice without answering the finding stops nothing, and the record says so",
    async () => {
      project.story("cap");
      const result = await project.run(
        {
          developer: [works("// one"), works("// two")],
          "code-reviewer": [reviewFailed(SWALLOWED), reviewPassed, reviewPassed],
          auditor: [auditPassed],
        },
        { set },
      );
      expect(result).toMatchObject({ exitCode: 0, stories: [{ id: "cap", status: "accepted" }] });
      expect(reviews().map((each) => each.result)).toEqual(["fail", "pass"]);
      expect(reviews()[1]!.context).toEqual([expect.stringContaining(reviews()[0]!.blocking[0]!)]);
    },
  );
});

/** Answers the finding that it was asked about, by the id that stands in its prompt. */
const answeredIn = (role: string) => ({
  get say(): string {
    const id = /Is the finding ([0-9a-f]{16}) addressed/.exec(project.prompts(role).at(-1) ?? "")?.[1];
    return `Earlier Findings:\n- ${id}: ADDRESSED - it is thrown now\n\n${reviewPassed.say}`;
  },
});

describe("a disputed finding", () => {
  const critic = [reviewFailed(SWALLOWED), reviewFailed(SWALLOWED), reviewPassed];

  test("that an independent reviewer throws out does not block any more", async () => {
    project.story("cap");
    const result = await project.run({
      developer: [works("// one"), works("// two", "Dispute: 1: nothing throws there")],
      critic: [reviewFailed(SWALLOWED), reviewPassed],
      adjudicator: [{ say: "REVIEW_PASSED: {story}\n\nSummary: nothing throws there indeed\n" }],
      auditor: [auditPassed],
    });
    expect(result.exitCode).toBe(0);
    expect(project.events("finding.disputed")).toMatchObject([
      { gate: "review", by: "developer", rationale: "nothing throws there" },
    ]);
    expect(project.events("finding.adjudicated")).toMatchObject([{ upheld: false, by: "adjudicator" }]);
    expect(project.prompts("adjudicator")[0]).toContain("nothing throws there");
  });

  testInFull("that is upheld is a person's to decide", async () => {
    project.story("cap");
    const result = await project.run({
      developer: [works("// one"), works("// two", "Dispute: 1: nothing throws there")],
      critic,
      adjudicator: [{ say: "REVIEW_FAILED: {story}\n\nIssues Found:\n- src/wait.js:2: it does\n" }],
      auditor: [auditPassed],
    });
    expect(result.exitCode).toBe(4);
    expect(result.stories[0]!.question!.reason).toMatchObject({ type: "dispute" });
    expect(project.prompts("critic")).toHaveLength(1);
  });

  testInFull(
    "is reviewed by the reviewer's fallback, asked by a schema, and again where the answer is unclear",
    async () => {
      project.story("cap");
      const result = await project.run(
        {
          developer: [works("// one"), works("// two", "Dispute: 1: nothing throws there")],
          critic: [reviewFailed(SWALLOWED), reviewPassed],
          judge: [{ say: "hm" }, { say: "REVIEW_PASSED: {story}\n\nSummary: it cannot throw\n" }],
          auditor: [auditPassed],
        },
        {
          // The critic raised it, so it is no fallback here; behind it comes an uninvolved role.
          set: [
            "agents.adjudicator.use=command",
            "agents.adjudicator.command=no-such-program-anywhere",
            "agents.adjudicator.fallback=critic",
            "agents.critic.fallback=judge",
          ],
        },
      );
      expect(result.exitCode).toBe(0);
      expect(project.events("finding.adjudicated")).toMatchObject([
        { upheld: false, by: "judge", reason: "it cannot throw", asked: { judge: 2 } },
      ]);
      const [asked] = project.asked.filter(({ role }) => role === "judge");
      expect(asked).toMatchObject({ access: "read", session: null, outputSchema: { type: "object" } });
    },
  );

  testInFull(
    "can be a person's answer to a used-up budget: what stands is asked about again, what falls is judged again",
    async () => {
      project.story("cap");
      const scripts = {
        developer: [works("// one"), works("// two")],
        critic: [
          reviewFailed("src/wait.js:2: a", "src/wait.js:3: b"),
          reviewFailed("src/wait.js:2: c", "src/wait.js:4: d"),
          reviewPassed,
        ],
        adjudicator: [
          { say: "REVIEW_FAILED: {story}\n\nIssues Found:\n- src/wait.js:2: it does\n" },
          { say: "REVIEW_PASSED: {story}\n\nSummary: it is right\n" },
        ],
        auditor: [auditPassed],
      };
      const set = ["gates.review.failures=2", "stall.grace=0"];
      const first = await project.run(scripts, { set });
      const questionOf = (result: typeof first) => result.stories[0]!.question!;
      expect(questionOf(first).reason).toMatchObject({ type: "budget", budget: "failures:review", used: 2 });
      const [one, other] = project.events("gate.judged").findLast(({ judgement }) => judgement.gate === "review")!
        .judgement.blocking;
      const dispute = (finding: typeof one) =>
        createHost(project.repository.env).appendEvents(project.repository.root, storyId("cap"), [
          {
            type: "person.answered",
            answer: {
              verb: "dispute",
              by: "Ada",
              message: "it is right",
              escalation: questionOf(first).id,
              findings: [finding!],
            },
          },
        ]);
      await dispute(one);
      const second = await project.run(scripts, { set });
      expect(questionOf(second).reason).toEqual(questionOf(first).reason);
      expect(questionOf(second).assessment).toContain(`finding ${one} was upheld by adjudicator`);
      expect(project.prompts("critic")).toHaveLength(2);
      await dispute(other);
      const third = await project.run(scripts, { set });
      expect(third).toMatchObject({ exitCode: 0, stories: [{ status: "accepted", attempts: 2 }] });
      expect(project.events("finding.adjudicated")).toMatchObject([{ upheld: true }, { upheld: false }]);
      expect(project.prompts("developer")).toHaveLength(2);
      expect(project.prompts("critic")).toHaveLength(3);
    },
  );

  testInFull("that no role can review goes to a person, with the reason", async () => {
    project.story("cap");
    const result = await project.run(
      {
        developer: [works("// one"), works("// two", "Dispute: 1: nothing throws there")],
        critic,
        auditor: [auditPassed],
      },
      { set: ["roles.adjudicator=unfilled"] },
    );
    expect(result.exitCode).toBe(4);
    expect(result.stories[0]!.question!.assessment).toContain("no agent plays unfilled");
    expect(result.state.spent.costUnknown).toBe(false);
  });
});

test("acceptance unblocks what depends on it, and two stories are reworked at the same time", async () => {
  project.story("one");
  project.story("two");
  project.story("three", "dependencies: [one, two]\n");
  // The rework of each is held up until the other's has begun: one after the other they would never end.
  const begun = new Set<string>();
  let letBothGo = (): void => undefined;
  const both = new Promise<void>((resolve) => {
    letBothGo = resolve;
  });
  project.onAsked = async ({ role, story, turn }) => {
    if (role !== "developer" || turn === 0 || story === "three") return;
    if (begun.add(story).size === 2) letBothGo();
    await both;
  };
  const result = await project.run({
    developer: [works("// one"), works("// two")],
    critic: [reviewFailed(SWALLOWED), reviewPassed],
    auditor: [auditPassed],
  });
  expect(result).toMatchObject({ exitCode: 0 });
  expect(result.stories.map(({ id, status, attempts }) => `${id} ${status} ${attempts}`)).toEqual([
    "one accepted 2",
    "two accepted 2",
    "three accepted 2",
  ]);
  const at = (type: string, story: string, nth = 0) =>
    project.lines.findIndex(
      (line) => line === project.lines.filter(({ event, story: of }) => event.type === type && of === story)[nth],
    );
  // The rework of each began before the other's had ended.
  expect(at("attempt.started", "one", 1)).toBeLessThan(at("attempt.finished", "two", 1));
  expect(at("attempt.started", "two", 1)).toBeLessThan(at("attempt.finished", "one", 1));
  expect(at("story.started", "three")).toBeGreaterThan(
    Math.max(at("story.accepted", "one"), at("story.accepted", "two")),
  );
});

testInFull(
  "dependencies that change between attempts are noticed and journalled: what has not begun waits for them",
  async () => {
    project.story("work", "priority: 1\n");
    project.story("next", "priority: 5\n");
    project.story("last", "priority: 9\n");
    const stop = new AbortController();
    const set = ["concurrency.stories=1"];
    const scripts = {
      "developer/work": [works("// one"), { ...works("// two"), delay: "1s" }],
      // It begins with what the last one did.
      "developer/next": [works("// next")],
      developer: [works("// one")],
      "critic/work": [reviewFailed(SWALLOWED), reviewPassed],
      critic: [reviewPassed],
      auditor: [auditPassed],
    };
    await project.run(scripts, {
      set,
      signal: stop.signal,
      onLines: (lines) => {
        project.lines.push(...lines);
        if (lines.some(({ event }) => event.type === "work.sent-back")) stop.abort();
      },
    });
    expect(project.verdicts()).toEqual(["checks pass", "review fail"]);
    project.story("work", "priority: 1\ndependencies: [last]\n");
    project.story("next", "priority: 5\ndependencies: [last]\n");
    const result = await project.run(scripts, { set });
    expect(result).toMatchObject({ exitCode: 0 });
    expect(project.events("story.changed", "next")).toMatchObject([{ what: ["dependsOn"] }]);
    expect(project.events("story.changed", "work")).toMatchObject([{ what: ["dependsOn"] }]);
    const accepted = project.lines.flatMap(({ event, story }) => (event.type === "story.accepted" ? [story] : []));
    expect(accepted).toEqual(["work", "last", "next"]);
  },
);

// S0.14, S2.12, S2.29
test("a role is played with the words and the model of its file, and reviewers go by the project's practices", async () => {
  project.story("cap");
  project.repository.write(".claude/agents/critic.md", "---\nname: critic\nmodel: opus\n---\n\nYou are strict.\n");
  project.repository.write("practices.md", "A limit has a name.\n");
  const prompt = `${project.repository.home}/prompt.txt`;
  project.repository.write(
    "critic.sh",
    `cat > ${prompt}\nnonce=$(sed -n 's/.*nonce of this prompt: .\\([0-9a-f]*\\).*/\\1/p' ${prompt})\nprintf 'REVIEW_PASSED: cap\\n%s\\n\\nSummary: read by %s\\n' "$nonce" "$REMAND_MODEL"\n`,
  );
  project.repository.git("add", "--all");
  project.repository.git("commit", "--quiet", "-m", "a critic");
  const result = await project.run(
    { developer: [works("// one")], auditor: [auditPassed] },
    {
      set: [
        "agents.critic.command=sh critic.sh",
        "gates.review.practices=[{ file: practices.md }, Be brief.]",
        "sandbox=off",
      ],
    },
  );
  expect(result.exitCode).toBe(0);
  expect(project.prompts("auditor")[0]).toContain("Summary: read by opus");
  const asked = readFileSync(prompt, "utf8");
  for (const part of ["You are strict.", "A limit has a name.", "Be brief.", "+  // one"])
    expect(asked).toContain(part);
});

test("a run without reviewers says so before anything starts", async () => {
  project.story("cap");
  const error = await project.run({ developer: [works("// one")] }).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({
    code: "config-invalid",
    message: "no agent plays critic for the review gate, or auditor for the audit gate",
  });
  expect((error as { hint: string }).hint).toContain("agents: { critic: { use: command, command: … }, auditor:");
  expect(project.asked).toHaveLength(0);
  expect(project.lines).toHaveLength(0);
});

test("reviewers have checkouts of their own: what they write is dropped, and a second review finds its folder again", async () => {
  project.story("cap");
  const seen: { role: string; cwd: string; diff: string; hasWritten: boolean }[] = [];
  project.onAsked = (asked) => {
    if (asked.role === "developer") return Promise.resolve();
    const note = join(asked.cwd, "src/note.js");
    const diff = gitIn(asked.cwd, project.repository.env, "diff", "--name-only", "main..HEAD");
    seen.push({ role: asked.role, cwd: asked.cwd, diff: diff.trim(), hasWritten: existsSync(note) });
    writeFileSync(note, "left by a reviewer\n");
    writeFileSync(join(asked.cwd, "src/wait.js"), "changed by a reviewer\n");
    return Promise.resolve();
  };
  const result = await project.run(
    {
      developer: [works("// one"), works("// two")],
      critic: [reviewFailed(SWALLOWED), reviewPassed],
      auditor: [auditPassed],
    },
    { set: [REAL_TESTS] },
  );
  expect(result).toMatchObject({ exitCode: 0, stories: [{ status: "accepted", attempts: 2 }] });
  expect(seen.map(({ role, diff, hasWritten }) => [role, diff, hasWritten])).toEqual(
    ["critic", "critic", "auditor"].map((role) => [role, "src/wait.js", false]),
  );
  const [first, second, auditor] = seen.map(({ cwd }) => cwd);
  expect(second).toBe(first);
  expect(auditor).not.toBe(first);
  expect([first, auditor].some((cwd) => existsSync(cwd!))).toBe(false);
  expect(project.repository.git("ls-tree", "-r", "--name-only", "remand/cap")).not.toContain("note.js");
  expect(project.file("cap", "src/wait.js")).toContain("// two");
});

describe("tests that the critic has passed", () => {
  const CAPPED = 'test("is capped", () => assert.equal(waitMs(20), cap));';
  const tests = (...cases: string[]): string =>
    `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { waitMs } from "../src/wait.js";
const cap = Number(readFileSync(new URL("cap.txt", import.meta.url), "utf8"));
${cases.join("\n")}
`;
  const capped = (cap: number, text: string, summary: string): ScriptedAttempt => ({
    edit: {
      "src/wait.js": `export const waitMs = (retry) => Math.min(${cap}, 100 * 2 ** (retry - 1));\n`,
      "test/cap.test.js": text,
      "test/cap.txt": `${cap}\n`,
    },
    say: `READY_FOR_REVIEW: {story}\n\nSummary: ${summary}\n`,
  });
  const runWith = (second: ScriptedAttempt) => {
    project.story("cap");
    const developer = [capped(5000, tests(CAPPED), "one"), second];
    const scripts = { developer, critic: [reviewPassed], auditor: [auditFailed, auditPassed] };
    return project.run(scripts, { set: [REAL_TESTS, "scope.exceptions=with-rationale"] });
  };
  const contestedIn = () =>
    project
      .events("gate.judged", "cap")
      .filter(({ judgement }) => judgement.gate === "checks")
      .map(({ judgement }) => judgement.contested ?? []);

  test("and whose data is changed afterwards are put before the critic by name", async () => {
    expect(
      (await runWith(capped(6000, tests(CAPPED), "weaker\n\nScope exception: test/cap.txt: it is 6000 now"))).exitCode,
    ).toBe(0);
    const name = "test/cap.test.js > is capped";
    expect(contestedIn()).toEqual([[], [{ test: name, why: "fails", file: "test/cap.test.js", isOfStory: true }]]);
    expect(project.prompts("critic")[1]).toContain(`${name}: fails in the version that was passed earlier`);
    const accepted = `1 contested test, accepted by the critic and the auditor: ${name}`;
    expect(project.events("story.accepted")[0]!.notes).toContain(accepted);
  });

  testInFull("and to which others are added are no question", async () => {
    const more = 'test("begins with 100", () => assert.equal(waitMs(1), 100));';
    expect((await runWith(capped(5000, tests(CAPPED, more), "more"))).exitCode).toBe(0);
    expect(contestedIn()).toEqual([[], []]);
  });
});
