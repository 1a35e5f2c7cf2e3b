import type { Survivor } from "../domain/brief.ts";
import { mutationEvidenceSchema, type MutationDocument } from "../schemas/evidence.ts";
import { readEvidence, refused, type EvidenceReading } from "./evidence-text.ts";

/** S1's mutation run. A mutant that ran out of time was not killed by a test, so it is counted by itself. */
export interface MutationEvidence {
  readonly story: string | null;
  readonly tool: string | null;
  readonly scope: readonly string[];
  readonly total: number;
  readonly killed: number;
  readonly survived: number;
  readonly timedOut: number;
  /** As the tool wrote it, or worked out: killed of those that were decided. */
  readonly score: string;
  readonly survivors: readonly Survivor[];
}

export function readMutationEvidence(text: string): EvidenceReading<MutationEvidence> {
  return readEvidence(text, "MUTATION_RESULT", mutationEvidenceSchema, meaning);
}

function meaning(document: MutationDocument): EvidenceReading<MutationEvidence> {
  const { total_mutants: total, killed, survived, timed_out: timedOut, score } = document.results;
  const { survivors } = document;
  if (killed + survived + timedOut > total) {
    return refused(
      `results: ${killed} killed, ${survived} survived and ${timedOut} timed out are more than ${total} in all`,
    );
  }
  if (survivors.length > survived)
    return refused(`survivors: ${survivors.length} are listed, and ${survived} survived`);
  return {
    ok: true,
    value: {
      story: document.slice_id ?? null,
      tool: document.tool ?? null,
      scope: document.scope ?? [],
      total,
      killed,
      survived,
      timedOut,
      score: scoreOf(score, killed, total - timedOut),
      survivors: survivors.map((each) => ({
        file: each.file,
        line: each.line,
        mutation: each.mutation,
        description: each.description ?? each.mutation,
        recommendedTest: each.recommended_test ?? "",
      })),
    },
  };
}

function scoreOf(given: string | number | null | undefined, killed: number, decided: number): string {
  if (typeof given === "string" && given.trim() !== "") return given.trim();
  if (typeof given === "number") return `${given}%`;
  // Rounded down: 999 of 1000 are not all of them.
  return decided === 0 ? "none" : `${Math.floor((killed / decided) * 1000) / 10}%`;
}
