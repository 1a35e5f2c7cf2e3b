import type { Finding } from "../../core/gates/finding.ts";
import { type TriedFinding, isOpenStatus } from "../../core/gates/tried-finding.ts";
import type { Brief } from "../../core/stories/brief.ts";
import { type BriefPiece, type BriefWriter, bullets, joinPieces, line, section } from "./brief-writer.ts";
import { placeOf } from "./findings.ts";

/** A finding of this brief or of an earlier attempt, with what is known of its past. */
type Issue = Pick<Finding, "file" | "line"> & { readonly text: string };

/**
 * S0.36: from the second failure on, the issues of all attempts together: which are left from before, which came back,
 * which are new, and which are fixed and must stay so. The first failure has no past, and no such part.
 */
export function accumulatedFeedback(brief: Brief, pen: BriefWriter): BriefPiece {
  const past = pastFindings(brief);
  if (past.size === 0) return "";
  const now = [...new Map([...brief.required, ...brief.stillOpen].map((each) => [each.id as string, each])).values()];
  const known = now.map((finding) => ({ finding, first: past.get(finding.id) }));
  const open = new Set<string>(now.map(({ id }) => id));
  const fixed = [...past.values()].filter(({ tried }) => !open.has(tried.id) && !isOpenStatus(tried.status));
  const group = (title: string, issues: readonly Issue[]): BriefPiece => {
    const list = bullets(pen, issues, (each) => `${placeOf(each, pen)}${line(pen, each.text)}`, { what: "issues" });
    return list === "" ? "" : `${title}\n${list}`;
  };
  return section(
    "### Accumulated Feedback",
    joinPieces([
      group(
        "Still open from before:",
        known.flatMap(({ finding, first }) =>
          first === undefined || first.tried.fixedIn !== undefined
            ? []
            : [{ ...finding, text: `${finding.message} (since attempt ${first.attempt})` }],
        ),
      ),
      group(
        "Came back:",
        known.flatMap(({ finding, first }) =>
          first?.tried.fixedIn === undefined
            ? []
            : [{ ...finding, text: `${finding.message} (attempt ${first.tried.fixedIn} had fixed it)` }],
        ),
      ),
      group(
        "New:",
        known.flatMap(({ finding, first }) => (first === undefined ? [{ ...finding, text: finding.message }] : [])),
      ),
      group(
        "Settled, and to be kept so:",
        fixed.map(({ tried, attempt }) => ({
          ...tried,
          text: `${tried.title} (${settledText(tried)}; found in attempt ${attempt})`,
        })),
      ),
    ]),
  );
}

const settledText = ({ status, seenIn }: TriedFinding): string =>
  status === "fixed" ? `fixed in attempt ${seenIn}` : status === "lighter" ? "no longer blocking" : status;

/** Each finding of the earlier attempts once, with the attempt that it was first found in. */
function pastFindings({ earlier }: Brief): Map<string, { readonly tried: TriedFinding; readonly attempt: number }> {
  const past = new Map<string, { tried: TriedFinding; attempt: number }>();
  for (const { attempt, findings = [] } of earlier)
    for (const tried of findings) if (!past.has(tried.id)) past.set(tried.id, { tried, attempt });
  return past;
}
