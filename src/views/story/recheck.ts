import type { Recorded } from "../../core/events/event.ts";
import { type GateName, type Judgement, isReviewed, affectingPaths, isTestRework } from "../../core/gates/gate.ts";
import { PHASES, type Phase } from "../../core/stories/story.ts";
import type { Policy } from "../../core/events/policy.ts";
import { type Result, isConclusive } from "../../core/events/error.ts";
import { durationText, shortLine } from "../text/words.ts";
import { countText } from "../../stdx/plain-text.ts";

/** One change of judged work, and its effect on each gate. */
export interface Recheck {
  readonly at: number;
  readonly cause: "rework" | "lint fix" | "branch update" | "fix by hand";
  /** The number of the rework, from 1; 0 for the other causes. */
  readonly rework: number;
  readonly phase: Phase;
  readonly sentBackBy: GateName | "person" | null;
  readonly changed: readonly string[];
  readonly gates: readonly GateRecheck[];
  /** Phases that were done and start again, because they were based on this one. */
  readonly phasesAgain: readonly Phase[];
}

export interface GateRecheck {
  readonly gate: GateName;
  /** `due`: it must judge again, and has not yet. `ahead`: it has never judged this phase's work. */
  readonly what: "again" | "kept" | "due" | "first" | "ahead";
  readonly why: string;
  /** The paths that caused the gate to judge again. */
  readonly paths: readonly string[];
  readonly result: Result | null;
  /** How long judging took, or how much time keeping the judgement saved. */
  readonly durationMs: number;
}

/**
 * Lists which gates ran again after each change, and which kept their judgement, with reasons. A gate runs again only
 * if a change could alter what it saw, by the same rule as in the fold; what happened is read from the events.
 */
export function rechecks(lines: readonly Recorded[], policy: Policy | null): Recheck[] {
  if (policy === null) return [];
  let phase: Phase | null = null;
  const proven = new Map<GateName, GateProof>();
  const done = new Set<Phase>();
  let reworks = 0;
  let sentBackBy: Sender = null;
  return lines.flatMap(({ event, at }, index): Recheck[] => {
    switch (event.type) {
      case "attempt.started":
        // Judgements of one phase's work do not apply to another's.
        if (event.phase !== phase) proven.clear();
        phase = event.phase;
        return [];
      case "attempt.finished":
        if (event.outcome.type === "ready" && phase !== null) done.add(phase);
        outdate(policy, proven, event.changed, sentBackBy);
        return [];
      case "gate.judged":
        if (isConclusive(event.judgement.result))
          proven.set(event.judgement.gate, { judgement: event.judgement, isFresh: true });
        return [];
      case "work.sent-back": {
        const to = event.route.phase;
        sentBackBy = event.gate;
        const turn = turnOf(lines.slice(index + 1), to);
        const cause = { at, cause: "rework", rework: ++reworks, phase: to, sentBackBy: event.gate } as const;
        const before = to === phase ? new Map(proven) : null;
        const phasesAgain = PHASES.filter((each) => PHASES.indexOf(each) > PHASES.indexOf(to) && done.has(each));
        const gates = gatesAfter(policy, { ...cause, ...turn, before, from: phase });
        return [{ ...cause, changed: turn.changed, gates, phasesAgain }];
      }
      case "lint.fixed":
      case "work.adopted":
      case "branch.updated": {
        if (event.changed.length === 0) return [];
        const { judged } = turnOf(lines.slice(index + 1), phase ?? "implement");
        const name = CAUSES[event.type];
        const cause = { at, cause: name, rework: 0, phase: phase ?? "implement", sentBackBy: null } as const;
        const now = { ...cause, changed: event.changed, judged, before: new Map(proven), from: phase };
        outdate(policy, proven, event.changed, null);
        return [{ ...cause, changed: event.changed, gates: gatesAfter(policy, now), phasesAgain: [] }];
      }
      case "tree.restored":
        for (const [gate, { judgement }] of proven) proven.set(gate, { judgement, isFresh: false });
        return [];
      default:
        return [];
    }
  });
}

const CAUSES = {
  "lint.fixed": "lint fix",
  "work.adopted": "fix by hand",
  "branch.updated": "branch update",
} as const;

/** A gate's last judgement, and whether it still applies to the current tree. */
interface GateProof {
  readonly judgement: Judgement;
  readonly isFresh: boolean;
}

type Sender = GateName | "person" | null;

function outdate(
  policy: Policy,
  proven: Map<GateName, GateProof>,
  changed: readonly string[],
  sentBackBy: Sender,
): void {
  for (const [gate, { judgement }] of proven)
    if (outdatingPaths(policy, gate, changed, sentBackBy).length > 0) proven.set(gate, { judgement, isFresh: false });
}

/** The changed paths that made the gate run again. A rework of tests alone does not invalidate reviewers' passes. */
const outdatingPaths = (policy: Policy, gate: GateName, changed: readonly string[], by: Sender): readonly string[] =>
  isReviewed(gate) && isTestRework(policy, by, changed) ? [] : affectingPaths(policy, gate, changed);

interface ChangeRound {
  readonly changed: readonly string[];
  /** Each gate's last judgement in this round. */
  readonly judged: ReadonlyMap<GateName, Judgement>;
}

/** What the attempts of a rework changed, and the gates' judgements of it, up to the next change. */
function turnOf(later: readonly Recorded[], phase: Phase): ChangeRound {
  const lines = untilNext(later, phase);
  const changed = lines.flatMap(({ event }) => (event.type === "attempt.finished" ? event.changed : []));
  return { changed: [...new Set(changed)], judged: judgedIn(lines) };
}

/** The lines up to the next change of the work, or the next phase. */
function untilNext(later: readonly Recorded[], phase: Phase): readonly Recorded[] {
  const end = later.findIndex(
    ({ event }) =>
      event.type === "work.sent-back" ||
      event.type === "lint.fixed" ||
      event.type === "branch.updated" ||
      event.type === "work.adopted" ||
      (event.type === "attempt.started" && event.phase !== phase),
  );
  return end === -1 ? later : later.slice(0, end);
}

function judgedIn(lines: readonly Recorded[]): ReadonlyMap<GateName, Judgement> {
  return new Map(
    lines.flatMap(({ event }) => (event.type === "gate.judged" ? [[event.judgement.gate, event.judgement]] : [])),
  );
}

interface RecheckInput extends ChangeRound {
  readonly phase: Phase;
  readonly from: Phase | null;
  readonly sentBackBy: GateName | "person" | null;
  /** What was proven before the change; `null` where the work went back to another phase. */
  readonly before: ReadonlyMap<GateName, GateProof> | null;
}

function gatesAfter(policy: Policy, now: RecheckInput): GateRecheck[] {
  const gates = policy.phases.find((plan) => plan.phase === now.phase)?.gates ?? [];
  return gates.map((gate): GateRecheck => {
    const judgement = now.judged.get(gate) ?? null;
    const earlier = now.before?.get(gate) ?? null;
    const paths = outdatingPaths(policy, gate, now.changed, now.sentBackBy);
    const holds = earlier !== null && earlier.isFresh && earlier.judgement.result === "pass" && paths.length === 0;
    if (judgement === null && holds) {
      const { durationMs } = earlier.judgement;
      return { gate, what: "kept", why: keptBecause(now), paths, result: "pass", durationMs };
    }
    const isFirst = earlier === null && now.before !== null;
    const what = judgement === null ? (isFirst ? "ahead" : "due") : isFirst ? "first" : "again";
    const why = isFirst ? FIRST : againBecause(gate, now, earlier, paths);
    return { gate, what, why, paths, result: judgement?.result ?? null, durationMs: judgement?.durationMs ?? 0 };
  });
}

const FIRST = "it had not run on this phase's work before";

const keptBecause = ({ changed }: RecheckInput): string =>
  changed.length === 0 ? "nothing changed" : "no changed file affects it";

function againBecause(
  gate: GateName,
  { before, from, phase, sentBackBy, changed }: RecheckInput,
  earlier: GateProof | null,
  paths: readonly string[],
): string {
  if (before === null) return `the work went back from ${from ?? "the start"} to ${phase}: its product is another one`;
  if (gate === sentBackBy || earlier?.judgement.result === "fail") return "it had failed the work";
  if (paths.length > 0) return `changed: ${shortLine(paths.join(", "), 160)}`;
  if (earlier?.isFresh === false) return "an earlier change affected its files";
  return changed.length === 0 ? "re-run requested" : "its earlier result was out of date";
}

/** For people: each change, and below it the effect on each gate. */
export function recheckText(judgings: readonly Recheck[]): string[] {
  return judgings.flatMap((judging) => {
    const width = Math.max(0, ...judging.gates.map(({ gate }) => gate.length));
    return [
      `  ${headOf(judging)}`,
      ...judging.gates.map((turn) => `    ${turn.gate.padEnd(width)}  ${turnText(turn)}`),
      ...(judging.phasesAgain.length === 0
        ? []
        : [`    done again, because built on ${judging.phase}: ${judging.phasesAgain.join(", ")}`]),
    ];
  });
}

function headOf({ cause, rework, phase, sentBackBy, changed }: Recheck): string {
  const what = cause === "rework" ? `rework ${rework} of ${phase}, after ${sentBackBy}` : `${cause} in ${phase}`;
  if (changed.length === 0) return `${what}: nothing changed`;
  return `${what}: ${countText(changed.length, "path")} changed (${shortLine(changed.join(", "), 120)})`;
}

const WORDS: Readonly<Record<GateRecheck["what"], string>> = {
  again: "ran again",
  kept: "kept",
  due: "to run again",
  first: "ran",
  ahead: "not run yet",
};

function turnText({ what, why, result, durationMs }: GateRecheck): string {
  const verdict = what === "again" || what === "first" ? `: ${result}, ${durationText(durationMs)}` : "";
  const saved = what === "kept" ? ` (saved ${durationText(durationMs)})` : "";
  return `${WORDS[what]}${verdict}${saved}; ${why}`;
}
