import type { EvidenceId } from "../core/events/ids.ts";

/** What gates and agents printed, kept by its content: the same text is kept once, and an id says what is in it. */
export interface Evidence {
  /** Secrets are taken out and the size is capped before anything touches the disk; the cut is stated in the text. */
  keep(text: string): Promise<EvidenceId>;
  read(id: EvidenceId): Promise<string | null>;
  /** Where a person finds the whole of it, for a report. */
  placeOf(id: EvidenceId): string;
  /** Writes the text as a plain file that agents can read in their sandbox, and returns its path. Absent: they share no disk. */
  show?(id: EvidenceId): Promise<string | null>;
}
