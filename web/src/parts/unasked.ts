import type { EscalationOption } from "../../../src/core/stories/escalation.ts";
import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";

/** What a person may say about a story that asks nothing, and what each word does. */
export function unaskedOptions({ findings, disputable, card }: StoryPageDocument): readonly EscalationOption[] {
  const hasFindings = findings.some(({ standing }) => standing !== "resolved");
  const waive: EscalationOption = {
    verb: "waive",
    does: "Lets findings through in your name, with your reason; they are shown as waived, never as passed",
    cost: "no attempt",
  };
  const dispute: EscalationOption = {
    verb: "dispute",
    does: "Has an independent reviewer look at a finding once; if it stands, you decide",
    cost: "one question to a reviewer",
  };
  const about = [...(hasFindings ? [waive] : []), ...(disputable.length > 0 ? [dispute] : [])];
  return [
    { verb: "send-back", does: "Sends the work back with your words in its brief", cost: "one attempt" },
    ...about,
    {
      verb: "raise-budget",
      does: `Gives it more to spend${card.costLimitUsd === null ? "" : `; the limit is ${card.costLimitUsd} USD now`}`,
      cost: "what it then spends",
    },
    {
      verb: "force-complete",
      does: "Accepts the work as it is, in your name; gates that are not open get a waiver",
      cost: "nothing more",
    },
    { verb: "abandon", does: "Ends the story unaccepted; its branch stays", cost: "nothing more" },
  ];
}
