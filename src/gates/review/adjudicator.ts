import type { RoleName } from "../../core/events/ids.ts";
import type { Reading } from "../../core/stories/reading.ts";
import type { Adjudicator, DisputedFinding } from "../../ports/gate.ts";
import { verdictJsonSchema } from "../../core/schemas/gate-result.ts";
import { writeAdjudicationPrompt } from "../../write/prompts/contested.ts";
import { askReviewer, inTurn, type ReviewerSettings } from "./ask-reviewer.ts";

/**
 * Makes the adjudicator, which is asked like a reviewer: with fallbacks, a schema, and again if its answer cannot be
 * read.
 */
export function createAdjudicator(reviewing: ReviewerSettings): Adjudicator {
  return {
    async decide(dispute, control) {
      const { request, role, finding, disputedBy, rebuttal } = dispute;
      const { id, title, body } = request.story;
      const asks = new Map<RoleName, number>();
      const roles = { ...request.roles, fallback: impartial(dispute) };
      const reply = await askReviewer(
        reviewing,
        { request: { ...request, roles }, control, asks },
        {
          wanted: role,
          speaksAs: "critic",
          // The adjudicator starts without earlier conversations about this story.
          goesOn: false,
          outputSchema: verdictJsonSchema(),
          write: (rolePrompt, nonce) =>
            writeAdjudicationPrompt(
              { rolePrompt, story: { id, title, goal: body }, finding, disputedBy, rebuttal, evidence: [] },
              { nonce },
            ),
          // "Upheld" needs no further issues: the finding itself names them.
          hasMore: () => true,
        },
      );
      const { reading, trouble, costUsd, tokens } = reply;
      return {
        upheld: reading?.result !== "pass",
        by: reading === null ? null : reply.role,
        reason: reading === null ? trouble : reasonIn(reading),
        asked: Object.fromEntries(asks),
        costUsd,
        tokens,
      };
    },
  };
}

/** Returns the fallbacks without the roles that are involved in the dispute. */
function impartial({ role, request, partial }: DisputedFinding): Record<string, RoleName> {
  const chain = [...inTurn(role, request.roles.fallback)].filter((each) => each === role || !partial.includes(each));
  return Object.fromEntries(chain.slice(1).map((next, index) => [chain[index]!, next]));
}

function reasonIn({ summary, findings }: Reading): string {
  return summary ?? findings[0]?.message ?? "";
}
