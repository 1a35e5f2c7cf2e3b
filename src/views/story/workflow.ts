import type { GateName } from "../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { Recorded } from "../../core/events/event.ts";
import { type RunState, infrastructureIssue } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { instant } from "../../stdx/canonical-json.ts";
import { byText, entries, lookup } from "../../stdx/sorted-map.ts";
import { sourceStatus, statusOf } from "./story-status.ts";
import { limitOf } from "./trail.ts";

/** Which reviewer has been reviewing which task, and since when (S2.13, S2.30). */
type ActiveReviewers = Readonly<Record<string, { readonly task_id: StoryId; readonly dispatched_at: string }>>;

/** The state that S0 and S2 save, under their names; computed from the journal alone. */
export interface WorkflowState {
  readonly available_tasks: readonly StoryId[];
  readonly blocked_tasks: Readonly<Record<StoryId, readonly StoryId[]>>;
  readonly in_progress_tasks: Readonly<Record<StoryId, { readonly status: string }>>;
  readonly pending_critique: readonly StoryId[];
  readonly pending_audit: readonly StoryId[];
  readonly active_developers: ActiveReviewers;
  readonly active_critics: ActiveReviewers;
  readonly active_auditors: ActiveReviewers;
  readonly critique_failures: Readonly<Record<StoryId, number>>;
  readonly audit_failures: Readonly<Record<StoryId, number>>;
  readonly completed_tasks: readonly StoryId[];
  readonly infrastructure_blocked: boolean;
  readonly infrastructure_issue: string | null;
}

export function workflowState(run: RunState): WorkflowState {
  const all = [...entries(run.stories)].map(([, state]) => state);
  const open = all.filter(({ ending }) => ending === null);
  const started = open.filter(({ policy }) => policy !== null);
  const queued = open.filter(({ policy, story }) => policy === null && story.shelf !== "backlog");
  const unmet = ({ story }: StoryState): StoryId[] =>
    story.dependsOn.filter((id) => lookup(run.stories, id, byText)?.ending?.how !== "accepted");
  const ids = (states: readonly StoryState[]): StoryId[] => states.map(({ story }) => story.id);
  return {
    available_tasks: ids(queued.filter((state) => unmet(state).length === 0)),
    blocked_tasks: byId(
      queued.filter((state) => unmet(state).length > 0),
      unmet,
    ),
    in_progress_tasks: byId(started.filter(isActive), (state) => ({ status: sourceStatus(statusOf(run, state)) })),
    pending_critique: ids(started.filter((state) => awaits(state, "critic"))),
    pending_audit: ids(started.filter((state) => awaits(state, "auditor"))),
    active_developers: active(started, ({ running }) => (running?.type === "attempt" ? running.role : null)),
    active_critics: active(started, (state) => reviewerAt(state, "critic")),
    active_auditors: active(started, (state) => reviewerAt(state, "auditor")),
    critique_failures: failuresOf(all, "critic"),
    audit_failures: failuresOf(all, "auditor"),
    completed_tasks: ids(all.filter(({ ending }) => ending?.how === "accepted")),
    infrastructure_blocked: run.remediation !== null,
    infrastructure_issue: run.remediation?.issue ?? null,
  };
}

/** Whether a task is active: a task at its limit is not, until a person answers (S0.33). */
const isActive = ({ escalation }: StoryState): boolean =>
  escalation?.reason.type !== "budget" || !escalation.reason.budget.startsWith("failures:");

function byId<T>(states: readonly StoryState[], value: (state: StoryState) => T): Record<StoryId, T> {
  return Object.fromEntries(states.map((state) => [state.story.id, value(state)]));
}

type Reviewer = "critic" | "auditor";

const isBy = (gate: GateName, reviewer: Reviewer): boolean => GATE_REGISTRY[gate].reviewer === reviewer;

function reviewerAt({ running }: StoryState, reviewer: Reviewer): string | null {
  return running?.type === "gate" && isBy(running.gate, reviewer) ? reviewer : null;
}

/** Whether the work is ready, and this reviewer's gate is running, or is the next one that has not passed. */
function awaits(state: StoryState, reviewer: Reviewer): boolean {
  if (state.running?.type === "gate") return isBy(state.running.gate, reviewer);
  if (!state.productReady || state.failing !== null || state.running !== null) return false;
  const plan = state.policy?.phases.find(({ phase }) => phase === state.phase);
  const next = plan?.gates.find((gate) => state.gates[gate]?.fresh !== true);
  return next !== undefined && isBy(next, reviewer);
}

/** Active reviews by an id of their own, as in the sources: the reviewer and the task. */
function active(states: readonly StoryState[], who: (state: StoryState) => string | null): ActiveReviewers {
  return Object.fromEntries(
    states.flatMap((state) => {
      const name = who(state);
      const since = state.running?.since;
      if (name === null || since === undefined) return [];
      return [[`${name}-${state.story.id}`, { task_id: state.story.id, dispatched_at: instant(since) }]];
    }),
  );
}

function failuresOf(states: readonly StoryState[], reviewer: Reviewer): Record<StoryId, number> {
  const counts = states.map(({ story, gates }) => {
    const own = Object.entries(gates).filter(([gate]) => isBy(gate as GateName, reviewer));
    return [story.id, own.reduce((sum, [, gate]) => sum + gate.failuresEver, 0)] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** One entry of the log that S0 and S2 write, under their names. */
export interface WorkflowEvent {
  readonly event: string;
  /** Milliseconds since 1970, UTC. */
  readonly at: number;
  readonly taskId: StoryId | null;
  /** Other fields that the documents log. */
  readonly more: Readonly<Record<string, string | number>>;
}

/** The journal as the log of S0 and S2, without events that those documents do not name. */
export function workflowEvents(lines: readonly Recorded[]): readonly WorkflowEvent[] {
  const failures = new Map<string, number>();
  // A deferred question is raised again, but is logged once.
  const raised = new Set<string>();
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
        const reason = raised.has(event.escalation.id) ? null : limitOf(event);
        raised.add(event.escalation.id);
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

/** The names of limits in S2's log. S0, and its list of failed tasks, call it `review_failure_limit`. */
const LIMITS: Readonly<Record<string, string>> = { review_failure_limit: "critique_failure_limit" };

/** The reviewers' names, and how results are logged. An audit that passes is logged as the task's completion. */
const NAMES: { readonly [G in GateName]?: { reviewer: string; pass?: string; fail?: string } } = {
  review: { reviewer: "critic", pass: "critic_pass", fail: "critic_fail" },
  audit: { reviewer: "auditor" },
};
