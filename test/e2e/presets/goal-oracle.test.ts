import { afterEach, beforeEach, expect, test } from "vitest";
import { makeProject, works, type Project } from "../critic-audit-project.ts";

let project: Project;
beforeEach(() => void (project = makeProject()));
afterEach(() => project.clear());

const GOAL = ["preset=goal"];
const says = (verdict: object) => ({ say: JSON.stringify(verdict), cost: 0 });

// S3.1, S3.31
test("the oracle that a goal names decides after the checks: its reasons go back, and its pass accepts", async () => {
  project.story("cap", "oracle: true\n");
  const result = await project.run(
    {
      developer: [works("// one"), works("// two")],
      oracle: [
        says({
          verdict: "partial",
          conditionResults: [
            { type: "custom_command", passed: true },
            { type: "custom_command", passed: false, output: "waitMs(9) is 25600" },
          ],
          failReasons: ["src/wait.js:2: the wait has no cap"],
          nextHint: "Return at most 5000.",
        }),
        says({ converged: true, confidence: 0.9 }),
      ],
    },
    { set: GOAL },
  );
  expect(result).toMatchObject({ exitCode: 0, stories: [{ status: "accepted", attempts: 2 }] });
  expect(project.verdicts()).toEqual(["checks pass", "oracle fail", "checks pass", "oracle pass"]);
  const [first, second] = project.events("gate.judged").filter(({ judgement }) => judgement.gate === "oracle");
  expect(first!.judgement).toMatchObject({
    summary: "oracle: the oracle says partial: 1 of 2 conditions hold",
    findings: [{ file: "src/wait.js", line: 2, message: "the wait has no cap" }],
    requiredFixes: ["Return at most 5000."],
  });
  expect(second!.judgement.summary).toBe("oracle: the oracle says pass: confidence 0.9");
  const [question] = project.prompts("oracle");
  expect(question).toContain("## Oracle Assignment");
  expect(question).toContain("Give the wait a cap.");
  const brief = project.prompts("developer")[1]!;
  expect(brief).toContain("**Gate:** oracle");
  expect(brief).toContain("src/wait.js:2: the wait has no cap");
  expect(brief).toContain("Return at most 5000.");
});

test("an oracle that no agent plays is refused before an agent is paid, and words alone are no verdict", async () => {
  project.story("cap", "oracle: judge\n");
  await expect(project.run({ developer: [works("// one")] }, { set: GOAL })).rejects.toThrow(
    "no agent plays judge for the oracle gate",
  );
  const set = [...GOAL, "limits.clarifications=0", "limits.errors=1"];
  const result = await project.run(
    { developer: [works("// one")], judge: [{ say: "I think that it converged.", cost: 0 }] },
    { set },
  );
  expect(result).toMatchObject({ exitCode: 4, stories: [{ question: { reason: { type: "gate-error" } } }] });
});
