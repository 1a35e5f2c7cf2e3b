import type { Finding } from "./finding.ts";
import type { GateName } from "./gate.ts";
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
  // A command's output is not an opinion, so no reviewer can rule on it.
  if (!HELD_BY_REVIEWERS.has(gate) || (gate === "audit" && stage === VERIFICATION))
    return "is what a command printed, not a reviewer's opinion";
  if (state.disputes.some((dispute) => dispute.finding === id)) return "is disputed already";
  const ruling = state.gates[gate]?.upheld.find((upheld) => upheld.finding === id);
  if (ruling !== undefined) return `was looked at, and stands, says ${ruling.says}`;
  return state.gates[gate]?.overturned.includes(id) === true ? "was looked at, and does not stand" : null;
}

/** Reviewers' words and our own rules about a diff; these gates leave out a finding that did not stand. */
const HELD_BY_REVIEWERS: ReadonlySet<GateName> = new Set<GateName>(["integrity", "review", "audit"]);

/** The stage of an audit that is the engine's own runs. */
export const VERIFICATION = "verification";
