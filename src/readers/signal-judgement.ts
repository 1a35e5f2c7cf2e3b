import { RESULT_OF_SIGNAL, ROLE_OF_SIGNAL, type Signal, type SignalRole } from "../domain/signal.ts";
import type { SignalLine, SignalScan } from "./signal-scan.ts";

/** What the signals of a text come to, taken together. */
export type SignalJudgement =
  | { readonly type: "none"; readonly problems: readonly string[] }
  | { readonly type: "signal"; readonly line: SignalLine; readonly problems: readonly string[] }
  | {
      readonly type: "unclear";
      readonly id: string | null;
      readonly idMatches: boolean | null;
      readonly problems: readonly string[];
    };

/**
 * One signal, for this story, of this role, is a signal. Two different ones are not, except that infrastructure that
 * is blocked stays blocked whatever else is said. Lines for other stories and lines that nobody can read count as
 * nothing; but beside a pass they count against it, when they name something else.
 */
export function judgeSignals(
  { own, foreign, malformed }: SignalScan,
  { id, role }: { readonly id?: string | undefined; readonly role?: SignalRole | undefined },
): SignalJudgement {
  const odd = [
    ...[...foreign.values()].map((line) => foreignProblem(line, id)),
    ...[...malformed.values()].map(malformedProblem),
  ];
  const lines = [...own.values()];
  if (lines.length === 0) {
    const other = [...foreign.values()][0];
    if (other !== undefined) return { type: "unclear", id: other.id, idMatches: false, problems: odd };
    return { type: "none", problems: odd };
  }
  const unclear = (...problems: readonly string[]): SignalJudgement => {
    return {
      type: "unclear",
      id: lines[0]!.id,
      idMatches: id === undefined ? null : true,
      problems: [...problems, ...odd],
    };
  };
  if (id === undefined && foreign.size > 0) return unclear("There are signals for more than one story.");
  const allowed = lines.filter(({ signal }) => role === undefined || ROLE_OF_SIGNAL[signal] === role);
  const blocked = allowed.filter(({ signal }) => RESULT_OF_SIGNAL[signal] === "blocked").at(-1);
  if (blocked !== undefined) return { type: "signal", line: blocked, problems: [...besides(blocked, lines), ...odd] };
  if (lines.length > 1)
    return unclear(`There are different signals: ${lines.map(({ signal }) => signal).join(" and ")}.`);
  const line = allowed[0];
  if (line === undefined) return unclear(`${lines[0]!.signal} is not a ${role}'s signal to give.`);
  const result = RESULT_OF_SIGNAL[line.signal];
  const against = [...foreign.keys(), ...malformed.keys()].some((signal) => RESULT_OF_SIGNAL[signal] !== result);
  if (against && (result === "pass" || result === "ready")) {
    return unclear(`${line.signal} stands beside a line that says something else.`);
  }
  return { type: "signal", line, problems: odd };
}

function besides(blocked: SignalLine, lines: readonly SignalLine[]): readonly string[] {
  const others: readonly Signal[] = lines.filter((line) => line !== blocked).map(({ signal }) => signal);
  return others.length === 0 ? [] : [`${others.join(" and ")} beside ${blocked.signal} was set aside.`];
}

function foreignProblem(line: SignalLine, id: string | undefined): string {
  return `${line.signal} is for "${line.id}"${id === undefined ? "" : `, not for "${id}"`}.`;
}

function malformedProblem(line: SignalLine): string {
  return `"${line.shown}" is not a signal: it should be "${line.signal}: <story>" and nothing else on the line.`;
}
