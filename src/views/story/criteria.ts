import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { shortLine } from "../text/words.ts";

/** An acceptance criterion, and what the newest audit says about it. */
export interface CriterionCard {
  readonly id: string;
  readonly text: string;
  readonly status: "verified" | "failed" | "unknown";
  readonly evidence: string;
}

/** An auditor names a criterion by its id or by its words. */
export function criterionCards({ story, gates }: StoryState): readonly CriterionCard[] {
  const judged = gates.audit?.last?.criteria ?? [];
  return story.criteria.map(({ id, text }) => {
    const found = judged.find(
      ({ criterion }) => criterion === id || criterion === text || criterion.startsWith(`${id}:`),
    );
    return { id, text, status: found?.status ?? "unknown", evidence: found?.evidence ?? "" };
  });
}

/** For a person: each criterion, and below it what an auditor found, or why there is no result. */
export function criteriaText(state: StoryState): readonly string[] {
  const audit = state.gates.audit;
  const isPlanned =
    state.policy?.phases.some(({ gates }) => gates.some((gate) => GATE_REGISTRY[gate].reports === "criteria")) ?? true;
  const isOld = audit?.fresh === false && audit.last !== null;
  return criterionCards(state).flatMap(({ id, text, status, evidence }) => {
    const reason = evidence === "" ? "" : ` - ${shortLine(evidence, 200)}`;
    const result = {
      verified: `VERIFIED${reason}`,
      failed: `FAILED${reason}`,
      unknown: isPlanned ? "not verified yet" : "no audit gate verifies it one by one; add `audit` to `phases`",
    }[status];
    const age = isOld && status !== "unknown" ? " (before the newest work)" : "";
    return [`  ${id}  ${shortLine(text, 160)}`, `  ${" ".repeat(id.length)}  ${result}${age}`];
  });
}
