import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Event, Recorded } from "../../../src/core/events/event.ts";
import type { GateName } from "../../../src/core/gates/gate.ts";
import { evidenceId, roleName, storyId, treeId } from "../../../src/core/events/ids.ts";
import type { Phase } from "../../../src/core/stories/story.ts";
import type { Policy } from "../../../src/core/events/policy.ts";
import type { Result } from "../../../src/core/events/error.ts";
import { fold } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import { type GateRecheck, recheckText, rechecks } from "../../../src/views/story/recheck.ts";
import { attemptEnd, judgement, recordedEvent, reviewedPhases, story } from "../../kit/story-world.ts";

const base = presetPolicy("critic-audit");
const POLICY: Policy = {
  ...base,
  gates: { ...base.gates, audit: { ...base.gates.audit, affectedBy: ["src/**"] } },
};

const GATES_OF_PHASE = POLICY.phases[0]!.gates;
const START: readonly Recorded[] = [
  recordedEvent(0, null, { type: "policy.set", policy: POLICY, by: "test" }),
  recordedEvent(0, "a", { type: "story.added", story: story("a") }),
  recordedEvent(0, "a", { type: "story.started", by: "test" }),
  recordedEvent(0, "a", { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] }),
];

/** The events of one story, in a short notation. */
function journal() {
  const lines: Recorded[] = [];
  let attempt = 0;
  const tell = (event: Event): void => void lines.push(recordedEvent(lines.length, "a", event));
  return {
    lines,
    work(changed: readonly string[], phase: Phase = "implement", reworkOf: GateName | null = null): void {
      attempt++;
      const role = roleName("developer");
      tell({ type: "attempt.started", attempt, phase, role, reworkOf, brief: null, forecastUsd: null });
      tell(attemptEnd(attempt, { type: "ready" }, `t${attempt}`, { changed }));
    },
    judged(results: { readonly [G in GateName]?: Result }, durationMs = 60_000): void {
      for (const [gate, result] of Object.entries(results) as [GateName, Result][])
        tell({ type: "gate.judged", judgement: { ...judgement(gate, `t${attempt}`, result), durationMs } });
    },
    sendBack(gate: GateName, phase: Phase = "implement"): void {
      const route = { phase, role: roleName("developer"), reason: "it failed" };
      const scope = { allow: [], deny: [], tests: "open", exceptions: "never", reason: "" } as const;
      const rest = { variant: "review", failure: 1, failureLimit: 3, brief: evidenceId("b") } as const;
      tell({ type: "work.sent-back", gate, route, scope, ...rest });
    },
    tell,
  };
}

const whats = (gates: readonly GateRecheck[] | undefined): string[] =>
  (gates ?? []).map(({ gate, what }) => `${gate} ${what}`);

describe("judging again after a change", () => {
  // S1.49
  it("keeps reviewers' passes after a rework that only changed tests", () => {
    const factory = presetPolicy("factory");
    const slice = journal();
    slice.work(["src/a.ts", "test/a.test.ts"]);
    slice.judged({ integrity: "pass", tdd: "pass", review: "pass", mutation: "fail" });
    slice.sendBack("mutation");
    slice.work(["test/b.test.ts"], "implement", "mutation");
    slice.judged({ integrity: "pass", tdd: "pass", mutation: "pass", ci: "pass", merge: "pass" });
    expect(whats(rechecks(slice.lines, factory)[0]?.gates)).toEqual([
      "integrity again",
      "tdd again",
      "review kept",
      "mutation again",
      "ci first",
      "merge first",
    ]);
    slice.sendBack("ci");
    slice.work(["test/c.test.ts"], "implement", "ci");
    expect(whats(rechecks(slice.lines, factory)[1]?.gates)).toContain("review due");
  });

  it("names the paths, keeps judgements that no path affects, and lists gates that run for the first time", () => {
    const story = journal();
    story.work(["src/a.ts"]);
    story.judged({ integrity: "pass", checks: "pass", review: "fail" });
    story.sendBack("review");
    story.work(["README.md"], "implement", "review");
    story.judged({ integrity: "pass", review: "pass", audit: "pass" });
    const [rework, ...rest] = rechecks(story.lines, POLICY);
    expect(rest).toEqual([]);
    expect(rework).toMatchObject({ cause: "rework", rework: 1, sentBackBy: "review", changed: ["README.md"] });
    expect(whats(rework?.gates)).toEqual(["integrity again", "checks kept", "review again", "audit first"]);
    expect(rework?.gates).toMatchObject([
      { why: "changed: README.md", paths: ["README.md"], result: "pass" },
      { why: "no changed file affects it", paths: [], durationMs: 60_000 },
      { why: "it had failed the work" },
      { why: "it had not run on this phase's work before" },
    ]);
    expect(recheckText(rechecks(story.lines, POLICY))).toEqual([
      "  rework 1 of implement, after review: 1 path changed (README.md)",
      "    integrity  ran again: pass, 1 m; changed: README.md",
      "    checks     kept (saved 1 m); no changed file affects it",
      "    review     ran again: pass, 1 m; it had failed the work",
      "    audit      ran: pass, 1 m; it had not run on this phase's work before",
    ]);
  });

  it("does not keep a judgement that an earlier change affected, and lists what is still due", () => {
    const story = journal();
    story.work(["src/a.ts"]);
    story.judged({ integrity: "pass", checks: "pass", review: "pass", audit: "fail" });
    story.sendBack("audit");
    story.work(["src/a.ts"], "implement", "audit");
    story.judged({ integrity: "pass", checks: "fail" });
    story.sendBack("checks");
    story.work([], "implement", "checks");
    const [first, second] = rechecks(story.lines, POLICY);
    expect(whats(first?.gates)).toEqual(["integrity again", "checks again", "review due", "audit due"]);
    expect(whats(second?.gates)).toEqual(["integrity kept", "checks due", "review due", "audit due"]);
    expect(second?.gates[2]?.why).toBe("an earlier change affected its files");
    expect(recheckText([second!])[0]).toBe("  rework 2 of implement, after checks: nothing changed");
    expect(recheckText([second!])[1]).toBe("    integrity  kept (saved 1 m); nothing changed");
  });

  it("starts over in another phase, and lists the phases that were based on it", () => {
    const story = journal();
    for (const phase of ["research", "plan"] as const) {
      story.work(["stories/a.md"], phase);
      story.judged({ integrity: "pass", review: "pass" });
    }
    story.work(["src/a.ts"]);
    story.judged({ integrity: "pass", checks: "pass", review: "fail" });
    story.sendBack("review", "research");
    story.work(["stories/a.md"], "research", "review");
    story.judged({ integrity: "pass", review: "pass" });
    story.work(["stories/a.md"], "plan");
    story.judged({ integrity: "fail" });
    const [rework] = rechecks(story.lines, reviewedPhases());
    expect(rework).toMatchObject({ phase: "research", phasesAgain: ["plan", "implement"] });
    expect(whats(rework?.gates)).toEqual(["integrity again", "review again"]);
    expect(rework?.gates.map(({ result }) => result)).toEqual(["pass", "pass"]);
    expect(rework?.gates[0]?.why).toBe("the work went back from implement to research: its product is another one");
    expect(recheckText([rework!]).at(-1)).toBe("    done again, because built on research: plan, implement");
  });

  it("includes updates of the branch and lint fixes", () => {
    const story = journal();
    story.work(["src/a.ts"]);
    story.judged({ integrity: "pass", checks: "pass", review: "pass" });
    const moved = { tree: treeId("t9"), commit: "c9", changed: ["lib/b.ts"] };
    story.tell({ type: "branch.updated", ...moved, conflicts: [] });
    story.tell({ type: "lint.fixed", ...moved, changed: ["docs/a.md"] });
    story.tell({ type: "tree.restored", tree: treeId("t1"), commit: "c1" });
    const [update, lint] = rechecks(story.lines, POLICY);
    expect(whats(update?.gates)).toEqual(["integrity due", "checks due", "review due", "audit ahead"]);
    expect(lint).toMatchObject({ cause: "lint fix", rework: 0, sentBackBy: null });
    expect(whats(lint?.gates)).toEqual(["integrity due", "checks due", "review due", "audit ahead"]);
    expect(recheckText([lint!])[0]).toBe("  lint fix in implement: 1 path changed (docs/a.md)");
  });

  it("is empty for a story without a policy", () => {
    expect(rechecks([], null)).toEqual([]);
  });

  it("keeps exactly the gates that the fold considers proven", () => {
    const paths = fc.subarray(["src/a.ts", "README.md", "lib/b.ts"]);
    const round = fc.record({ changed: paths, fails: fc.constantFrom(...GATES_OF_PHASE) });
    fc.assert(
      fc.property(fc.array(round, { minLength: 2, maxLength: 6 }), (rounds) => {
        const told = journal();
        const stateNow = () => lookup(fold([...START, ...told.lines], EMPTY_RUN).stories, storyId("a"), byText)!;
        for (const [index, { changed, fails }] of rounds.entries()) {
          told.work(changed, "implement", index === 0 ? null : "checks");
          const judged = new Set<GateName>();
          for (const gate of GATES_OF_PHASE) {
            const { last = null, fresh = false } = stateNow().gates[gate] ?? {};
            if (fresh && last?.result === "pass") continue;
            told.judged({ [gate]: gate === fails ? "fail" : "pass" });
            judged.add(gate);
            if (gate === fails) break;
          }
          const { gates } = stateNow();
          const proven = GATES_OF_PHASE.filter(
            (gate) => gates[gate]?.fresh === true && gates[gate].last?.result === "pass",
          );
          const turn = rechecks(told.lines, POLICY).at(-1);
          const kept = turn?.gates.filter(({ what }) => what === "kept").map(({ gate }) => gate);
          if (index > 0) expect(kept).toEqual(proven.filter((gate) => !judged.has(gate)));
          told.sendBack(fails);
        }
      }),
      { numRuns: 50 },
    );
  });
});
