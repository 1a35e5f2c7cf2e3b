import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { countedBothWays, countedGoingBack } from "../../src/core/stories/budget.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { roleName, treeId } from "../../src/core/events/ids.ts";
import type { Policy, PresetName } from "../../src/core/events/policy.ts";
import {
  SEVERITIES,
  severityFromWord,
  toPriorityScale,
  toReviewScale,
  toSarifLevel,
  type Severity,
} from "../../src/core/gates/finding.ts";
import type { Verdict } from "../../src/core/gates/gate.ts";
import { isOpen } from "../../src/decide/gate-status.ts";
import { judge } from "../../src/decide/verdict.ts";
import { readAgentText } from "../../src/parse/agent/agent-text.ts";
import { readYaml } from "../../src/parse/data/yaml-text.ts";
import { limitOf } from "../../src/views/story/trail.ts";
import { workflowEvents } from "../../src/views/story/workflow.ts";
import { escalation } from "../kit/story-states.ts";
import { answer, attemptEnd, attemptStart, recordedEvent, story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  judgedGates,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Says,
  type World,
} from "./scripted-run.ts";

/*
 * One block per ruling of docs/adr/0005-where-the-sources-contradict-each-other.md. The sources' own tests show each
 * behavior in its place; here it is seen that of two things the sources say, the one that was chosen holds.
 */

const CRITIC = presetPolicy("critic-audit");
const run = (policy: Policy, gates: NonNullable<World["gates"]>, more: World = {}) =>
  runScript(begin(policy, story("a")), world({ ...more, gates }));
const finding = (message: string, severity: Severity = "critical") =>
  identifyFinding({ severity, category: "logic", message, source: "critic", file: "src/a.ts", line: 1 });

describe("ruling 1: one limit, `failures`", () => {
  // S0.32
  it.each<[PresetName, "review" | "checks", number]>([
    ["critic-audit", "review", 3],
    ["factory", "review", 3],
    ["story", "review", 4],
  ])("%s: the %s gate's failure number %i asks a person, one rework less went before it", (preset, gate, limit) => {
    const policy = presetPolicy(preset);
    const done = story("a", { completed: ["refine", "research", "plan"] });
    const ran = runScript(
      begin(policy, done),
      world({ gates: { [gate]: Array.from({ length: 20 }, (): Says => "fail") } }),
    );
    expect(commandsOf(ran, "send-back")).toHaveLength(limit - 1);
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ used: limit, limit });
  });

  it("prints both ways of counting", () => {
    expect(countedBothWays(2, 3)).toBe("failure 2 of 3, rework 1 of 2");
    expect(countedBothWays(1, 4)).toBe("failure 1 of 4, rework 0 of 3");
    expect(countedBothWays(4, 4)).toBe("failure 4 of 4, rework 3 of 3");
    expect(countedGoingBack(2, 3)).toBe("rework 2 of 2, after failure 2 of 3");
  });

  it("reads S4's maxIterations as one less than the failures", () => {
    const { policy } = resolveConfig({
      layers: [{ ...readYaml("remand.yaml", "preset: story\nrefinement: { maxIterations: 2 }\n"), name: "project" }],
    });
    expect(policy?.limits.failures.review).toBe(3);
  });
});

describe("ruling 2: what resets a counter", () => {
  it("another type of failure has its own; neither it nor a pass resets", () => {
    const ran = run(CRITIC, { review: ["fail", "pass", "fail"], audit: ["fail"] });
    expect(stateOf(ran.run, "a").gates.review?.failures).toBe(2);
    expect(stateOf(ran.run, "a").gates.audit?.failures).toBe(1);
  });

  it("a person's answer does, for that gate alone", () => {
    const ran = run(CRITIC, { review: ["fail", "fail", "fail"], audit: [] });
    const before = foldEvents(ran.run, "a", answer("send-back"));
    expect(stateOf(before, "a").gates.review).toMatchObject({ failures: 0, failuresEver: 3 });
  });

  it("allowing a rework that was due anyway is no reset", () => {
    const ran = run({ ...CRITIC, autonomy: "conservative" }, { review: ["fail"] });
    expect(stateOf(foldEvents(ran.run, "a", answer("send-back")), "a").gates.review?.failures).toBe(1);
  });
});

describe("ruling 3: red before the work began", () => {
  it("and the target: unmet, goes to the agent", () => {
    const ran = run(presetPolicy("goal"), { checks: ["fail"] }, { blame: ["unmet"] });
    expect(commandsOf(ran, "send-back")).toHaveLength(1);
    expect(stateOf(ran.run, "a").gates.checks?.failuresEver).toBe(1);
  });

  it("and not the target: pre-existing, never charged, never sent to the agent", () => {
    const ran = run(presetPolicy("goal"), { checks: ["fail"] }, { blame: ["pre-existing"] });
    expect(commandsOf(ran, "send-back")).toEqual([]);
    expect(stateOf(ran.run, "a").gates.checks?.failuresEver).toBe(0);
  });
});

describe("ruling 4: a reviewer that times out", () => {
  it("is a gate that broke: own counter, never the developer's, never a pass, then a person", () => {
    const ran = run(CRITIC, { review: ["error", "error", "error"] });
    expect(judgedGates(ran)).not.toContain("audit");
    expect(stateOf(ran.run, "a").gates.review).toMatchObject({ errors: 3, failures: 0, failuresEver: 0 });
    expect(stateOf(ran.run, "a").escalation?.reason.type).toBe("gate-error");
  });
});

describe("ruling 5: tests during rework", () => {
  const scopeOf = (ran: ReturnType<typeof run>) => commandsOf(ran, "send-back")[0]?.scope;

  it("by default existing tests stay as they are, and new ones may come", () => {
    expect(scopeOf(run(CRITIC, { review: ["fail"] }))?.tests).toBe("add-only");
  });

  it("mutation rework adds tests and nothing else", () => {
    const policy = presetPolicy("factory");
    expect(scopeOf(run(policy, { mutation: ["fail"] }))).toMatchObject({
      tests: "required",
      allow: policy.scope.testPaths,
    });
  });

  it("a test that is itself to blame is open", () => {
    const ran = run(
      presetPolicy("goal"),
      { checks: ["fail"] },
      { blame: [{ verdict: "culprit", file: "test/a.test.ts" }] },
    );
    expect(scopeOf(ran)).toMatchObject({ tests: "open", allow: ["test/a.test.ts"] });
  });

  it("rework of a text phase touches no test at all", () => {
    const ran = runScript(
      begin(presetPolicy("story"), story("a")),
      world({ gates: { review: [{ result: "fail", category: "research" }] } }),
    );
    expect(scopeOf(ran)?.tests).toBe("frozen");
  });
});

describe("ruling 6: one severity scale", () => {
  // S4.39, S4.42
  it.each([
    ["blocker", "blocker", "CRITICAL", "HIGH", "error"],
    ["CRITICAL", "critical", "CRITICAL", "HIGH", "error"],
    ["HIGH", "critical", "CRITICAL", "HIGH", "error"],
    ["major", "major", "IMPORTANT", "MEDIUM", "warning"],
    ["IMPORTANT", "major", "IMPORTANT", "MEDIUM", "warning"],
    ["MEDIUM", "major", "IMPORTANT", "MEDIUM", "warning"],
    ["minor", "minor", "SUGGESTION", "LOW", "note"],
    ["SUGGESTION", "minor", "SUGGESTION", "LOW", "note"],
    ["LOW", "minor", "SUGGESTION", "LOW", "note"],
    ["info", "info", "SUGGESTION", "LOW", "note"],
  ] as const)("%s is %s, and %s, %s, %s on the way out", (word, ours, review, priority, sarif) => {
    const severity = severityFromWord(word)!;
    expect(severity).toBe(ours);
    expect([toReviewScale(severity), toPriorityScale(severity), toSarifLevel(severity)]).toEqual([
      review,
      priority,
      sarif,
    ]);
  });

  it("an unknown word is of no scale, and every severity has its place", () => {
    expect(severityFromWord("constructor")).toBeUndefined();
    expect(SEVERITIES.map((severity) => severityFromWord(severity))).toEqual(SEVERITIES);
  });
});

describe("ruling 7: ids and contradictions in signals", () => {
  it.each([
    ["REVIEW_PASSED", "critic"],
    ["REVIEW_FAILED", "critic"],
    ["AUDIT_PASSED", "auditor"],
    ["AUDIT_FAILED", "auditor"],
    ["AUDIT_BLOCKED", "auditor"],
    ["READY_FOR_REVIEW", "developer"],
    ["TASK_INCOMPLETE", "developer"],
    ["INFRA_BLOCKED", "developer"],
  ] as const)("%s of another story says nothing", (signal, role) => {
    expect(readAgentText(`${signal}: b\n`, { id: "a", role })).toMatchObject({ result: "unknown" });
    expect(readAgentText(`${signal}: a\n`, { id: "a", role })).toMatchObject({ signal, idMatches: true });
  });

  it("PASSED and FAILED together are unknown, in whichever order", () => {
    for (const text of ["REVIEW_PASSED: a\nREVIEW_FAILED: a\n", "REVIEW_FAILED: a\nREVIEW_PASSED: a\n"])
      expect(readAgentText(text, { id: "a", role: "critic" }).result).toBe("unknown");
  });

  it("BLOCKED beside others is blocked", () => {
    expect(readAgentText("AUDIT_PASSED: a\n\nAUDIT_BLOCKED: a\n", { id: "a", role: "auditor" }).result).toBe("blocked");
  });
});

describe("ruling 8: a waiver is not a pass", () => {
  const exhausted = () => run(CRITIC, { review: ["fail", "fail", "fail"] }).run;

  it("opens the gate with a name and a reason, and the judgement stays a failure", () => {
    const waived = foldEvents(exhausted(), "a", answer("waive", { message: "a known limit" }));
    const state = stateOf(waived, "a");
    expect(isOpen(state, "review", "")).toBe(true);
    expect(state.gates.review?.last?.result).toBe("fail");
    expect(state.waivers).toMatchObject([{ gate: "review", by: "Ada", reason: "a known limit" }]);
    expect(stateOf(runScript(waived).run, "a").ending?.how).toBe("accepted");
  });

  it("covers the findings it names; a new one closes the gate", () => {
    const waived = foldEvents(exhausted(), "a", answer("waive"));
    const state = stateOf(waived, "a");
    const last = state.gates.review!.last!;
    const one = finding("something else");
    const more = { ...last, findings: [...last.findings, one], blocking: [...last.blocking, one.id] };
    expect(isOpen(stateOf(foldEvents(waived, "a", { type: "gate.judged", judgement: more }), "a"), "review", "")).toBe(
      false,
    );
    expect(isOpen(stateOf(foldEvents(waived, "a", { type: "gate.judged", judgement: last }), "a"), "review", "")).toBe(
      true,
    );
  });

  it("where there is nothing to name, it covers one tree", () => {
    const broken = run(CRITIC, { review: ["error", "error", "error"] }).run;
    const waived = foldEvents(broken, "a", answer("waive"));
    expect(isOpen(stateOf(waived, "a"), "review", "")).toBe(true);
    const moved = { ...stateOf(waived, "a"), tree: treeId("another") };
    expect(isOpen(moved, "review", "")).toBe(false);
  });

  // S4.88
  it("work that is accepted by force has a waiver for each gate that was not open", () => {
    const forced = stateOf(foldEvents(exhausted(), "a", answer("force-complete", { message: "ship it" })), "a");
    expect(forced.ending).toMatchObject({ how: "accepted", forced: { by: "Ada", reason: "ship it" } });
    expect(forced.waivers.map(({ gate }) => gate)).toEqual(["review", "audit"]);
  });
});

describe("ruling 9: retries of a CI run that failed for its own reasons", () => {
  const infrastructure: Says = { result: "fail", ciClass: "infrastructure" };
  it.each([
    [0, 1],
    [1, 2],
    [2, 3],
  ])("%i retries are %i runs, then a person; nothing is charged", (ciRetries, runs) => {
    const policy = presetPolicy("factory");
    const ran = run(
      { ...policy, limits: { ...policy.limits, ciRetries } },
      { ci: [infrastructure, infrastructure, infrastructure, infrastructure] },
    );
    expect(judgedGates(ran).filter((gate) => gate === "ci")).toHaveLength(runs);
    expect(stateOf(ran.run, "a").escalation?.reason.type).toBe("gate-blocked");
    expect(stateOf(ran.run, "a").gates.ci?.failuresEver).toBe(0);
  });

  it("two is what is set; conservative autonomy asks before each", () => {
    expect(presetPolicy("factory").limits.ciRetries).toBe(2);
    const ran = run({ ...presetPolicy("factory"), autonomy: "conservative" }, { ci: [infrastructure] });
    expect(stateOf(ran.run, "a").escalation?.reason).toEqual({ type: "approval", of: "retry" });
  });
});

describe("ruling 10: tries of a remediation", () => {
  const config = (tries: number) =>
    resolveConfig({
      layers: [{ ...readYaml("remand.yaml", `limits: { remediations: ${tries} }\n`), name: "project" }],
    });

  it("three by default, ten at the most", () => {
    expect(CRITIC.limits.remediations).toBe(3);
    expect(config(10).problems).toEqual([]);
    expect(config(11).problems).not.toEqual([]);
  });

  it.each([1, 3, 10])("%i tries, and then a person", (remediations) => {
    const policy = { ...CRITIC, limits: { ...CRITIC.limits, remediations } };
    const ran = run(policy, { audit: ["blocked"] }, { health: Array.from({ length: 20 }, () => false) });
    expect(commandsOf(ran, "start-remediation")).toHaveLength(remediations);
    expect(ran.run.escalation?.reason).toMatchObject({ type: "infrastructure", tries: remediations });
  });
});

describe("ruling 11: a mutant that timed out", () => {
  it("is said apart: it neither fails the gate as a survivor does, nor is it left out", () => {
    const heard = (severity: Severity) => {
      const said = identifyFinding({
        severity,
        category: "mutant",
        message: `a ${severity} mutant`,
        source: "mutation",
        file: "src/a.ts",
        line: 3,
      });
      return judge({
        gate: "mutation",
        tree: treeId("t"),
        rules: presetPolicy("factory").gates.mutation,
        verdicts: [
          { stage: "mutation", reviewer: roleName("mutation"), result: "pass", findings: [said], summary: "" },
        ],
        kept: [],
        overturned: [],
      });
    };
    expect(heard("info")).toMatchObject({ result: "pass", blocking: [], findings: [{ severity: "info" }] });
    expect(heard("critical").result).toBe("fail");
  });
});

describe("ruling 12: merge conflicts", () => {
  it("the check at merge time is what counts, and speaks of one base alone", () => {
    const ran = run(presetPolicy("factory"), {});
    const state = stateOf(ran.run, "a");
    expect(isOpen(state, "merge", ran.run.base)).toBe(true);
    expect(isOpen(state, "merge", "another base")).toBe(false);
    expect(isOpen(state, "ci", "another base")).toBe(true);
  });

  it("a conflict goes back, and what it changes is judged again up to the merge check", () => {
    const ran = run(presetPolicy("factory"), { merge: ["fail"] });
    expect(commandsOf(ran, "send-back")[0]?.variant).toBe("merge");
    expect(judgedGates(ran).slice(-2)).toEqual(["ci", "merge"]);
  });
});

describe("ruling 13: what is judged again", () => {
  const again = (changed: string[]) =>
    judgedGates(run(CRITIC, { audit: ["fail"] }, { changed: { 2: changed } })).slice(4);
  // S1.52
  it("exactly the gates whose evidence a changed path can affect", () => {
    expect(again(["src/a.ts"])).toEqual(["integrity", "checks", "review", "audit"]);
    expect(again(["README.md"])).toEqual(["integrity", "review", "audit"]);
  });
});

describe("ruling 14: a place is given up", () => {
  it("after three reworks without a pass between", () => {
    const here = { verdict: "culprit", file: "src/auth.ts" } as const;
    const fails = { checks: ["fail", "fail", "fail", "fail"] } as const;
    const ran = run(presetPolicy("goal"), fails, { blame: [here, here, here, here] });
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ stall: "trouble-spot" });
    expect(commandsOf(ran, "send-back")).toHaveLength(3);
  });
});

describe("ruling 15: a rework that changed nothing", () => {
  const idle = (unchanged: number) => {
    const policy = { ...CRITIC, stall: { ...CRITIC.stall, unchanged } };
    const gates = world({ gates: { review: ["fail", "fail", "fail"] } });
    return runScript(begin(policy, story("a")), (command, state, now) => {
      if (command.type !== "start-attempt" || command.reworkOf === null) return gates(command, state, now);
      return [
        attemptStart(command),
        attemptEnd(command.attempt, { type: "ready" }, state!.tree!, { changed: [], productChanged: false }),
      ];
    });
  };

  it("is a stall, and is not judged", () => {
    const ran = idle(1);
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ type: "stall", stall: "no-change" });
    expect(judgedGates(ran).filter((gate) => gate === "review")).toHaveLength(1);
    expect(stateOf(ran.run, "a").gates.review?.failures).toBe(1);
  });

  it.each([
    [2, 2, "stall"],
    [0, 3, "budget"],
  ])("with stall.unchanged %i the review looks %i times, and charges it", (unchanged, looks, reason) => {
    const ran = idle(unchanged);
    expect(judgedGates(ran).filter((gate) => gate === "review")).toHaveLength(looks);
    expect(stateOf(ran.run, "a").escalation?.reason.type).toBe(reason);
  });
});

const hear = (verdicts: Verdict[], overturned: Verdict["findings"][number]["id"][] = []) =>
  judge({
    gate: "review",
    tree: treeId("t"),
    rules: presetPolicy("story").gates.review,
    verdicts,
    kept: [],
    overturned,
  });
const says = (result: Verdict["result"], ...findings: Verdict["findings"]): Verdict => ({
  stage: "code",
  reviewer: roleName("code-reviewer"),
  result,
  findings,
  summary: "",
});

describe("ruling 16: FAIL without a finding at the threshold", () => {
  it("counts, and everything that reviewer named blocks", () => {
    const [one, two] = [finding("a name", "minor"), finding("a comment", "info")];
    expect(hear([says("fail", one, two)])).toMatchObject({ result: "fail", blocking: [one.id, two.id] });
    expect(hear([says("fail")])).toMatchObject({ result: "fail", blocking: [] });
  });

  // S4.44
  it("PASS with a finding at the threshold fails all the same", () => {
    expect(hear([says("pass", finding("a hole"))]).result).toBe("fail");
  });
});

describe("ruling 17: an overturned finding", () => {
  const one = finding("a hole");
  it("and a FAIL over it alone: neither is believed", () => {
    expect(hear([says("fail", one)], [one.id])).toMatchObject({ result: "inconclusive", findings: [] });
  });

  it("with another finding beside it, that one counts", () => {
    const other = finding("another hole");
    expect(hear([says("fail", one, other)], [one.id])).toMatchObject({ result: "fail", blocking: [other.id] });
  });

  // S4.23
  it("is left out when the gate judges again; a reviewer who insists on it ends at a person", () => {
    const failed = run(CRITIC, { review: ["fail", "fail", "fail"] }).run;
    const [disputed, ...others] = stateOf(failed, "a").gates.review!.last!.blocking;
    const asked = foldEvents(
      failed,
      "a",
      answer("dispute", { findings: [disputed!], message: "the caller checks it" }),
    );
    const happens = world({ gates: { review: ["inconclusive", "inconclusive"] } });
    const ran = runScript(asked, (command, state, now) =>
      command.type === "adjudicate"
        ? [
            {
              type: "finding.adjudicated",
              finding: command.finding,
              upheld: false,
              by: command.role,
              reason: "it does",
              durationMs: 0,
            },
          ]
        : happens(command, state, now),
    );
    expect(ran.lines).toEqual(["adjudicate by adjudicator", "judge review", "judge review", "ask: gate-inconclusive"]);
    expect(commandsOf(ran, "start-gate")[0]?.answer).toEqual(others);
  });
});

describe("ruling 18: a TDD pair goes through all phases from the failed one on", () => {
  it("so a rework of RED may touch the code too, and the tests are open", () => {
    const ran = run(presetPolicy("factory"), { tdd: [{ result: "fail", more: { tddPhase: "red" } }] });
    expect(commandsOf(ran, "send-back")[0]).toMatchObject({
      route: { tddPhase: "red" },
      scope: { allow: [], tests: "open" },
    });
  });
});

describe("ruling 19: the actions of the whole run", () => {
  const limited = (actions: number | null): Policy => ({
    ...CRITIC,
    limits: { ...CRITIC.limits, run: { ...CRITIC.limits.run, actions } },
  });

  it("have no limit by default, and one that a person can raise where it is set", () => {
    expect(CRITIC.limits.run.actions).toBeNull();
    const ran = run(limited(2), {});
    expect(ran.run.actions).toBe(2);
    expect(ran.run.escalation?.reason).toEqual({ type: "budget", budget: "run-actions", used: 2, limit: 2 });
    const more = runScript(foldEvents(ran.run, null, answer("raise-budget", { budget: "run-actions", limit: 100 })));
    expect(stateOf(more.run, "a").ending?.how).toBe("accepted");
  });

  it("are not asked for where nothing waits for them", () => {
    const used = run(limited(null), {}).run.actions!;
    const ran = run(limited(used), {});
    expect(ran.run.escalation).toBeNull();
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });
});

describe("ruling 20: the limit of reviews has two names", () => {
  it("is S0's in the list of failed tasks, and S2's in the log", () => {
    const raised = recordedEvent(0, "a", {
      type: "escalation.raised",
      escalation: escalation({ type: "budget", budget: "failures:review", used: 3, limit: 3 }, "review")!,
    });
    expect(limitOf(raised.event)).toBe("review_failure_limit");
    expect(workflowEvents([raised])[0]?.more).toEqual({ reason: "critique_failure_limit" });
  });
});

describe("the page of rulings", () => {
  it("has no ruling without a test here", () => {
    const page = readFileSync("docs/adr/0005-where-the-sources-contradict-each-other.md", "utf8");
    const here = readFileSync("test/seeds/rulings.test.ts", "utf8");
    const numbers = [...page.matchAll(/^\| (\d+) \|/gm)].map((match) => Number(match[1]));
    expect(numbers.length).toBeGreaterThanOrEqual(11);
    expect(numbers.filter((number) => !here.includes(`describe("ruling ${number}: `))).toEqual([]);
  });
});
