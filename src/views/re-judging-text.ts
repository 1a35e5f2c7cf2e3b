import { counted } from "../domain/counted.ts";
import type { GateTurn, ReJudging } from "./re-judging.ts";
import { durationText, shortLine } from "./words.ts";

/** For a person: each change, and below it what became of each gate. */
export function reJudgingText(judgings: readonly ReJudging[]): string[] {
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

function headOf({ cause, rework, phase, sentBackBy, changed }: ReJudging): string {
  const what = cause === "rework" ? `rework ${rework} of ${phase}, after ${sentBackBy}` : `${cause} in ${phase}`;
  if (changed.length === 0) return `${what}: nothing changed`;
  return `${what}: ${counted(changed.length, "path")} changed (${shortLine(changed.join(", "), 120)})`;
}

const WORDS: Readonly<Record<GateTurn["what"], string>> = {
  again: "judged again",
  kept: "kept",
  due: "to judge again",
  first: "judged",
  ahead: "not judged yet",
};

function turnText({ what, why, result, durationMs }: GateTurn): string {
  const verdict = what === "again" || what === "first" ? `: ${result}, ${durationText(durationMs)}` : "";
  const saved = what === "kept" ? ` (saved ${durationText(durationMs)})` : "";
  return `${WORDS[what]}${verdict}${saved}; ${why}`;
}
