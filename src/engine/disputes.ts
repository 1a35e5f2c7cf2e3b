import type { Event } from "../domain/event.ts";
import type { EvidenceId } from "../domain/ids.ts";
import type { StoryState } from "../domain/story-state.ts";
import { readDisputes } from "../readers/disputes.ts";
import { worstFirst } from "../writers/briefs/parts.ts";
import type { EngineWorld } from "./world.ts";

/**
 * What an author who was sent work back holds to be wrong of it. Only findings of a reviewer can be disputed, and only
 * those that the brief asked to fix: what a command printed is no opinion. A number counts the brief's list.
 */
export async function disputedFindings(
  world: Pick<EngineWorld, "evidence">,
  { rework, gates, attempts, disputes }: StoryState,
  message: EvidenceId | undefined,
): Promise<readonly Event[]> {
  const gate = rework?.gate;
  if (message === undefined || (gate !== "review" && gate !== "audit")) return [];
  const last = gates[gate]?.last;
  const text = await world.evidence.read(message);
  if (last === undefined || last === null || text === null) return [];
  const ruled = new Set([...disputes, ...(gates[gate]?.upheld ?? [])].map(({ finding }) => finding));
  const listed = worstFirst(last.findings.filter(({ id }) => last.blocking.includes(id)));
  const by = attempts.at(-1)?.role ?? rework?.route.role ?? "the author";
  const events = new Map<string, Event>();
  for (const { about, rationale } of readDisputes(text)) {
    const finding = listed.find(({ id }) => id === about) ?? listed[Number(about) - 1];
    if (finding === undefined || ruled.has(finding.id)) continue;
    events.set(finding.id, { type: "finding.disputed", gate, finding: finding.id, by, rationale });
  }
  return [...events.values()];
}
