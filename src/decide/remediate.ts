import type { ProjectCommand } from "../core/stories/command.ts";
import type { Recorded } from "../core/events/event.ts";
import { type Remediation, type RunState, infrastructureIssue } from "../core/stories/run-state.ts";
import { escalateRun } from "./escalate.ts";

/**
 * Returns the next step of a repair. Broken infrastructure stops new work of every story, because work dispatched now
 * would fail through no fault of its own. A remediation agent repairs, and an independent health check decides whether
 * that worked; together they are one try. The stages: `waiting` → `repairing` → `repaired` → checked, which ends in
 * healthy or `waiting`. After the last try a person is asked.
 */
export function remediate(run: RunState): ProjectCommand | null {
  const { remediation } = run;
  if (remediation === null || run.escalation !== null) return null;
  const limit = run.policy?.limits.remediations ?? 1;
  switch (remediation.stage) {
    case "waiting":
      if (remediation.tries >= limit) {
        const reason = { type: "infrastructure", issue: remediation.issue, tries: remediation.tries } as const;
        return { story: null, type: "raise-escalation", escalation: escalateRun(run, reason) };
      }
      return {
        story: null,
        type: "start-remediation",
        attempt: remediation.tries + 1,
        issue: remediation.issue,
        guidance: remediation.guidance,
      };
    case "repaired":
      return { story: null, type: "check-health", attempt: remediation.tries };
    case "repairing":
      return null;
  }
}

/** Begins a remediation if an event reports broken infrastructure: nothing new starts until it is repaired. */
export function blockedBy({ remediation }: RunState, { event, at }: Recorded): RunState["remediation"] {
  const issue = infrastructureIssue(event);
  return issue === null || remediation !== null ? remediation : newRemediation(issue, at);
}

export function newRemediation(issue: string, since: number): Remediation {
  return { issue, since, tries: 0, stage: "waiting", guidance: [], history: [] };
}
