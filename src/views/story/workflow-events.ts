import type { Recorded } from "../../core/events/event.ts";
import type { GateName } from "../../core/gates/gate.ts";
import type { StoryId } from "../../core/events/ids.ts";
import { infrastructureIssue } from "../../core/stories/run-state.ts";
import { limitOf } from "./trail.ts";

/** One entry of the log that S0 and S2 write, in their names. */
export interface WorkflowEvent {
  readonly event: string;
  /** Milliseconds since 1970, UTC. */
  readonly at: number;
  readonly taskId: StoryId | null;
  /** What else the documents log with it. */
  readonly more: Readonly<Record<string, string | number>>;
}

/** The journal as the log of S0 and S2. What those documents do not name is left out. */
export function workflowEvents(lines: readonly Recorded[]): readonly WorkflowEvent[] {
  const failures = new Map<string, number>();
  let isBlocked = false;
  return lines.flatMap(({ event, story, at }) => {
    if (event.type === "health.checked" && event.healthy) isBlocked = false;
    const issue = isBlocked ? null : infrastructureIssue(event);
    if (issue !== null) {
      isBlocked = true;
      return [{ event: "infrastructure_blocked", at, taskId: story, more: { issue } }];
    }
    const entry = (name: string, more: WorkflowEvent["more"] = {}): readonly WorkflowEvent[] => [
      { event: name, at, taskId: story, more },
    ];
    switch (event.type) {
      case "gate.started":
        return NAMES[event.gate] === undefined ? [] : entry(`${NAMES[event.gate]!.reviewer}_dispatched`);
      case "gate.judged": {
        const { gate, result } = event.judgement;
        const { pass, fail } = NAMES[gate] ?? {};
        if (result !== "fail") return result === "pass" && pass !== undefined ? entry(pass) : [];
        const count = (failures.get(`${story} ${gate}`) ?? 0) + 1;
        failures.set(`${story} ${gate}`, count);
        return fail === undefined ? [] : entry(fail, { failures: count });
      }
      case "work.sent-back": {
        const { gate } = event;
        const known = gate === "person" ? undefined : NAMES[gate];
        const attempt = gate === "person" ? {} : { attempt: failures.get(`${story} ${gate}`) ?? 0 };
        return entry("developer_rework_dispatched", { reason: known?.fail ?? `${gate}_failed`, ...attempt });
      }
      case "escalation.raised": {
        const reason = limitOf(event);
        return reason === null ? [] : entry("workflow_failed", { reason: LIMITS[reason] ?? reason });
      }
      case "story.failed":
        return entry("workflow_failed", { reason: event.reason });
      case "story.accepted":
        return entry("task_complete");
      default:
        return [];
    }
  });
}

/** What S2 calls a limit in its log. S0 calls it `review_failure_limit`, and so does its list of failed tasks. */
const LIMITS: Readonly<Record<string, string>> = { review_failure_limit: "critique_failure_limit" };

/** Their names: who reviews, and what is logged of a result. An audit that passes is logged as the task's completion. */
const NAMES: { readonly [G in GateName]?: { reviewer: string; pass?: string; fail?: string } } = {
  review: { reviewer: "critic", pass: "critic_pass", fail: "critic_fail" },
  audit: { reviewer: "auditor" },
};
