import { describe, expect, it } from "vitest";
import { escalationId } from "../../../src/core/events/ids.ts";
import { writeEscalationRecord, writeFailedTasks } from "../../../src/write/reports/rework-log.ts";

describe("the records of the trail", () => {
  it("list failed tasks in S0's keys", () => {
    const text = writeFailedTasks([
      { taskId: "t-1", reason: "review_failure_limit", reviewAttempts: 3, auditAttempts: 1 },
    ]);
    expect(JSON.parse(text)).toEqual([
      { task_id: "t-1", reason: "review_failure_limit", review_attempts: 3, audit_attempts: 1 },
    ]);
    expect(text.endsWith("]\n")).toBe(true);
  });

  it("keep an escalation in S1's keys", () => {
    const text = writeEscalationRecord(
      {
        id: escalationId("esc-1"),
        kind: "decision",
        reason: { type: "budget", budget: "failures:tdd", used: 3, limit: 3 },
        gate: "tdd",
        title: "t",
        assessment: "a",
        recommendation: "r",
        question: "q",
        options: [{ verb: "resolve", does: "d", cost: "c" }],
        attempts: [
          {
            attempt: 1,
            tried: "x",
            failed: "y",
            findings: [{ id: "f1", gate: "tdd", title: "no test", file: "a.ts", status: "unchecked", seenIn: 1 }],
            findingsLeftOut: 2,
          },
        ],
        branch: "remand/s",
        commit: "abc",
      },
      "s",
      Date.UTC(2026, 1, 22, 14, 30),
      {
        title: "Register",
        definition: "People register.",
        criteria: ["an address is unique"],
        outputs: [{ attempt: 1, gate: "tdd", result: "fail", summary: "y", output: ["a.ts: no"], evidence: ["e1"] }],
      },
    );
    expect(JSON.parse(text)).toEqual({
      slice_id: "s",
      escalation_id: "esc-1",
      status: "pending",
      answers: [],
      timestamp: "2026-02-22T14:30:00Z",
      slice: {
        description: "Register",
        definition: "People register.",
        acceptance_criteria: ["an address is unique"],
      },
      gate: "tdd",
      kind: "decision",
      reason: "the tdd gate failed 3 times (3 of 3)",
      attempts: [
        {
          attempt: 1,
          action: "x",
          result: "y",
          why_it_failed: "a.ts: no test",
          findings: [
            {
              id: "f1",
              gate: "tdd",
              title: "no test",
              file: "a.ts",
              line: null,
              status: "unchecked",
              seen_in_attempt: 1,
            },
          ],
          findings_left_out: 2,
          outputs: [{ gate: "tdd", result: "fail", summary: "y", output: ["a.ts: no"], evidence: ["e1"] }],
        },
      ],
      current_state: { branch: "remand/s", last_commit: "abc" },
      root_cause: "a",
      recommendation: "r",
      question: "q",
      options: [{ verb: "resolve", does: "d", cost: "c" }],
    });
  });
});
