import { byText, lookup } from "../../stdx/sorted-map.ts";
import { type GateName, isReviewed } from "../../core/gates/gate.ts";
import { endedAs, type RunOutline, type StoryOutline } from "../../core/stories/run-state.ts";
import type { Actor, Status } from "../../core/stories/story.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { deferredText } from "../text/words.ts";

/** The state of a story, and who must act before it continues. */
export interface StoryStatus {
  readonly status: Status;
  readonly phase: StoryState["phase"] | null;
  readonly gate: GateName | null;
  readonly actor: Actor;
  /** What the story waits for, in a few words. */
  readonly why: string;
}

export function statusOf(run: RunOutline, state: StoryOutline): StoryStatus {
  const { ending, running, escalation } = state;
  const at = (status: Status, actor: Actor, why: string, gate: GateName | null = null): StoryStatus => ({
    status,
    phase: state.policy === null ? null : state.phase,
    gate,
    actor,
    why,
  });
  if (ending !== null)
    return ending.how === "accepted"
      ? at(
          "accepted",
          "none",
          ending.forced === null
            ? ["all gates passed", ...(ending.notes ?? [])].join("; ")
            : `by ${ending.forced.by}: ${ending.forced.reason}`,
        )
      : at(endedAs(ending), "none", ending.reason);
  if (escalation !== null && state.deferred !== undefined)
    return at("escalated", "person", deferredText(state.deferred), escalation.gate);
  if (escalation !== null) return at("escalated", "person", escalation.question, escalation.gate);
  if (running !== null && run.engine === "gone")
    return at("waiting", "person", "the engine is gone: remand run continues it");
  if (running?.type === "gate") return at("in-gate", "gate", `the ${running.gate} gate runs`, running.gate);
  if (running?.type === "attempt") return at("working", "agent", `${running.role} works`);
  if (running?.type === "step") return at("working", "engine", running.step);
  return waiting(run, state, at);
}

/** The names that S0.7 uses for four of these states. */
export function sourceStatus(status: StoryStatus): string {
  if (status.status === "escalated") return "awaiting-guidance";
  if (status.actor === "infrastructure" || status.actor === "story") return "blocked";
  if (status.gate !== null && isReviewed(status.gate)) return `awaiting-${status.gate}`;
  return status.phase === "implement" && status.status === "working" ? "implementing" : status.status;
}

function waiting(
  run: RunOutline,
  state: StoryOutline,
  at: (status: Status, actor: Actor, why: string, gate?: GateName | null) => StoryStatus,
): StoryStatus {
  if (state.held) return at("waiting", "person", "paused: resume it");
  if (state.policy === null && state.story.shelf === "backlog") return at("backlog", "person", "make it ready");
  const unmet = state.policy === null ? state.story.dependsOn.filter((id) => !isAccepted(run, id)) : [];
  if (unmet.length > 0) return at("waiting", "story", unmet.map((id) => blockedOn(run, id)).join(", "));
  if (state.wait?.type === "story" && state.wait.story !== null && !isAccepted(run, state.wait.story))
    return at("waiting", "story", blockedOn(run, state.wait.story));
  if (run.remediation !== null) return at("waiting", "infrastructure", run.remediation.issue);
  if (run.halted !== null || run.escalation !== null)
    return at("waiting", "person", run.escalation?.question ?? `halted by ${run.halted?.by}`);
  if (run.engine !== undefined)
    return state.policy === null
      ? at("ready", "person", "no engine runs: remand run starts it")
      : at("waiting", "person", "no engine runs: remand run continues it");
  if (state.wait?.type === "time") return at("waiting", "time", state.wait.why);
  return at(state.policy === null ? "ready" : "waiting", "engine", "queued");
}

function isAccepted(run: RunOutline, id: StoryState["story"]["id"]): boolean {
  return lookup(run.stories, id, byText)?.ending?.how === "accepted";
}

/** Describes the state of the story that a blocked one waits for. */
function blockedOn(run: RunOutline, id: StoryState["story"]["id"]): string {
  const other = lookup(run.stories, id, byText);
  if (other === undefined) return `${id} (unknown)`;
  if (other.ending !== null) return `${id} (${other.ending.how})`;
  return other.escalation === null ? id : `${id} (needs you)`;
}
