import type { VerifyProgress } from "../../app/verify-plan.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Event } from "../../core/events/event.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { JournalReader } from "../../ports/journal.ts";

/** Looks for every text that a line names: is it there, and is it what was kept? */
export async function verifyEvidence(
  journal: Pick<JournalReader, "read">,
  evidence: Pick<Evidence, "read" | "placeOf">,
  onProgress: VerifyProgress,
): Promise<{ readonly checked: number; readonly problems: readonly string[] }> {
  const named = new Map<EvidenceId, string>();
  for await (const { event, position, story } of journal.read(0))
    for (const id of evidenceIn(event)) if (!named.has(id)) named.set(id, `line ${position} (${story}, ${event.type})`);
  const problems: string[] = [];
  let checked = 0;
  for (const [id, where] of named) {
    const state = await stateOf(evidence, id);
    if (state !== "whole")
      problems.push(`the evidence ${id.slice(0, 12)} that ${where} names ${state}: ${evidence.placeOf(id)}`);
    if (++checked % PROGRESS_FILES === 0) onProgress("evidence", checked, named.size);
  }
  return { checked, problems };
}

const PROGRESS_FILES = 1000;

async function stateOf(
  evidence: Pick<Evidence, "read">,
  id: EvidenceId,
): Promise<"whole" | "is missing" | "was changed"> {
  try {
    return (await evidence.read(id)) === null ? "is missing" : "whole";
  } catch (error) {
    if (error instanceof RemandError && error.code === "evidence-corrupt") return "was changed";
    throw error;
  }
}

function evidenceIn(event: Event): readonly EvidenceId[] {
  switch (event.type) {
    case "gate.judged":
      return event.judgement.evidence;
    case "attempt.started":
      return event.brief === null ? [] : [event.brief];
    case "attempt.finished":
      return event.message === undefined ? [] : [event.message];
    case "work.sent-back":
      return event.note === undefined ? [event.brief] : [event.brief, event.note];
    default:
      return [];
  }
}
