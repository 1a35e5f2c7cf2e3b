import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/preset-policy.ts";
import { fingerprint, treeId } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { Round } from "../../src/domain/story-state.ts";
import { bestRound, isStrictlyImproving } from "../../src/policy/converge.ts";
import { answer, attemptEnd, attemptStart, story } from "../simulation/world.ts";
import { begin, commandsOf, runScript, stateOf, told, world, type Says, type World } from "../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const PATIENT: Policy = {
  ...POLICY,
  limits: { ...POLICY.limits, failures: { ...POLICY.limits.failures, review: 9, checks: 9 }, perLocation: 9 },
};
const run = (policy: Policy, gates: NonNullable<World["gates"]>) =>
  runScript(begin(policy, story("a")), world({ gates }));
const stall = (ran: ReturnType<typeof run>) => {
  const reason = stateOf(ran.run, "a").escalation?.reason;
  return reason?.type === "stall" ? reason.stall : (reason?.type ?? null);
};
const review = (...rounds: [failure: string, blocking: number][]): Says[] =>
  rounds.map(([failure, blocking]) => ({ result: "fail", failure, blocking }));
const tests = (...failing: number[]): Says[] =>
  failing.map((failingTests, i) => ({ result: "fail", failure: `f${i}`, failingTests, blocking: 20 - i }));

describe("stalls", () => {
  it.each<[string, Partial<Policy["stall"]>, NonNullable<World["gates"]>, string | null]>([
    ["the same failure three times", {}, { review: review(["x", 9], ["y", 8], ["x", 7], ["x", 6]) }, "same-failure"],
    ["the same failure twice", {}, { review: review(["x", 9], ["y", 8], ["x", 7]) }, null],
    ["the rule is off", { sameFailure: 0 }, { review: review(["x", 9], ["x", 8], ["x", 7]) }, null],
    ["no fewer findings for two rounds", {}, { review: review(["a", 3], ["b", 3], ["c", 5]) }, "plateau"],
    ["fewer findings in between", {}, { review: review(["a", 3], ["b", 3], ["c", 2], ["d", 2]) }, null],
    ["the plateau rule is off", { plateau: 0 }, { review: review(["a", 3], ["b", 3], ["c", 3], ["d", 3]) }, null],
    ["more failing tests", {}, { checks: tests(1, 2) }, "regression-cascade"],
    ["as many failing tests", {}, { checks: tests(2, 2) }, null],
    ["the cascade rule is off", { cascade: false }, { checks: tests(1, 2) }, null],
    ["tests that nobody counted", {}, { checks: ["fail", { result: "fail", failingTests: 3 }] }, null],
  ])("%s", (_name, rules, gates, found) => {
    expect(stall(run({ ...PATIENT, stall: { ...PATIENT.stall, ...rules } }, gates))).toBe(found);
  });

  const back = (policy: Policy, trees: readonly string[]) => {
    const happens = world({ gates: { review: Array.from({ length: trees.length }, (): Says => "fail") } });
    return runScript(begin(policy, story("a")), (command, state, now) =>
      command.type === "start-attempt"
        ? [attemptStart(command), attemptEnd(command.attempt, { type: "ready" }, trees[command.attempt - 1] ?? "last")]
        : happens(command, state, now),
    );
  };

  it("a tree that was there before: the work goes in circles", () => {
    expect(stall(back(PATIENT, ["one", "two", "one"]))).toBe("oscillation");
    expect(stall(back(PATIENT, ["one", "two", "three"]))).toBeNull();
    expect(
      stall(back({ ...PATIENT, stall: { ...PATIENT.stall, oscillation: false } }, ["one", "two", "one"])),
    ).toBeNull();
  });

  it("a tree that was judged before is no circle when a person sent it back since", () => {
    const circle = back(PATIENT, ["one", "two", "one"]);
    const after = runScript(told(circle.run, "a", answer("send-back")));
    expect(stateOf(after.run, "a").ending?.how).toBe("accepted");
  });

  it("after a cascade the best tree is brought back only if it is not the present one", () => {
    const ran = run(PATIENT, { checks: tests(3, 1, 2) });
    expect(commandsOf(ran, "restore-tree")).toHaveLength(1);
    expect(stateOf(ran.run, "a").gates.checks?.fresh).toBe(false);
    // The person mended it: everything is judged anew, on the tree that was brought back.
    expect(runScript(told(ran.run, "a", answer("resolve"))).lines.slice(0, 2)).toEqual([
      "adopt-work",
      "judge integrity",
    ]);
  });

  it("a person who sends it back after a cascade does not have it restored again", () => {
    const ran = run(PATIENT, { checks: tests(1, 2) });
    const after = runScript(told(ran.run, "a", answer("send-back")));
    expect(after.lines.slice(0, 2)).toEqual(["blame checks", "send back from checks to implement"]);
  });
});

describe("grace", () => {
  const graced = (grace: number): Policy => ({ ...POLICY, stall: { ...POLICY.stall, grace } });

  it("strictly improving work gets one round more, and it is said", () => {
    const ran = run(graced(1), { review: review(["a", 5], ["b", 3], ["c", 1], ["d", 1]) });
    expect(ran.lines.filter((line) => line === "grant-grace")).toHaveLength(1);
    expect(commandsOf(ran, "send-back").map(({ failure, failureLimit }) => [failure, failureLimit])).toEqual([
      [1, 3],
      [2, 3],
      [3, 4],
    ]);
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ type: "budget", used: 4, limit: 4 });
  });

  it.each([
    ["not improving", graced(1), review(["a", 5], ["b", 5], ["c", 1])],
    ["no grace set", graced(0), review(["a", 5], ["b", 3], ["c", 1])],
  ])("%s: none", (_name, policy, rounds) => {
    expect(run(policy, { review: rounds }).lines).not.toContain("grant-grace");
  });

  it("the ceiling stands above it", () => {
    const policy: Policy = {
      ...graced(5),
      limits: { ...POLICY.limits, perLocation: 99, failures: { ...POLICY.limits.failures, review: 10 } },
    };
    const ran = run(policy, {
      review: Array.from({ length: 30 }, (_, i): Says => ({ result: "fail", failure: `f${i}`, blocking: 40 - i })),
    });
    expect(ran.lines).not.toContain("grant-grace");
    expect(stateOf(ran.run, "a").gates.review?.failures).toBe(10);
  });
});

describe("rounds", () => {
  const round = (blocking: number, failingTests: number | null, tree = "t"): Round => ({
    attempt: 1,
    tree: treeId(tree),
    commit: "",
    failure: fingerprint("f"),
    blocking,
    failingTests,
  });

  it.each([
    [[round(3, null), round(2, null), round(1, null)], true],
    [[round(3, null), round(3, null)], false],
    [[round(3, null)], false],
  ])("improve strictly or not (%#)", (rounds, improving) => {
    expect(isStrictlyImproving(rounds)).toBe(improving);
  });

  it("the best has the fewest failing tests, then findings, and is the earliest of equals", () => {
    expect(bestRound([])).toBeNull();
    expect(bestRound([round(1, 3, "a"), round(9, 1, "b"), round(9, 1, "c")])?.tree).toBe("b");
    expect(bestRound([round(4, null, "a"), round(2, 7, "b"), round(3, 7, "c")])?.tree).toBe("b");
  });
});
