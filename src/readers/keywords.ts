import { takeFence, watchFences } from "./fences.ts";

/**
 * S4's oldest way: a review that is neither a signal nor data. It can only reject, and only where it does so plainly:
 * words of rejection that nothing takes back, and no word of approval beside them.
 */
export function plainlyRejects(text: string): boolean {
  const prose = ownProse(text).toLowerCase();
  // "Not approved" is no approval: what rejects is taken out before anything that approves is looked for.
  if (APPROVAL.test(prose.replace(REJECTION, ""))) return false;
  for (const match of prose.matchAll(REJECTION)) {
    // What stands before it in the same sentence may take it back.
    const before = prose
      .slice(Math.max(0, match.index - 60), match.index)
      .split(/[.!?;\n]/)
      .at(-1)!;
    if (!TAKEN_BACK.test(before)) return true;
  }
  return false;
}

const REJECTION = new RegExp(
  String.raw`\b(?:${[
    "(?:changes|revision|rework) (?:required|requested|needed)",
    "needs (?:revision|rework|changes|more work)",
    "not (?:approved|accepted)",
    "(?:cannot|can't|can not|do not|don't|won't) (?:approve|accept)",
    "reject(?:ed|ing)?",
    String.raw`(?:review|audit|verdict|decision|result|status)(?: is| was| has)?[\s:*_]{1,6}fail(?:ed|s)?`,
    "does not pass",
    "must be fixed before",
    "blocking (?:issue|problem|finding)s?",
  ].join("|")})\b`,
  "g",
);
const APPROVAL = /\b(?:lgtm|looks good|approve[ds]?|passes (?:the )?review|ready to merge|accepted)\b/;
const TAKEN_BACK =
  /\b(?:no|not|never|without|nothing|zero|none|isn't|wasn't|aren't|weren't|doesn't|didn't|if|unless|would|could|might|may|previously|earlier)\b[^,]*$/;

/** What the agent says itself: no code, no quotation. */
function ownProse(text: string): string {
  const fences = watchFences();
  const lines = text.split("\n").filter((line) => {
    const isMark = line.trim() !== "" && takeFence(fences, line);
    return !isMark && fences.outside && !/^(?: {0,3}>| {4}|\t)/.test(line);
  });
  return lines.join("\n");
}
