import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { ContestedTest } from "../../src/core/gates/contested-test.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import { roleName, treeId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import type { Story } from "../../src/core/stories/story.ts";
import { gateRequest } from "../../src/engine/gate-request.ts";
import { composeBrief, type BriefMaterial } from "../../src/decide/compose-brief.ts";
import { nextStep } from "../../src/decide/next-step.ts";
import { begin, runScript, stateOf, foldEvents, world, type Says } from "../seeds/scripted-run.ts";
import { answer, story } from "../kit/story-world.ts";

const ADDS: ContestedTest = { test: "test/a.test.ts > adds", why: "fails", file: "test/a.test.ts" };
const GONE: ContestedTest = { test: "test/b.test.ts > removes", why: "removed", file: "test/b.test.ts" };
const NAMES = [ADDS.test, GONE.test];
const CONTESTED: Says = { result: "pass", more: { contested: [ADDS, GONE] } };

function withGates(...gates: readonly GateName[]): Policy {
  const policy = presetPolicy("critic-audit");
  return { ...policy, deliver: "branch", phases: [{ phase: "implement", gates }] };
}

function worked(policy: Policy, says: Parameters<typeof world>[0]["gates"], more: Partial<Story> = {}) {
  return runScript(begin(policy, story("a", more)), world({ gates: says! }));
}

const reasonIn = (run: RunState) => stateOf(run, "a").escalation?.reason;
const goOn = (run: RunState, event: ReturnType<typeof answer>, says: Parameters<typeof world>[0]["gates"] = {}) =>
  runScript(foldEvents(run, "a", event), world({ gates: says }));
const notesOf = (run: RunState) => {
  const { ending } = stateOf(run, "a");
  return ending?.how === "accepted" ? (ending.notes ?? []) : ending;
};

describe("contested tests without a reviewer", () => {
  const ALONE = withGates("checks");
  const asked = () => worked(ALONE, { checks: [CONTESTED] }).run;

  it("raise one question with all of them before any other step", () => {
    const { run, lines } = worked(withGates("checks", "ci"), { checks: [CONTESTED] });
    expect(lines).not.toContain("judge ci");
    expect(reasonIn(run)).toEqual({ type: "contested-tests", tests: NAMES });
    const escalation = stateOf(run, "a").escalation!;
    expect(escalation).toMatchObject({ gate: "checks", kind: "authorisation" });
    expect(escalation.question).toBe(
      `2 existing tests no longer pass in their earlier version: ${NAMES.join(", ")}. May the work change them?`,
    );
    expect(escalation.options.map(({ verb }) => verb)).toEqual(["allow", "send-back", "abandon"]);
  });

  it("that cannot fail raise that question, and can be accepted like others", () => {
    const unfailing: Says = { result: "pass", more: { contested: [{ ...ADDS, why: "cannot-fail" }] } };
    const { run } = worked(ALONE, { checks: [unfailing] });
    expect(reasonIn(run)).toEqual({ type: "contested-tests", tests: [ADDS.test], cannotFail: [ADDS.test] });
    expect(stateOf(run, "a").escalation!.question).toBe(
      `1 test passes even with faults planted in the work: ${ADDS.test}. Accept the work?`,
    );
    expect(goOn(run, answer("allow", { message: "it is right" })).lines).toEqual(["accept"]);
  });

  it("are accepted once a person allows them, with the person's name in the notes", () => {
    const { run, lines } = goOn(asked(), answer("allow", { message: "the story asks for it" }));
    expect(lines).toEqual(["accept"]);
    expect(notesOf(run)).toEqual([`2 tests changed with Ada's permission: ${NAMES.join(", ")}`]);
    expect(stateOf(run, "a").licensed).toEqual(
      NAMES.map((test) => ({ test, by: "Ada", reason: "the story asks for it" })),
    );
  });

  it("raise the question again if only some are allowed", () => {
    const { run } = goOn(asked(), answer("allow", { tests: [ADDS.test] }));
    expect(reasonIn(run)).toEqual({ type: "contested-tests", tests: [GONE.test] });
  });

  it("are licensed for later trees of the story too, also in the gate's request", () => {
    const run = foldEvents(asked(), "a", answer("allow"));
    const state = stateOf(run, "a");
    const place = { path: "/p", base: "c0", tree: state.tree!, commit: "c1", branch: "b" } as never;
    const command = {
      gate: "checks",
      tree: state.tree!,
      stages: [],
      since: null,
      answer: [],
      timeoutMs: 1,
      key: "k",
    } as const;
    expect(gateRequest(state, place, command).licensed).toEqual(NAMES);
    const later = runScript(
      foldEvents(run, "a", answer("send-back", { message: "smaller" })),
      world({ gates: {} }),
    ).run;
    expect(notesOf(later)).toEqual([`Ada allowed the work to change ${NAMES.join(", ")}`]);
  });

  it("are sent back, each as a finding with what to restore", () => {
    const state = stateOf(foldEvents(asked(), "a", answer("send-back", { message: "keep the tests" })), "a");
    const { action } = nextStep(state, { base: "c0", usualMs: null });
    expect(action).toMatchObject({ type: "send-back", gate: "person" });
    const material = { rolePrompt: "", evidence: [], judgedBy: [], filesModified: [], survivors: [] };
    const brief = composeBrief(state, action as never, {
      ...material,
      mutationScore: "",
      ci: null,
      report: "signal",
    } satisfies BriefMaterial);
    expect(brief.required).toMatchObject([
      { file: "test/a.test.ts", message: `${ADDS.test} fails in its base version`, severity: "critical" },
      { file: "test/b.test.ts", message: `${GONE.test} passed at the base and no longer runs` },
    ]);
    for (const { suggestedFix } of brief.required) expect(suggestedFix).toContain("as it is at the base");
  });

  it("end the story if a person abandons it", () => {
    expect(stateOf(goOn(asked(), answer("abandon")).run, "a").ending).toMatchObject({ how: "abandoned" });
  });

  it("raise no question if the story licenses them by name, file or pattern", () => {
    for (const tests of [NAMES, ["test/a.test.ts", "removes"], ["test/**"]])
      expect(notesOf(worked(ALONE, { checks: [CONTESTED] }, { tests }).run)).toEqual([]);
    expect(reasonIn(worked(ALONE, { checks: [CONTESTED] }, { tests: ["adds"] }).run)).toMatchObject({
      tests: [GONE.test],
    });
  });

  it("of the tdd gate raise the question too", () => {
    expect(reasonIn(worked(withGates("tdd"), { tdd: [CONTESTED] }).run)).toMatchObject({ type: "contested-tests" });
  });
});

describe("a license", () => {
  it("is the one that the story had when it started, not a later edit of its file", () => {
    const started = worked(withGates("checks"), { checks: ["error", "error", "error"] }).run;
    const changed = story("a", { tests: ["**"], title: "Another title" });
    const run = foldEvents(started, "a", { type: "story.changed", story: changed, what: ["tests", "title"] });
    expect(stateOf(run, "a").story).toMatchObject({ title: "Another title" });
    expect(stateOf(run, "a").story).not.toHaveProperty("tests");
    const queued = foldEvents(begin(withGates("checks"), story("a")), "a", {
      type: "story.changed",
      story: changed,
      what: ["tests"],
    });
    expect(stateOf(queued, "a").story.tests).toEqual(["**"]);
  });

  it("can be given without a question, and leaves another question open", () => {
    const stuck = worked(withGates("checks"), { checks: ["error", "error", "error"] }).run;
    const run = foldEvents(stuck, "a", answer("allow", { tests: ["test/**"] }));
    expect(reasonIn(run)).toMatchObject({ type: "gate-error" });
    expect(stateOf(run, "a").licensed).toMatchObject([{ test: "test/**", by: "Ada" }]);
    const { run: done } = goOn(run, answer("resolve"), { checks: [CONTESTED] });
    expect(notesOf(done)).toEqual([`2 tests changed with Ada's permission: ${NAMES.join(", ")}`]);
  });

  it("without tests does not answer another question", () => {
    const stuck = worked(withGates("checks"), { checks: ["error", "error", "error"] }).run;
    expect(stateOf(foldEvents(stuck, "a", answer("allow")), "a")).toMatchObject({ escalation: { id: "esc-a-1" } });
  });
});

describe("contested tests with a reviewer", () => {
  const REVIEWED = withGates("checks", "review");
  const SHOWN: Says = { result: "pass", more: { contested: [ADDS, GONE] } };

  it("are accepted by the reviewer's pass, and the acceptance notes that", () => {
    const { run, lines } = worked(REVIEWED, { checks: [CONTESTED], review: [SHOWN] });
    expect(lines.filter((line) => line.startsWith("judge"))).toEqual(["judge checks", "judge review"]);
    expect(notesOf(run)).toEqual([`2 contested tests, accepted by the critic: ${NAMES.join(", ")}`]);
  });

  it("name the reviewers of the stages if a preset has no critic", () => {
    const stages = ["security-reviewer", "code-reviewer"].map((role) => ({
      stage: role,
      result: "pass" as const,
      reviewer: roleName(role),
    }));
    const shown: Says = { result: "pass", more: { contested: [ADDS, GONE], stages } };
    const { run } = worked(REVIEWED, { checks: [CONTESTED], review: [shown] });
    expect(notesOf(run)).toEqual([
      `2 contested tests, accepted by the security-reviewer and the code-reviewer: ${NAMES.join(", ")}`,
    ]);
  });

  it("are sent back when the reviewer fails the work", () => {
    const { run, lines } = worked(REVIEWED, { checks: [CONTESTED], review: ["fail"] });
    expect(lines).toContain("send back from review to implement");
    expect(notesOf(run)).toEqual([]);
  });

  it("name the critic and the auditor if both ruled", () => {
    const { run } = worked(withGates("checks", "review", "audit"), {
      checks: [CONTESTED],
      review: [SHOWN],
      audit: [SHOWN],
    });
    expect(notesOf(run)).toEqual([`2 contested tests, accepted by the critic and the auditor: ${NAMES.join(", ")}`]);
  });

  it.each([
    ["passed before the tests ran", withGates("review", "checks"), "pass"],
    ["was not shown all of them", REVIEWED, { result: "pass", more: { contested: [ADDS] } }],
  ] as const)("are asked about where the reviewer %s", (_what, policy, says) => {
    const { run } = worked(policy, { checks: [CONTESTED], review: [says] });
    expect(reasonIn(run)).toMatchObject({ type: "contested-tests" });
  });

  it("raise a question if the review was waived instead of passed", () => {
    const first = worked(REVIEWED, { checks: [CONTESTED], review: ["error", "error", "error"] }).run;
    expect(reasonIn(first)).toMatchObject({ type: "gate-error" });
    const { run } = goOn(first, answer("waive", { gate: "review" }));
    expect(reasonIn(run)).toMatchObject({ type: "contested-tests", tests: NAMES });
  });
});

describe("contested tests and phases", () => {
  const twoPhases = (...last: readonly GateName[]): Policy => ({
    ...withGates(),
    phases: [
      { phase: "plan", gates: ["checks"] },
      { phase: "implement", gates: last },
    ],
  });

  it("raise a question before a phase that would not report them again", () => {
    const { run } = worked(twoPhases("review"), { checks: [CONTESTED] });
    expect(reasonIn(run)).toMatchObject({ type: "contested-tests" });
    expect(stateOf(run, "a").phase).toBe("plan");
    expect(stateOf(goOn(run, answer("allow")).run, "a").ending?.how).toBe("accepted");
  });

  it("are left to the reviewer of a later phase that runs the tests again", () => {
    const { run } = worked(twoPhases("checks", "review"), {
      checks: [CONTESTED, CONTESTED],
      review: [{ result: "pass", more: { contested: [ADDS, GONE] } }],
    });
    expect(notesOf(run)).toEqual([`2 contested tests, accepted by the critic: ${NAMES.join(", ")}`]);
  });
});

describe("pinned tests", () => {
  const seenIn = (run: RunState) => gateRequest(stateOf(run, "a"), PLACE, GATE).seenTree;
  const PLACE = { path: "/w", base: "base", branch: "b", tree: treeId("t"), commit: "c" };
  const GATE = { gate: "checks", tree: "t", stages: [], since: null, answer: [], timeoutMs: 1, key: "a:1" } as never;

  it.each(["review", "audit", "tdd"] as const)("are those of a pass of the %s gate", (gate) => {
    const { run } = worked(withGates(gate, "checks"), { checks: [CONTESTED] });
    expect(seenIn(run)).toBe(stateOf(run, "a").tree);
  });

  it("are not those that only checks ran, nor those that the tdd gate contests", () => {
    expect(seenIn(worked(withGates("checks", "ci"), { ci: [{ result: "fail" }] }).run)).toBeUndefined();
    expect(seenIn(worked(withGates("tdd", "ci"), { tdd: [CONTESTED] }).run)).toBeUndefined();
  });

  it("are those that a person allowed", () => {
    const { run } = worked(withGates("checks"), { checks: [CONTESTED] });
    expect(seenIn(run)).toBeUndefined();
    expect(seenIn(foldEvents(run, "a", answer("allow")))).toBe(stateOf(run, "a").tree);
  });

  it("stay when the engine merges the target, and are dropped when an older tree is restored", () => {
    const { run } = worked(withGates("review", "checks"), { checks: [CONTESTED] });
    const commit = "c".repeat(40);
    const updated = foldEvents(run, "a", {
      type: "branch.updated",
      tree: treeId("updated"),
      commit,
      changed: ["x"],
    } as never);
    expect(seenIn(updated)).toBe("updated");
    const restored = { type: "tree.restored", tree: treeId("older"), commit } as never;
    expect(seenIn(foldEvents(run, "a", restored))).toBeUndefined();
    const adopted = { type: "work.adopted", tree: treeId("mine"), commit, changed: ["x"], by: "Ada" } as never;
    expect(seenIn(foldEvents(run, "a", adopted))).toBe("mine");
  });
});
