import { expect, test } from "vitest";
import type { Event, Recorded } from "../../../src/core/events/event.ts";
import { evidenceId, roleName, treeId } from "../../../src/core/events/ids.ts";
import type { GateName } from "../../../src/core/gates/gate.ts";
import { workflowEvents } from "../../../src/views/story/workflow.ts";
import { escalation } from "../../kit/story-states.ts";
import { judgement, recordedEvent } from "../../kit/story-world.ts";

const back = (gate: GateName): Event => ({
  type: "work.sent-back",
  gate,
  variant: "review",
  failure: 1,
  failureLimit: 3,
  route: { phase: "implement", role: roleName("developer"), reason: "it failed" },
  scope: { allow: [], deny: [], tests: "open", exceptions: "never", reason: "" },
  brief: evidenceId("b"),
});
const starts = (gate: GateName): Event => ({ type: "gate.started", gate, tree: treeId("t"), stages: [] });
const judged = (gate: GateName, result: "pass" | "fail"): Event => ({
  type: "gate.judged",
  judgement: judgement(gate, "t", result),
});

// S0.6, S0.15, S0.23, S2.14, S2.37, S2.43
test("the journal reads as the log of S0 and S2", () => {
  const events: readonly Event[] = [
    starts("checks"),
    starts("review"),
    judged("review", "fail"),
    back("review"),
    judged("review", "fail"),
    back("review"),
    judged("review", "pass"),
    starts("audit"),
    judged("audit", "fail"),
    back("audit"),
    { type: "infrastructure.blocked", issue: "the disk is full" },
    { type: "story.accepted" },
    { type: "story.failed", how: "exhausted", reason: "too often" },
  ];
  const lines: readonly Recorded[] = events.map((event, at) => recordedEvent(at, "a", event));
  expect(workflowEvents(lines).map(({ event, taskId, more }) => [event, taskId, more])).toEqual([
    ["critic_dispatched", "a", {}],
    ["critic_fail", "a", { failures: 1 }],
    ["developer_rework_dispatched", "a", { reason: "critic_fail", attempt: 1 }],
    ["critic_fail", "a", { failures: 2 }],
    ["developer_rework_dispatched", "a", { reason: "critic_fail", attempt: 2 }],
    ["critic_pass", "a", {}],
    ["auditor_dispatched", "a", {}],
    ["developer_rework_dispatched", "a", { reason: "audit_failed", attempt: 1 }],
    ["infrastructure_blocked", "a", { issue: "the disk is full" }],
    ["task_complete", "a", {}],
    ["workflow_failed", "a", { reason: "too often" }],
  ]);
});

// S2.24, S2.39, S2.43
test("a limit has S2's name, and infrastructure is blocked once until a health check passes", () => {
  const health = (healthy: boolean): Event => ({
    type: "health.checked",
    healthy,
    remaining: healthy ? [] : ["port 5432 refuses"],
    durationMs: 0,
  });
  const blocked: Event = {
    type: "gate.judged",
    judgement: { ...judgement("audit", "t", "blocked"), summary: "audit: blocked; the database is down" },
  };
  const exhausted: Event = {
    type: "escalation.raised",
    escalation: escalation({ type: "budget", budget: "failures:review", used: 3, limit: 3 }, "review")!,
  };
  const lines = [blocked, blocked, health(false), health(true), blocked, judged("review", "fail"), exhausted].map(
    (event, at) => recordedEvent(at, event.type === "health.checked" ? null : "a", event),
  );
  const issue = "audit: blocked; the database is down";
  expect(workflowEvents(lines).map(({ event, more }) => [event, more])).toEqual([
    ["infrastructure_blocked", { issue }],
    ["infrastructure_blocked", { issue }],
    ["critic_fail", { failures: 1 }],
    ["workflow_failed", { reason: "critique_failure_limit" }],
  ]);
});
