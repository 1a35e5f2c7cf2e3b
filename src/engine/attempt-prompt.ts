import type { StartAttempt } from "../domain/command.ts";
import type { EvidenceId } from "../domain/ids.ts";
import type { Phase } from "../domain/phase.ts";
import type { Scope } from "../domain/scope.ts";
import type { StoryState } from "../domain/story-state.ts";
import { locationText, statusText } from "../domain/tried-finding.ts";
import { triedFindings } from "../policy/tried-findings.ts";
import type { Player } from "../ports/roster.ts";
import { writeAssignmentPrompt } from "../writers/prompts/assignment.ts";
import { withoutProducts } from "../writers/story-sections.ts";
import { judgedByAll } from "./judged-by.ts";
import { hasTextPhases, productsUpTo, scopeWithPage } from "./phase-product.ts";
import type { EngineWorld } from "./world.ts";

/** A rework gets its brief, new work its assignment. */
export async function promptFor(
  command: StartAttempt,
  world: EngineWorld,
  state: StoryState,
  player: Player,
  brief: EvidenceId | null,
): Promise<string> {
  const kept = brief === null ? null : await world.evidence.read(brief);
  if (kept !== null) return kept;
  const { story } = state;
  const path = hasTextPhases(state) ? (await world.workspace.prepare(story.id)).path : "";
  const anywhere: Scope = { allow: [], deny: [], tests: "open", exceptions: "with-rationale", reason: "new work" };
  return writeAssignmentPrompt(
    {
      rolePrompt: player.prompt,
      story: { id: story.id, title: story.title, goal: withoutProducts(story.body, story.completed) },
      phase: command.phase,
      ...(command.tddPhase === undefined ? {} : { tddPhase: command.tddPhase }),
      criteria: story.criteria,
      scope: (await scopeWithPage(world, state, command.phase, path, null)) ?? anywhere,
      judgedBy: judgedByAll(world, state),
      products: hasTextPhases(state) ? await productsUpTo(world, state, command.phase, path) : [],
      context: triedBefore(state, command.phase),
      guidance: state.guidance,
      report: "signal",
      spellOutFormat: command.spellOutFormat,
    },
    { nonce: world.nonce() },
  );
}

/** A phase that is done again, because one before it was, has been tried: what came of that is worth knowing. */
function triedBefore(state: StoryState, phase: Phase): string[] {
  return state.attempts
    .filter((attempt) => attempt.phase === phase && attempt.outcome === "ready")
    .flatMap((attempt) => {
      const end = attempt.failed === "" ? "what it was built on has changed since" : attempt.failed;
      const text = `attempt ${attempt.attempt} did this phase before, and its work is still there: ${attempt.summary || "no summary"} -> ${end}`;
      const findings = triedFindings(state, attempt).map((finding) => {
        const place = locationText(finding);
        return `attempt ${attempt.attempt}, ${finding.gate}, ${statusText(finding)}: ${place === "" ? "" : `${place}: `}${finding.title}`;
      });
      return [text, ...findings];
    });
}
