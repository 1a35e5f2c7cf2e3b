import type { Blame } from "../core/blame/blame.ts";
import { spend } from "../core/stories/budget.ts";
import type { Cost } from "../core/events/event.ts";
import { isPaidJudgement } from "../core/events/event-cost.ts";
import type { GateName, Judgement } from "../core/gates/gate.ts";
import type { RoleName } from "../core/events/ids.ts";
import { type Result, isConclusive } from "../core/events/error.ts";
import type { GateState, Round, StoryState } from "../core/stories/story-state.ts";
import { chargeFailure, gateState, refundFailure, withGate } from "../decide/charge.ts";
import { backoffMs, withLastAttempt } from "./fold-attempt.ts";
import { isOpen, unwaivedFindings } from "../decide/gate-status.ts";
import { blamedLocations, recordReworkOutcome, recordBlame } from "../decide/locations.ts";
import { withTestsSeen } from "../decide/contested.ts";
import { withVerdict } from "../decide/tried-findings.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";

export function gateJudged(state: StoryState, reported: Judgement, base: string, at: number): StoryState {
  const { gate } = reported;
  const judgement = withoutWaived(state, reported);
  const before = gateState(state, gate);
  const idle: StoryState = {
    ...state,
    running: null,
    wait: null,
    spent: spend(state.spent, judgement, isPaidJudgement(judgement)),
    counters: { ...state.counters, approvedRetry: false, stepFailures: 0 },
    asked: addCounts(state.asked, judgement.asked ?? {}),
    sessions: { ...state.sessions, ...judgement.sessions },
  };
  const proven = provenResult(state, judgement);
  // An inconclusive run does not replace the last verdict: the reviewer needs it for the re-review.
  const noted = withGate(idle, gate, {
    ...(isConclusive(proven)
      ? { last: judgement, fresh: true, trouble: null, flaky: [] }
      : { fresh: false, trouble: judgement.summary }),
    seen: [...new Set([...before.seen, ...judgement.findings.map((finding) => finding.id)])],
    base,
  });
  switch (proven) {
    case "pass":
      return recordReworkOutcome(
        withGate(withTestsSeen(withVerdict(noted, judgement), judgement), gate, {
          errors: 0,
          inconclusives: 0,
          ciRetries: 0,
          lastPass: judgement.tree,
        }),
        gate,
        "pass",
      );
    case "fail":
      // A waived finding that occurs in another tree is waived there too, so this is no failure. A merge conflict is
      // one nevertheless: the work could not be merged.
      if (!GATE_REGISTRY[gate].judgesWithTarget && isOpen(noted, gate, base))
        return recordReworkOutcome(withGate(noted, gate, { errors: 0, inconclusives: 0, ciRetries: 0 }), gate, "pass");
      return foldFailure(noted, judgement, before, at);
    case "error": {
      const errors = before.errors + 1;
      // No wait if a person is asked next: it would announce a retry that does not happen.
      if (state.policy !== null && errors >= state.policy.limits.errors) return withGate(noted, gate, { errors });
      const until = Math.max(at + backoffMs(state, errors), judgement.retryAt ?? 0);
      const wait = { type: "time", until, why: `the ${gate} gate broke` } as const;
      return { ...withGate(noted, gate, { errors }), wait };
    }
    case "inconclusive":
      return withGate(noted, gate, {
        inconclusives: before.inconclusives + 1,
        flaky: [...new Set([...before.flaky, ...flakyTests(judgement)])],
      });
    case "blocked": {
      const counters = { ...noted.counters, blocked: noted.counters.blocked + 1 };
      return { ...noted, counters };
    }
  }
}

/** Removes waived findings from the blocking ones. If all are waived, they stay listed, to show what was waived. */
function withoutWaived(state: StoryState, judgement: Judgement): Judgement {
  const blocking = unwaivedFindings(state, judgement.gate, judgement.blocking);
  return blocking.length === 0 || blocking.length === judgement.blocking.length
    ? judgement
    : { ...judgement, blocking };
}

/** Adds counts of how often each role was asked. */
export function addCounts(before: StoryState["asked"], more: StoryState["asked"]): StoryState["asked"] {
  const roles = Object.keys(more) as RoleName[];
  return { ...before, ...Object.fromEntries(roles.map((role) => [role, (before[role] ?? 0) + (more[role] ?? 0)])) };
}

/**
 * Returns the result that a judgement proves. A judgement of another tree proves nothing about this one, and a run with
 * two different results on one tree proves nothing at all.
 */
function provenResult(state: StoryState, { tree, result, ciClass }: Judgement): Result {
  if (tree !== state.tree) return "inconclusive";
  return ciClass === "flaky" && isConclusive(result) ? "inconclusive" : result;
}

/** Names what gave two different results on this tree. */
function flakyTests({ flaky, ciClass, runs }: Judgement): readonly string[] {
  if (flaky !== undefined && flaky.length > 0) return flaky;
  if (ciClass !== "flaky") return [];
  return runs === undefined || runs.length === 0 ? ["the CI run"] : runs.map((run) => run.check);
}

function foldFailure(state: StoryState, judgement: Judgement, earlier: GateState, at: number): StoryState {
  const { gate } = judgement;
  if (GATE_REGISTRY[gate].classifiesRuns && judgement.ciClass === "infrastructure") return retryRun(state, gate, at);
  const before = gateState(state, gate);
  const round: Round = {
    attempt: state.attempts.length,
    tree: judgement.tree,
    commit: state.commit,
    failure: judgement.failure ?? null,
    blocking: judgement.blocking.length,
    findings: judgement.blocking,
    ...(judgement.identities === undefined ? {} : { identities: judgement.identities }),
    ...(earlier.last?.result === "pass" && earlier.rounds.some(({ identities }) => identities !== undefined)
      ? { afterPass: true }
      : {}),
  };
  const rejected = withVerdict(withLastAttempt(state, { failed: judgement.summary }), judgement);
  const next = withGate(rejected, gate, {
    errors: 0,
    inconclusives: 0,
    rounds: [...before.rounds, round],
  });
  const known = recordReworkOutcome(chargeFailure(next, judgement), gate, "fail");
  return { ...known, failing: { gate, blame: null, approved: false, restored: false } };
}

/**
 * Handles a failure of the CI service: the work is not at fault, and the run is repeated later, within its own limit.
 */
function retryRun(state: StoryState, gate: GateName, at: number): StoryState {
  const ciRetries = gateState(state, gate).ciRetries + 1;
  const wait = { type: "time", until: at + backoffMs(state, ciRetries), why: "the CI service failed" } as const;
  return { ...withGate(state, gate, { ciRetries, fresh: false }), wait };
}

export function blameFound(state: StoryState, gate: GateName, blame: Blame, cost: Cost): StoryState {
  const next: StoryState = { ...state, running: null, spent: spend(state.spent, cost, false) };
  const judgement = gateState(next, gate).last;
  if (next.failing === null || judgement === null) return next;
  const failing = { ...next.failing, blame };
  switch (blame.verdict) {
    case "environment": {
      // Not a failure of the work: the charge is reversed, and the gate runs again when the infrastructure is repaired.
      const back = withGate(refundFailure(next, judgement), gate, {
        fresh: false,
        rounds: gateState(next, gate).rounds.slice(0, -1),
      });
      return { ...back, failing: null, counters: { ...back.counters, blocked: back.counters.blocked + 1 } };
    }
    case "flaky":
    case "pre-existing":
      return { ...refundFailure(next, judgement), failing };
    case "culprit":
    case "multi":
      return { ...recordBlame(next, blamedLocations(blame)), failing };
    case "unmet":
    case "too-broad":
    case "unknown":
      return { ...next, failing };
  }
}
