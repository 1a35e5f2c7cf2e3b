import type { BlameMaterial } from "../../domain/change.ts";
import type { ProofInput } from "../prove-blame.ts";
import type { RankedBlame } from "../rank-blame.ts";
import { companionsOf } from "./companions.ts";
import { environmentReason, flakyHint, testHunks } from "./triage.ts";

/** What a proof begins with: the suspects as they were ranked, and what reading alone says of the failure. */
export function proofInput(material: BlameMaterial, ranked: RankedBlame, limits: ProofInput["limits"]): ProofInput {
  return {
    hunks: ranked.hunks.map(({ hunk, confidence }) => ({ id: hunk.id, confidence })),
    companions: companionsOf(material),
    ...testHunks(material),
    looksEnvironmental: environmentReason(material) !== null,
    looksFlaky: flakyHint(material, ranked.isReached),
    limits,
  };
}
