import { describe, expect, it } from "vitest";
import type { ReworkRecord, ReworkTrigger } from "../../src/core/stories/rework-log.ts";
import { reworkLogSchema } from "../../src/core/schemas/report.ts";
import { writeReworkLog } from "../../src/write/reports/rework-log.ts";
import { finding } from "../kit/sample-brief.ts";

/** The log that S1 shows, key for key. */
const S1_LOG = {
  slice_id: "auth-registration",
  rework_entries: [
    {
      gate: "review",
      attempt: 1,
      timestamp: "2026-02-22T14:30:00Z",
      trigger: {
        stage: "code_quality",
        findings: [
          {
            severity: "CRITICAL",
            file: "src/auth/handler.ext",
            line: 42,
            description: "Unchecked error return from database call",
          },
        ],
      },
      action_taken: "Routed to TDD pair with findings list",
      outcome: "Fixed -- added error handling, re-review passed",
    },
    {
      gate: "mutation",
      attempt: 1,
      timestamp: "2026-02-22T15:10:00Z",
      trigger: {
        survivors: [
          {
            file: "src/auth/handler.ext",
            line: 55,
            mutation: "replaced > with >=",
            recommended_test: "Test exact boundary for max login attempts",
          },
        ],
        score: "95%",
      },
      action_taken: "Routed to TDD pair with survivor list",
      outcome: "Fixed -- added boundary test, mutation score now 100%",
    },
  ],
};

describe("S1 rework-log.json", () => {
  // S1.43, S1.45
  it("is written in S1's schema, keys in S1's order", () => {
    const records: ReworkRecord[] = [
      {
        gate: "review",
        attempt: 1,
        at: Date.UTC(2026, 1, 22, 14, 30),
        trigger: { type: "findings", stage: "code_quality", findings: [finding({ file: "src/auth/handler.ext" })] },
        actionTaken: "Routed to TDD pair with findings list",
        outcome: "Fixed -- added error handling, re-review passed",
      },
      {
        gate: "mutation",
        attempt: 1,
        at: Date.UTC(2026, 1, 22, 15, 10),
        trigger: {
          type: "survivors",
          score: "95%",
          survivors: [
            {
              file: "src/auth/handler.ext",
              line: 55,
              mutation: "replaced > with >=",
              description: "not part of S1's log",
              recommendedTest: "Test exact boundary for max login attempts",
            },
          ],
        },
        actionTaken: "Routed to TDD pair with survivor list",
        outcome: "Fixed -- added boundary test, mutation score now 100%",
      },
    ];
    expect(writeReworkLog("auth-registration", records)).toBe(`${JSON.stringify(S1_LOG, null, 2)}\n`);
  });

  // S1.44
  it("is read back by the schema, and so is S1's own example", () => {
    expect(reworkLogSchema.parse(S1_LOG)).toEqual(S1_LOG);
  });

  it.each<[string, (log: typeof S1_LOG) => void]>([
    [
      "another scale of severity",
      (log) => Object.assign(log.rework_entries[0]!.trigger.findings![0]!, { severity: "HIGH" }),
    ],
    ["a time without a zone", (log) => Object.assign(log.rework_entries[0]!, { timestamp: "2026-02-22T14:30:00" })],
    ["a key that S1 does not have", (log) => Object.assign(log.rework_entries[0]!, { extra: 1 })],
    ["a gate that is none", (log) => Object.assign(log.rework_entries[0]!, { gate: "vibes" })],
  ])("refuses %s", (_what, spoil) => {
    const log = structuredClone(S1_LOG);
    spoil(log);
    expect(reworkLogSchema.safeParse(log).success).toBe(false);
  });

  it.each<[ReworkTrigger, object]>([
    [
      { type: "tdd", phase: "red", output: "1 failing", concerns: ["names"] },
      { phase: "RED", output: "1 failing", concerns: ["names"] },
    ],
    [
      { type: "tdd", phase: null, output: "", concerns: [] },
      { phase: null, output: "", concerns: [] },
    ],
    [
      { type: "ci", classification: "lint", step: "eslint", output: "x" },
      { classification: "lint", step: "eslint", output: "x" },
    ],
    [
      { type: "checks", failures: [{ check: "test", environment: "node20", details: "1 failing" }] },
      { failures: [{ check: "test", environment: "node20", details: "1 failing" }] },
    ],
    [
      {
        type: "criteria",
        failed: [{ criterion: "AC-1", reason: "no" }],
        findings: [{ id: finding().id, severity: "info", category: "c", message: "whole work", source: "auditor" }],
      },
      {
        failed_criteria: [{ criterion: "AC-1", reason: "no" }],
        findings: [{ severity: "SUGGESTION", file: null, line: null, description: "whole work" }],
      },
    ],
    [{ type: "reasons", reasons: ["conflict in a.ts"] }, { reasons: ["conflict in a.ts"] }],
  ])("has a trigger for every other gate: %j", (trigger, written) => {
    const text = writeReworkLog("s", [{ gate: "tdd", attempt: 2, at: 1500, trigger, actionTaken: "a", outcome: "o" }]);
    const log = reworkLogSchema.parse(JSON.parse(text));
    expect(log.rework_entries[0]!.trigger).toEqual(written);
    expect(log.rework_entries[0]!.timestamp).toBe("1970-01-01T00:00:01Z");
  });
});
