import type { Blame, BlameReport, Considered } from "../../core/blame/blame.ts";

/** The report as programs read it. Line ranges are those of the new version. */
export function blameDocument(report: BlameReport) {
  const { blame, considered, runs, seconds, experiments = [] } = report;
  const place = ({ hunk }: Considered) => ({ file: hunk.file, start: hunk.start, end: hunk.end });
  const byId = new Map(considered.map((each) => [each.hunk.id, place(each)]));
  const chosen = chosenOf(report);
  return {
    schema: "remand.blame/1" as const,
    kind: blame === null ? ("passes" as const) : kindOf(blame),
    proven: blame?.basis === "proven",
    level: blame === null ? null : blame.shown === true ? ("shown" as const) : blame.basis,
    confidence: blame?.confidence ?? 1,
    hunks: chosen.map(({ hunk, confidence, reasons, origin }) => ({
      file: hunk.file,
      start: hunk.start,
      end: hunk.end,
      score: confidence,
      reasons,
      ...(origin === undefined ? {} : { origin }),
    })),
    runs,
    seconds,
    considered: considered.length,
    /** Everything that was considered, the likeliest first. */
    ranking: considered.map((each) => ({ ...place(each), score: each.confidence, reasons: each.reasons })),
    experiments: experiments.map(({ without, ...run }) => ({
      ...run,
      without: without.flatMap((id) => byId.get(id) ?? []),
    })),
    explanation: blame?.explanation ?? "the check passes",
  };
}

export function kindOf({ verdict, together, newCode }: Blame) {
  if (verdict === "culprit") return newCode === true ? ("slip" as const) : ("hunk" as const);
  return verdict === "multi" && together === true ? ("joint" as const) : verdict;
}

/** What the runs named, or else what the verdict suspects, in the ranking's order. */
export function chosenOf({
  blame,
  considered,
  hunks,
}: Pick<BlameReport, "blame" | "considered" | "hunks">): readonly Considered[] {
  if (blame === null) return [];
  if (hunks.length > 0) return considered.filter(({ hunk }) => hunks.includes(hunk.id));
  const suspects = blame.suspects;
  return considered.filter(({ hunk }) => suspects.some(({ file, line }) => file === hunk.file && line === hunk.start));
}
