import type { BriefEvidence } from "../domain/brief.ts";
import { GATES } from "../domain/gate.ts";
import type { VerificationCommand } from "../domain/prompt.ts";
import type { RunState } from "../domain/run-state.ts";
import { entries } from "../stdx/sorted-map.ts";
import type { EngineWorld } from "./world.ts";

/** What is known of broken surroundings, for whoever repairs them: what each story's gates and agents said of it. */
export function knownTroubles({ stories }: RunState): readonly BriefEvidence[] {
  const troubles: BriefEvidence[] = [];
  for (const [id, { gates, attempts, ending }] of entries(stories)) {
    if (ending !== null) continue;
    for (const gate of GATES) {
      const trouble = gates[gate]?.trouble ?? null;
      if (trouble !== null) troubles.push({ title: `what kept the ${gate} gate of ${id} from judging`, text: trouble });
    }
    // Only of an agent that was itself kept from working: what one that is done said is about its work.
    const last = attempts.at(-1);
    if ((last?.outcome === "blocked" || last?.outcome === "incomplete") && last.summary !== "")
      troubles.push({ title: `what the agent of ${id} said`, text: last.summary });
    if (troubles.length >= MOST) break;
  }
  return troubles.slice(0, MOST);
}

const MOST = 10;

/** The commands that judge the work, where each was run; before anything was run, as they are configured. */
export function commandsThatMustWork(
  world: Pick<EngineWorld, "gates">,
  { stories }: RunState,
): readonly VerificationCommand[] {
  const commands = new Map<string, VerificationCommand>();
  for (const [, { gates, ending }] of entries(stories)) {
    if (ending !== null) continue;
    for (const { command, environment } of gates.checks?.last?.runs ?? [])
      commands.set(`${environment}\n${command}`, { command, environment });
  }
  if (commands.size > 0) return [...commands.values()];
  return (world.gates.get("checks")?.judgedBy() ?? []).map((command) => ({ command, environment: "where it runs" }));
}
