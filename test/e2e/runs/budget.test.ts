import { afterEach, beforeEach, expect, test } from "vitest";
import { createHost } from "../../../src/compose/host.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { makeProject, type Project } from "../critic-audit-project.ts";

let project: Project;
beforeEach(() => void (project = makeProject()));
afterEach(() => project.clear());

const works = (mark: string, cost: number) => ({
  append: { "src/wait.js": `// ${mark}\n` },
  say: `READY_FOR_REVIEW: {story}\n\nSummary: ${mark}`,
  cost,
});

test("money: a warning at 80 %, a question at 100 %, and on when a person raises it; nothing is spent in between", async () => {
  project.story("cap");
  const scripts = {
    developer: [works("one", 0.5), works("two", 0.35), works("three", 0.35), works("four", 0.1)],
    critic: [
      {
        say: "REVIEW_FAILED: {story}\n\nIssues Found:\n- src/wait.js:1: a\n- src/wait.js:2: b\n- src/wait.js:3: c\n",
        cost: 0,
      },
      { say: "REVIEW_FAILED: {story}\n\nIssues Found:\n- src/wait.js:1: d\n- src/wait.js:2: e\n", cost: 0 },
      { say: "REVIEW_PASSED: {story}\n\nSummary: well\n", cost: 0 },
    ],
  };
  const set = ["limits.costUsd=1", "phases.implement=[integrity, checks, review]", "gates.review.failures=5"];
  const first = await project.run(scripts, { set });
  expect(first.exitCode).toBe(5);
  expect(project.events("budget.warned")).toEqual([{ type: "budget.warned", budget: "cost", used: 0.85, limit: 1 }]);
  const { question } = first.stories[0]!;
  expect(question).toMatchObject({ kind: "authorisation", reason: { type: "budget", budget: "cost", limit: 1 } });
  expect(project.prompts("developer")).toHaveLength(3);
  expect(project.prompts("critic")).toHaveLength(2);
  expect(project.events("attempt.started").map(({ forecastUsd }) => forecastUsd)).toEqual([
    null,
    0.5,
    expect.closeTo(0.425),
  ]);

  const again = await project.run(scripts, { set });
  expect(again.exitCode).toBe(5);
  expect(project.prompts("developer")).toHaveLength(3);

  const answer = {
    verb: "raise-budget",
    by: "Ada",
    message: "",
    escalation: question!.id,
    budget: "cost",
    limit: 5,
  } as const;
  const host = createHost(project.repository.env);
  await host.appendEvents(project.repository.root, storyId("cap"), [{ type: "person.answered", answer }]);
  const last = await project.run(scripts, { set });
  expect(last).toMatchObject({ exitCode: 0, stories: [{ status: "accepted" }] });
  expect(project.prompts("developer")).toHaveLength(3);
});

// S4.68
test("actions of the whole run: nothing begins beyond the limit, and a person raises it", async () => {
  project.story("cap");
  const scripts = { developer: [works("one", 0.1)] };
  const set = ["limits.run.actions=2", "phases.implement=[integrity, checks]"];
  const first = await project.run(scripts, { set });
  expect(first.exitCode).toBe(5);
  expect(project.events("attempt.started")).toHaveLength(1);
  expect(project.events("gate.started")).toHaveLength(1);
  const [raised] = project.events("escalation.raised", null);
  expect(raised!.escalation).toMatchObject({
    question: "Raise the 2-action budget of the run?",
    reason: { type: "budget", budget: "run-actions", used: 2, limit: 2 },
  });
  const answer = {
    verb: "raise-budget",
    by: "Ada",
    message: "",
    escalation: raised!.escalation.id,
    budget: "run-actions",
    limit: 20,
  } as const;
  const host = createHost(project.repository.env);
  await host.appendEvents(project.repository.root, null, [{ type: "person.answered", answer }]);
  const last = await project.run(scripts, { set });
  expect(last).toMatchObject({ exitCode: 0, stories: [{ status: "accepted" }] });
  expect(project.events("attempt.started")).toHaveLength(1);
});

test("guidance goes into the next brief, and only the counter it is about restarts", async () => {
  project.story("cap");
  const failed = (...issues: string[]) => ({
    say: `REVIEW_FAILED: {story}\n\nIssues Found:\n${issues.map((issue) => `- src/wait.js:${issue}\n`).join("")}`,
    cost: 0,
  });
  const scripts = {
    developer: ["one", "two", "three"].map((mark) => works(mark, 0.1)),
    critic: [failed("1: a", "2: b"), failed("1: c"), { say: "REVIEW_PASSED: {story}\n\nSummary: well\n", cost: 0 }],
  };
  const set = ["phases.implement=[integrity, checks, review]", "gates.review.failures=2"];
  const first = await project.run(scripts, { set });
  expect(first.exitCode).toBe(4);
  const escalation = first.stories[0]!.question!.id;
  const answer = {
    verb: "send-back",
    by: "Ada",
    message: "the cap is five seconds, see TICKET-9",
    escalation,
  } as const;
  await createHost(project.repository.env).appendEvents(project.repository.root, storyId("cap"), [
    { type: "person.answered", answer },
  ]);
  const last = await project.run(scripts, { set });
  expect(last.exitCode).toBe(0);
  expect(project.prompts("developer")[2]).toContain("Ada: the cap is five seconds, see TICKET-9");
  expect(project.prompts("developer")[1]).not.toContain("TICKET-9");
});
