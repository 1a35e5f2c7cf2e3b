import { expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { workflowState } from "../../../src/views/story/workflow.ts";
import { decide } from "../../../src/decide/decide.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { recordedEvent, story } from "../../kit/story-world.ts";
import { begin, commandsOf, performCommand, runScript, world } from "../../seeds/scripted-run.ts";

const stories = [story("a"), { ...story("b"), dependsOn: [storyId("a")] }] as const;

// S0.33, S2.13, S2.30
test("the state under S2's names: who is active since when, what is pending, what is blocked", () => {
  const start = begin(presetPolicy("critic-audit"), ...stories);
  expect(workflowState(start)).toMatchObject({
    available_tasks: ["a"],
    blocked_tasks: { b: ["a"] },
    in_progress_tasks: {},
    infrastructure_blocked: false,
    infrastructure_issue: null,
  });
  const failed = runScript(start, world({ gates: { review: ["fail", "fail", "fail"] }, story: "a" })).run;
  expect(workflowState(failed)).toMatchObject({
    in_progress_tasks: {},
    critique_failures: { a: 3 },
    audit_failures: {},
  });
  // The critic's gate is left running.
  const tree = commandsOf(runScript(start, world({ story: "a" })), "start-gate")[0]!.tree;
  const until = (gate: "review" | "audit") => {
    let run = start;
    for (;;) {
      const command = decide(run, run.policy!, 0)[0]!;
      if (command.type === "start-gate" && command.gate === gate)
        return evolve(run, recordedEvent(1000, command.story, { type: "gate.started", gate, tree, stages: [] }));
      run = performCommand(run, command);
    }
  };
  expect(workflowState(until("review"))).toMatchObject({
    active_critics: { "critic-a": { task_id: "a", dispatched_at: "1970-01-01T00:00:01Z" } },
    active_auditors: {},
    pending_critique: ["a"],
    pending_audit: [],
    in_progress_tasks: { a: { status: "awaiting-review" } },
  });
  expect(workflowState(until("audit"))).toMatchObject({
    active_auditors: { "auditor-a": { task_id: "a" } },
    pending_audit: ["a"],
    in_progress_tasks: { a: { status: "awaiting-audit" } },
  });
  const over = runScript(start).run;
  expect(workflowState(over)).toMatchObject({ completed_tasks: ["a", "b"], blocked_tasks: {}, pending_audit: [] });
});
