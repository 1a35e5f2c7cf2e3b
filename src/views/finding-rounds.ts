import type { Recorded } from "../domain/event.ts";
import { standings, type Finding, type FindingStanding } from "../domain/finding.ts";
import { GATES, type GateName, type Judgement } from "../domain/gate.ts";
import type { Fingerprint } from "../domain/ids.ts";
import type { StoryState } from "../domain/story-state.ts";

/** A finding, and how it stands in this round. */
export interface FindingCard extends Finding {
  readonly gate: GateName;
  readonly standing: FindingStanding;
  readonly isBlocking: boolean;
}

/** What each gate found last, seen against its rounds before: fixed, still there, or new. */
export function findingRounds(lines: readonly Recorded[], state: StoryState): readonly FindingCard[] {
  return GATES.flatMap((gate) => {
    const rounds = lines.flatMap(({ event }) =>
      event.type === "gate.judged" && event.judgement.gate === gate && isProof(event.judgement)
        ? [event.judgement]
        : [],
    );
    return rounds.length === 0 ? [] : cardsOf(gate, rounds, state);
  });
}

/** Did the gate say anything about the work? */
export const isProof = ({ result }: Judgement): boolean => result === "pass" || result === "fail";

function cardsOf(gate: GateName, rounds: readonly Judgement[], state: StoryState): FindingCard[] {
  const now = rounds.at(-1)!;
  const before = rounds.at(-2);
  const earlier = new Map<Fingerprint, { inLastRound: boolean }>();
  const known = new Map<Fingerprint, Finding>();
  for (const round of rounds.slice(0, -1)) {
    for (const finding of round.findings) {
      earlier.set(finding.id, { inLastRound: round === before });
      known.set(finding.id, finding);
    }
  }
  for (const finding of now.findings) known.set(finding.id, finding);
  const waived = new Set(state.waivers.filter((waiver) => waiver.gate === gate).flatMap(({ findings }) => findings));
  const disputed = new Set(state.disputes.map(({ finding }) => finding));
  const standing = standings(
    now.findings.map(({ id }) => id),
    earlier,
    { waived, disputed },
  );
  return [...standing].map(([id, each]) => ({
    ...known.get(id)!,
    gate,
    standing: each,
    isBlocking: now.blocking.includes(id) && each !== "waived",
  }));
}
