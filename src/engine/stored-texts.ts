import { countText } from "../stdx/plain-text.ts";
import type { EvidenceId } from "../core/events/ids.ts";
import type { Evidence } from "../ports/evidence.ts";

/** A text that is stored next to the journal, with its label and the position of its line. */
export interface StoredText {
  readonly id: EvidenceId;
  readonly label: string;
  readonly position: number;
  readonly text: string;
}

interface LineWithTexts {
  readonly position: number;
  readonly kept: readonly { readonly label: string; readonly id: EvidenceId }[];
}

/** Reads the stored texts that these lines name, each once, if they still exist; long texts are cut. */
export async function readStoredTexts(
  lines: readonly LineWithTexts[],
  evidence: Pick<Evidence, "read">,
): Promise<readonly StoredText[]> {
  const texts = new Map<EvidenceId, StoredText>();
  for (const { position, kept } of lines) {
    for (const { label, id } of kept) {
      if (texts.has(id) || texts.size >= MOST_TEXTS) continue;
      const text = await evidence.read(id);
      if (text !== null) texts.set(id, { id, label, position, text: cut(text) });
    }
  }
  return [...texts.values()];
}

const MOST_TEXTS = 60;
const MOST_CHARS = 30_000;

const cut = (text: string): string =>
  text.length <= MOST_CHARS
    ? text
    : `${text.slice(0, MOST_CHARS)}\n… ${countText(text.length - MOST_CHARS, "character")} left out\n`;
