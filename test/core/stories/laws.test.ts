import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addUsd, countedBothWays, countedGoingBack, NOTHING_SPENT, spend } from "../../../src/core/stories/budget.ts";
import { STORY_ID_PATTERN, storyIdFault } from "../../../src/core/events/ids.ts";
import {
  atLeast,
  rank,
  SEVERITIES,
  severityFromWord,
  toPriorityScale,
  toReviewScale,
  toSarifLevel,
  worse,
} from "../../../src/core/gates/finding.ts";
import { RESULT_OF_SIGNAL, ROLE_OF_SIGNAL, SIGNALS } from "../../../src/core/stories/reading.ts";

describe("severities", () => {
  it("are one scale, the worst first", () => {
    expect([...SEVERITIES].reverse().sort(worse)).toEqual(SEVERITIES);
    expect(SEVERITIES.map(rank)).toEqual([0, 1, 2, 3, 4]);
    fc.assert(
      fc.property(
        fc.constantFrom(...SEVERITIES),
        fc.constantFrom(...SEVERITIES),
        (a, b) => atLeast(a, b) === worse(a, b) <= 0,
      ),
    );
  });

  it.each([
    [["blocker", "blocking", "fatal"], "blocker"],
    [["critical", "CRITICAL", "severe", "high", "error"], "critical"],
    [["major", "Important", "MEDIUM", "moderate", "warning", "warn"], "major"],
    [["minor", "low", "SUGGESTION", "nit"], "minor"],
    [["info", "note", "information", "informational", "none"], "info"],
  ] as const)("know %j as %s, with spaces around", (words, severity) => {
    for (const word of words) expect(severityFromWord(` ${word} `)).toBe(severity);
  });

  it("know no other words", () => {
    for (const word of ["", "urgent", "__proto__", "toString"]) expect(severityFromWord(word)).toBeUndefined();
  });

  it("keep their order in every scale they are translated to", () => {
    const orders = [
      [toReviewScale, ["CRITICAL", "IMPORTANT", "SUGGESTION"]],
      [toPriorityScale, ["HIGH", "MEDIUM", "LOW"]],
      [toSarifLevel, ["error", "warning", "note"]],
    ] as const;
    for (const [to, scale] of orders) {
      const places = SEVERITIES.map((severity) => (scale as readonly string[]).indexOf(to(severity)));
      expect(places).toEqual([0, 0, 1, 2, 2]);
    }
  });

  it("come back from the scales of S1 and S2 unchanged, or worse", () => {
    for (const severity of ["critical", "major", "minor"] as const) {
      expect(severityFromWord(toReviewScale(severity))).toBe(severity);
      expect(severityFromWord(toPriorityScale(severity))).toBe(severity);
    }
  });
});

describe("counting", () => {
  it.each([
    [1, 3, "failure 1 of 3, rework 0 of 2"],
    [2, 3, "failure 2 of 3, rework 1 of 2"],
    [3, 3, "failure 3 of 3, rework 2 of 2"],
    [1, 1, "failure 1 of 1, rework 0 of 0"],
    [4, 4, "failure 4 of 4, rework 3 of 3"],
  ])("%i of %i both ways", (failures, limit, text) => {
    expect(countedBothWays(failures, limit)).toBe(text);
  });

  it("names the person who sent the work back without a failure", () => {
    expect(countedGoingBack(1, 2)).toBe("rework 1 of 1, after failure 1 of 2");
    expect(countedGoingBack(0, 2)).toBe("sent back by a person; the failure count starts over, 2 at most");
  });

  it("adds what was spent, and marks an unknown price", () => {
    const one = spend(NOTHING_SPENT, { costUsd: 1, tokens: 10, durationMs: 5 }, true);
    expect(one).toEqual({ costUsd: 1, tokens: 10, timeMs: 5, costUnknown: false });
    expect(spend(one, { durationMs: 5 }, true)).toEqual({ costUsd: 1, tokens: 10, timeMs: 10, costUnknown: true });
    expect(spend(one, { durationMs: 5 }, false).costUnknown).toBe(false);
    // Binary fractions make 1.2000000000000002 of this.
    expect([0.4, 0.4, 0.4].reduce(addUsd, 0)).toBe(1.2);
    expect(addUsd(0.000003, 0.0000001)).toBe(0.0000031);
    expect(spend(spend(one, { durationMs: 0 }, true), { costUsd: 1, durationMs: 0 }, true).costUnknown).toBe(true);
  });
});

describe("signals", () => {
  it("each belongs to one role and means one result", () => {
    expect(SIGNALS.map((signal) => [signal, ROLE_OF_SIGNAL[signal], RESULT_OF_SIGNAL[signal]])).toEqual([
      ["READY_FOR_REVIEW", "developer", "ready"],
      ["TASK_INCOMPLETE", "developer", "incomplete"],
      ["INFRA_BLOCKED", "developer", "blocked"],
      ["REVIEW_PASSED", "critic", "pass"],
      ["REVIEW_FAILED", "critic", "fail"],
      ["AUDIT_PASSED", "auditor", "pass"],
      ["AUDIT_FAILED", "auditor", "fail"],
      ["AUDIT_BLOCKED", "auditor", "blocked"],
    ]);
  });
});

describe("ids of stories", () => {
  it.each([
    ["story-mk694umf-o764", true],
    ["a", true],
    ["A.b_c-1", true],
    ["", false],
    ["-a", false],
    ["../a", false],
    ["a b", false],
    ["a/b", false],
    ["a\n", false],
    ["x".repeat(101), false],
  ])("%j: %s", (id, fits) => {
    expect(STORY_ID_PATTERN.test(id)).toBe(fits);
  });

  it.each([
    ["checkout-retry", null],
    ["v1.2", null],
    ["locked", null],
    ["x.locked", null],
    ["ahead", null],
    ["HEAD", "HEAD"],
    ["head", "HEAD"],
    ["x.lock", ".lock"],
    ["x.LOCK", ".lock"],
    ["a..b", ".."],
    ["a.", "end in `.`"],
    ["-a", "letters, digits"],
    [".a", "letters, digits"],
    ["a@{1}", "letters, digits"],
  ])("%j as a part of a branch's name: %s", (id, fault) => {
    if (fault === null) expect(storyIdFault(id)).toBeNull();
    else expect(storyIdFault(id)).toContain(fault);
  });
});
