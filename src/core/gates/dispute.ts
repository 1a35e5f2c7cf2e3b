import type { Finding } from "./finding.ts";
import { type GateName, isReviewed } from "./gate.ts";
import { GATE_REGISTRY } from "./registry.ts";
import type { StoryState } from "../stories/story-state.ts";

/** The blocking findings of this gate that an independent reviewer can still look at. */
export function disputable(state: StoryState, gate: GateName | null): readonly Finding[] {
  const last = gate === null ? null : (state.gates[gate]?.last ?? null);
  if (gate === null || last === null) return [];
  return last.findings.filter(
    (finding) => last.blocking.includes(finding.id) && undisputable(state, gate, finding) === null,
  );
}

/** Why no reviewer would look at it, in words that follow the finding's name; `null` where one would. */
export function undisputable(state: StoryState, gate: GateName, { id, stage }: Finding): string | null {
  // What a command printed is no opinion. A reviewer's words are one, and so is a rule about a diff.
  const { refusesByRule, stageOfRuns } = GATE_REGISTRY[gate];
  const isOpinion = isReviewed(gate) || refusesByRule;
  if (!isOpinion || (stage !== undefined && stage === stageOfRuns))
    return "is what a command printed, not a reviewer's opinion";
  if (state.disputes.some((dispute) => dispute.finding === id)) return "is disputed already";
  const ruling = state.gates[gate]?.upheld.find((upheld) => upheld.finding === id);
  if (ruling !== undefined) return `was looked at, and stands, says ${ruling.says}`;
  return state.gates[gate]?.overturned.includes(id) === true ? "was looked at, and does not stand" : null;
}
