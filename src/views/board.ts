import { plural } from "../domain/counted.ts";
import type { GateName } from "../domain/gate.ts";
import type { EscalationId, StoryId } from "../domain/ids.ts";
import type { Phase } from "../domain/phase.ts";
import type { RunOutline, StoryOutline } from "../domain/outline.ts";
import type { Actor, Status } from "../domain/story.ts";
import { gateStrip, type GateMark } from "./gate-strip.ts";
import { storiesOf } from "./run-summary.ts";
import { statusOf } from "./story-status.ts";

/** One story on the board: where it is, who must act, what was spent of what. */
export interface BoardRow {
  readonly id: StoryId;
  readonly title: string;
  readonly status: Status;
  readonly actor: Actor;
  readonly why: string;
  readonly phase: Phase | null;
  readonly gate: GateName | null;
  /** The number of the newest attempt, as `show`, `log` and `--attempt` have it. */
  readonly attempt: number;
  /** Attempts that count (one that was interrupted, or gave nothing to judge, does not), and how many may be made. */
  readonly attempts: number;
  readonly attemptLimit: number | null;
  readonly gates: readonly GateMark[];
  readonly costUsd: number;
  readonly costUnknown: boolean;
  readonly costLimitUsd: number | null;
  readonly timeMs: number;
  readonly escalation: EscalationId | null;
  /** When whatever runs for it began. */
  readonly since: number | null;
}

export function boardRows(run: RunOutline, asked: readonly StoryId[] | null): BoardRow[] {
  return storiesOf(run, asked).map((state) => rowOf(run, state));
}

export function rowOf(run: RunOutline, state: StoryOutline): BoardRow {
  const { status, actor, why, phase, gate } = statusOf(run, state);
  return {
    id: state.story.id,
    title: state.story.title,
    status,
    actor,
    why,
    phase,
    gate,
    attempt: state.attempts.length,
    attempts: state.counters.attempts,
    attemptLimit: state.raised.iterations ?? state.policy?.limits.iterations ?? null,
    gates: gateStrip(state),
    costUsd: state.spent.costUsd,
    costUnknown: state.spent.costUnknown,
    costLimitUsd: state.raised.cost ?? state.policy?.limits.story.costUsd ?? null,
    timeMs: state.spent.timeMs,
    escalation: state.escalation?.id ?? null,
    since: state.running?.since ?? null,
  };
}

/** `attempt 2/15`; where some do not count, `attempt 4 (2/15 count)`. Empty before the first. */
export function attemptText({
  attempt,
  attempts,
  attemptLimit,
}: Pick<BoardRow, "attempt" | "attempts" | "attemptLimit">): string {
  if (attempt === 0) return "";
  if (attempt !== attempts)
    return `attempt ${attempt} (${attemptLimit === null ? attempts : `${attempts}/${attemptLimit}`} ${plural(attempts, "counts", "count")})`;
  return attemptLimit === null ? `attempt ${attempt}` : `attempt ${attempt}/${attemptLimit}`;
}
