import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import type { CiClass } from "../../src/core/gates/gate.ts";
import { roleName } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { judge } from "../../src/decide/verdict.ts";
import { story } from "../kit/story-world.ts";
import { begin, commandsOf, judgedGates, runScript, foldEvents, world, type Says, type World } from "./scripted-run.ts";

const POLICY = presetPolicy("factory");
const ci = (ciClass: CiClass): Says => ({ result: "fail", ciClass });
type Gates = NonNullable<World["gates"]>;
const run = (gates: Gates, policy: Policy = POLICY) => runScript(begin(policy, story("a")), world({ gates }));

describe("S1 scoped re-review", () => {
  const STAGES = POLICY.gates.review.stages;
  const reviewed = (failedAt: number): Says => {
    const finding = identifyFinding({
      severity: "critical",
      category: "quality",
      message: "an error is swallowed",
      source: "reviewer",
      file: "src/a.ts",
      line: 42,
    });
    const verdicts = STAGES.slice(0, failedAt + 1).map((stage, at) => ({
      stage,
      reviewer: roleName(`${stage}-reviewer`),
      result: at === failedAt ? ("fail" as const) : ("pass" as const),
      findings: at === failedAt ? [finding] : [],
      summary: stage,
    }));
    const {
      tree: _tree,
      gate: _gate,
      ...more
    } = judge({ gate: "review", tree: "x" as never, rules: POLICY.gates.review, verdicts, kept: [], overturned: [] });
    return { result: "fail", more };
  };

  // S1.7, S1.13
  it.each([
    [0, STAGES],
    [1, STAGES.slice(1)],
    [2, STAGES.slice(2)],
  ])("a failure in stage %i has that stage and those after it judged again", (failedAt, stages) => {
    const [first, second] = commandsOf(run({ review: [reviewed(failedAt)] }), "start-gate").filter(
      ({ gate }) => gate === "review",
    );
    expect(first).toMatchObject({ stages: STAGES, since: null, answer: [] });
    expect(second?.stages).toEqual(stages);
  });

  // S1.14
  it("the reviewer sees what changed since, and answers each of the earlier findings", () => {
    const [first, second] = commandsOf(run({ review: [reviewed(1)] }), "start-gate").filter(
      ({ gate }) => gate === "review",
    );
    expect(second?.since).toBe(first?.tree);
    expect(second?.tree).not.toBe(first?.tree);
    expect(second?.answer).toHaveLength(1);
  });

  // S1.47
  it("after the rework of another gate the review looks at what changed since it passed", () => {
    const [first, second] = commandsOf(run({ mutation: ["fail"] }), "start-gate").filter(
      ({ gate }) => gate === "review",
    );
    expect(second).toMatchObject({ stages: STAGES, since: first?.tree, answer: [] });
  });

  // S1.11
  it("SUGGESTION findings are information: they fail no stage and need no action", () => {
    const heard = (severity: "minor" | "major") => {
      const finding = identifyFinding({
        severity,
        category: "naming",
        message: "a name",
        source: "reviewer",
        file: "src/a.ts",
        line: 1,
      });
      return judge({
        gate: "review",
        tree: "x" as never,
        rules: POLICY.gates.review,
        verdicts: [{ stage: STAGES[1]!, reviewer: roleName("r"), result: "pass", findings: [finding], summary: "" }],
        kept: [],
        overturned: [],
      });
    };
    expect(heard("minor")).toMatchObject({ result: "pass", blocking: [] });
    expect(heard("major").result).toBe("fail");
  });
});

describe("S1 rework does not reset quality", () => {
  /** The gates judged after the rework, in order. */
  const again = (gates: Gates, changed: readonly string[]) => {
    const ran = runScript(begin(POLICY, story("a")), world({ gates, changed: { 2: changed } }));
    const lines = ran.lines.slice(ran.lines.findIndex((line) => line.includes(" after ")) + 1);
    return lines.filter((line) => line.startsWith("judge ")).map((line) => line.slice("judge ".length));
  };
  const ALL = ["integrity", "tdd", "review", "mutation", "ci", "merge"];

  // S1.6, S1.19, S1.28, S1.46, S1.49, S1.51
  it.each([
    ["TDD rework", { tdd: ["fail"] }, ["src/a.ts"], ALL],
    ["review rework of code", { review: ["fail"] }, ["src/a.ts"], ALL],
    ["mutation rework", { mutation: ["fail"] }, ["test/a.test.ts"], ["integrity", "tdd", "mutation", "ci", "merge"]],
    ["mutation rework that touched code, with a reason", { mutation: ["fail"] }, ["src/a.ts", "test/a.test.ts"], ALL],
    ["CI rework", { ci: [ci("test")] }, ["src/a.ts"], ALL],
    ["CI rework of prose alone", { ci: [ci("configuration")] }, ["docs/ci.md"], ["integrity", "review", "ci", "merge"]],
    ["merge rework of prose alone", { merge: ["fail"] }, ["README.md"], ["integrity", "review", "ci", "merge"]],
  ] as const)("%s", (_name, gates, changed, judgedAgain) => {
    expect(again(gates, changed)).toEqual(judgedAgain);
  });

  // S1.48
  it("a review rework that touched no code leaves the mutation evidence alone", () => {
    // Review failed after mutation had passed: prose was asked for, and prose changed.
    const policy: Policy = {
      ...POLICY,
      phases: [{ phase: "implement", gates: ["tdd", "mutation", "review", "ci"] }],
      deliver: "branch",
    };
    const rework = (changed: string[]) =>
      judgedGates(
        runScript(begin(policy, story("a")), world({ gates: { review: ["fail"] }, changed: { 2: changed } })),
      ).slice(3);
    expect(rework(["README.md"])).toEqual(["review", "ci"]);
    expect(rework(["src/a.ts"])).toEqual(["tdd", "mutation", "review", "ci"]);
  });

  // S1.50
  it("when the base moves, the merge check alone is done again", () => {
    const full: Policy = { ...POLICY, autonomy: "full", merge: "auto" };
    const held = runScript(begin(full, story("a")), (command) =>
      command.type === "deliver" ? [{ type: "story.held", by: "Ada" }] : null,
    );
    const after = foldEvents(foldEvents(held.run, null, { type: "base.moved", commit: "b2" }), "a", {
      type: "story.released",
      by: "Ada",
    });
    expect(runScript(after).lines).toEqual(["judge merge", "deliver by merge", "accept"]);
  });
});
