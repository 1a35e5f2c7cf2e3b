import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { fingerprint, treeId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { Round } from "../../src/core/stories/story-state.ts";
import { bestRound } from "../../src/decide/converge.ts";
import { answer, attemptEnd, attemptStart, identities, story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Says,
  type World,
} from "../seeds/scripted-run.ts";

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
/** What fails in each round; a round of `null` does not load. */
const tests = (...rounds: (readonly string[] | null)[]): Says[] =>
  rounds.map((failing, i) => ({
    result: "fail",
    failure: `f${i}`,
    blocking: failing?.length ?? 1,
    failing: failing ?? ["a.test.ts"],
    ...(failing === null ? { notLoaded: ["a.test.ts"] } : {}),
  }));

describe("stalls", () => {
  it.each<[string, Partial<Policy["stall"]>, NonNullable<World["gates"]>, string | null]>([
    ["the same failure three times", {}, { review: review(["x", 9], ["y", 8], ["x", 7], ["x", 6]) }, "same-failure"],
    ["the same failure twice", {}, { review: review(["x", 9], ["y", 8], ["x", 7]) }, null],
    ["the rule is off", { sameFailure: 0 }, { review: review(["x", 9], ["x", 8], ["x", 7]) }, null],
    ["nothing fixed for two rounds", {}, { checks: tests(["a"], ["a", "b"], ["a", "b", "c"]) }, "plateau"],
    ["as many, and others each time", {}, { review: review(["a", 1], ["b", 1], ["c", 1], ["d", 1]) }, null],
    ["something fixed in between", {}, { checks: tests(["a", "b"], ["a", "b", "c"], ["a", "c"], ["a", "c"]) }, null],
    [
      "back and forth",
      { sameFailure: 0 },
      { review: review(["a", 1], ["b", 1], ["a", 1], ["b", 1], ["a", 1]) },
      "plateau",
    ],
    ["the plateau rule is off", { plateau: 0 }, { checks: tests(["a"], ["a", "b"], ["a", "c"], ["a"]) }, null],
    ["a test that passed at the base", {}, { checks: tests(["a"], ["old 1"]) }, "regression-cascade"],
    ["a test that was fixed before", {}, { checks: tests(["a", "b"], ["a"], ["b"]) }, "regression-cascade"],
    ["a test that may be new", {}, { checks: tests(["a"], ["a", "b"]) }, null],
    ["a syntax error was fixed", {}, { checks: tests(null, ["old 1", "old 2"]) }, null],
    ["a syntax error came", {}, { checks: tests(["old 1"], null) }, null],
    ["a syntax error came and went", {}, { checks: tests(["old 1"], null, ["old 1", "old 2"]) }, "regression-cascade"],
    ["it failed at the base's tests from the start", {}, { checks: tests(["old 1"], ["old 1", "b"]) }, null],
    ["the cascade rule is off", { cascade: false }, { checks: tests(["a"], ["old 1"]) }, null],
    ["rounds without names", {}, { checks: ["fail", { result: "fail", blocking: 9 }] }, null],
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

  it("an earlier tree again: the work goes in circles", () => {
    expect(stall(back(PATIENT, ["one", "two", "one"]))).toBe("oscillation");
    expect(stall(back(PATIENT, ["one", "two", "three"]))).toBeNull();
    expect(
      stall(back({ ...PATIENT, stall: { ...PATIENT.stall, oscillation: false } }, ["one", "two", "one"])),
    ).toBeNull();
  });

  it("an earlier tree is no stall if a person sent the work back since", () => {
    const circle = back(PATIENT, ["one", "two", "one"]);
    const after = runScript(foldEvents(circle.run, "a", answer("send-back")));
    expect(stateOf(after.run, "a").ending?.how).toBe("accepted");
  });

  it("after a cascade the best tree is restored only if it is not the current one", () => {
    const ran = run(PATIENT, { checks: tests(["a", "b", "c"], ["a"], ["a", "b"]) });
    expect(commandsOf(ran, "restore-tree")).toHaveLength(1);
    expect(stateOf(ran.run, "a").gates.checks?.fresh).toBe(false);
    // The person fixed it: all gates run again, on the restored tree.
    expect(runScript(foldEvents(ran.run, "a", answer("resolve"))).lines.slice(0, 2)).toEqual([
      "adopt-work",
      "judge integrity",
    ]);
  });

  it("work that a person sends back after a cascade is not restored again", () => {
    const ran = run(PATIENT, { checks: tests(["a"], ["old 1"]) });
    const after = runScript(foldEvents(ran.run, "a", answer("send-back")));
    expect(after.lines.slice(0, 2)).toEqual(["blame checks", "send back from checks to implement"]);
  });
});

describe("grace", () => {
  const graced = (grace: number): Policy => ({ ...POLICY, stall: { ...POLICY.stall, grace } });

  it("strictly improving work gets one more round, and that is recorded", () => {
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
    ["nothing fixed in one round", graced(1), review(["a", 1], ["a", 2], ["b", 1])],
    ["something came back", graced(1), review(["a", 1], ["b", 1], ["a", 1])],
    ["no grace set", graced(0), review(["a", 5], ["b", 3], ["c", 1])],
  ])("%s: none", (_name, policy, rounds) => {
    expect(run(policy, { review: rounds }).lines).not.toContain("grant-grace");
  });

  it("the ceiling limits it", () => {
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

describe("the best round", () => {
  const round = (tree: string, blocking: number, failing: readonly string[] | null, notLoaded?: string[]): Round => ({
    attempt: 1,
    tree: treeId(tree),
    commit: "",
    failure: fingerprint("f"),
    blocking,
    ...(failing === null ? {} : { identities: identities(failing, notLoaded) }),
  });
  const best = (...rounds: readonly Round[]) => bestRound(rounds, ["target 1", "target 2"])?.tree ?? null;

  it.each([
    ["none", [], null],
    ["keeps most of what passed at the base", [round("a", 1, ["old 1", "old 2"]), round("b", 9, ["old 1", "x"])], "b"],
    ["then meets most targets", [round("a", 1, ["target 1", "target 2"]), round("b", 9, ["target 1", "x"])], "b"],
    ["then has the fewest blocking findings", [round("a", 3, ["x"]), round("b", 2, ["x"])], "b"],
    ["then is the earliest", [round("a", 2, ["x"]), round("b", 2, ["x"])], "a"],
    ["is never one that does not load", [round("a", 9, ["old 1"]), round("b", 1, ["t.ts"], ["t.ts"])], "a"],
    ["is none where nothing loaded", [round("b", 1, ["t.ts"], ["t.ts"])], null],
    ["is none where nothing is known of the tests", [round("b", 1, null)], null],
  ] as const)("%s", (_name, rounds, tree) => {
    expect(best(...rounds)).toBe(tree);
  });
});
