import type { EscalationOption } from "../../../src/core/stories/escalation.ts";
import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";

const SEND_BACK: EscalationOption = {
  verb: "send-back",
  does: "Put your instructions into the next brief",
  cost: "one attempt",
};

/** The actions for accepted work: deliver it, or ask for more. */
export function optionsWhenAccepted({ canDeliver, canReopen, commit }: StoryPageDocument): readonly EscalationOption[] {
  const verified = `the commit that passed the gates (${commit.slice(0, 8)})`;
  const merge: EscalationOption = {
    verb: "merge",
    does: `Merge ${verified}, in your name; if the target has moved, the gates run with it first`,
    cost: "nothing",
  };
  const propose: EscalationOption = {
    verb: "pull-request",
    does: `Push ${verified} and open a pull request; without a forge in the settings you get the text and the command`,
    cost: "nothing",
  };
  return [...(canDeliver ? [merge, propose] : []), ...(canReopen ? [SEND_BACK] : [])];
}

/** The answers that a person may give about a story without a question, with their effects. */
export function unaskedOptions({ findings, disputable, card }: StoryPageDocument): readonly EscalationOption[] {
  const hasFindings = findings.some(({ standing }) => standing !== "resolved");
  const waive: EscalationOption = {
    verb: "waive",
    does: "Accept anyway. Recorded as waived by you, never shown as a pass",
    cost: "no attempt",
  };
  const dispute: EscalationOption = {
    verb: "dispute",
    does: "An independent reviewer looks at a finding once; if it is upheld, you decide",
    cost: "one question to a reviewer",
  };
  const about = [...(hasFindings ? [waive] : []), ...(disputable.length > 0 ? [dispute] : [])];
  return [
    SEND_BACK,
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
