import type { EscalationOption } from "../../../src/core/stories/escalation.ts";
import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";

/** What a person may say about a story that asks nothing, and what each word does. */
export function unaskedOptions({ findings, disputable, card }: StoryPageDocument): readonly EscalationOption[] {
  const hasFindings = findings.some(({ standing }) => standing !== "resolved");
  const waive: EscalationOption = {
    verb: "waive",
    does: "Accept anyway. Recorded as waived by you, never shown as a pass",
    cost: "no attempt",
  };
  const dispute: EscalationOption = {
    verb: "dispute",
    does: "An independent reviewer looks at a finding once; if it stands, you decide",
    cost: "one question to a reviewer",
  };
  const about = [...(hasFindings ? [waive] : []), ...(disputable.length > 0 ? [dispute] : [])];
  return [
    { verb: "send-back", does: "Put your instructions into the next brief", cost: "one attempt" },
    ...about,
    {
      verb: "raise-budget",
      does: `Set a new limit and continue${card.costLimitUsd === null ? "" : `; the limit is $${card.costLimitUsd.toFixed(2)} now`}`,
      cost: "what it then spends",
    },
    {
      verb: "force-complete",
      does: "Accept now; every gate that has not passed is recorded as waived by you",
      cost: "nothing more",
    },
    { verb: "abandon", does: "The story ends as failed; its branch stays", cost: "nothing more" },
  ];
}
