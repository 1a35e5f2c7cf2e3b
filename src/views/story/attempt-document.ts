import type { Blame } from "../../core/blame/blame.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { CheckRun, GateName, Judgement, TestCounts } from "../../core/gates/gate.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Result } from "../../core/events/error.ts";

/** What became of one attempt: every gate that ran over its work, and what was blamed. */
export interface AttemptDocument {
  readonly attempt: number;
  /** What failed comes first. */
  readonly gates: readonly AttemptGate[];
  readonly blames: readonly { readonly gate: GateName; readonly at: number; readonly blame: Blame }[];
  /** The brief that went back with it; `null` where it did not go back. */
  readonly sentBack: { readonly gate: string; readonly brief: EvidenceId } | null;
}

export interface AttemptGate {
  readonly gate: GateName;
  readonly result: Result;
  readonly at: number;
  readonly durationMs: number;
  readonly summary: string;
  /** Blocking ones first. */
  readonly findings: readonly (Finding & { readonly isBlocking: boolean })[];
  readonly findingsLeftOut: number;
  readonly tests: TestCounts | null;
  readonly runs: readonly CheckRun[];
  readonly evidence: readonly EvidenceId[];
}

const MOST_FINDINGS = 40;

export function attemptDocument(lines: readonly Recorded[], attempt: number): AttemptDocument {
  const own = linesOf(lines, attempt);
  const gates = own.flatMap(({ at, event }) => (event.type === "gate.judged" ? [gateOf(event.judgement, at)] : []));
  const back = own.findLast(({ event }) => event.type === "work.sent-back")?.event;
  return {
    attempt,
    gates: [...gates].sort((a, b) => rank(a) - rank(b) || a.at - b.at),
    blames: own.flatMap(({ at, event }) =>
      event.type === "blame.found" ? [{ gate: event.gate, at, blame: event.blame }] : [],
    ),
    sentBack: back?.type === "work.sent-back" ? { gate: back.gate, brief: back.brief } : null,
  };
}

const rank = ({ result }: AttemptGate): number => (result === "fail" ? 0 : result === "pass" ? 2 : 1);

/** From its start to the start of the next. */
function linesOf(lines: readonly Recorded[], attempt: number): readonly Recorded[] {
  const isStart = ({ event }: Recorded): boolean => event.type === "attempt.started";
  const from = lines.findLastIndex(({ event }) => event.type === "attempt.started" && event.attempt === attempt);
  if (from < 0) return [];
  const next = lines.findIndex((line, index) => index > from && isStart(line));
  return lines.slice(from, next < 0 ? undefined : next);
}

function gateOf(judgement: Judgement, at: number): AttemptGate {
  const { gate, result, durationMs, summary, findings, blocking } = judgement;
  const marked = findings.map((finding) => ({ ...finding, isBlocking: blocking.includes(finding.id) }));
  const sorted = [...marked].sort((a, b) => Number(b.isBlocking) - Number(a.isBlocking));
  return {
    gate,
    result,
    at,
    durationMs,
    summary,
    findings: sorted.slice(0, MOST_FINDINGS),
    findingsLeftOut: Math.max(0, sorted.length - MOST_FINDINGS),
    tests: judgement.tests ?? null,
    runs: judgement.runs ?? [],
    evidence: judgement.evidence,
  };
}

/** How much stood in the way after an attempt: does the work converge? */
export interface Round {
  readonly attempt: number;
  /** Findings that stood between its work and a pass. */
  readonly blocking: number;
  /** Tests that failed; `null` where no check counted them. */
  readonly failedTests: number | null;
}

/** Of every attempt that a gate has judged, in order. */
export function rounds(lines: readonly Recorded[]): readonly Round[] {
  const found = new Map<number, { blocking: number; failedTests: number | null }>();
  let attempt = 0;
  for (const { event } of lines) {
    if (event.type === "attempt.started") attempt = event.attempt;
    if (event.type !== "gate.judged" || attempt === 0) continue;
    const { blocking, tests } = event.judgement;
    const known = found.get(attempt) ?? { blocking: 0, failedTests: null };
    found.set(attempt, {
      blocking: known.blocking + blocking.length,
      failedTests: tests === undefined ? known.failedTests : Math.max(known.failedTests ?? 0, tests.failed),
    });
  }
  return [...found].map(([number, round]) => ({ attempt: number, ...round }));
}
