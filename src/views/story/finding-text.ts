import { isConclusive } from "../../core/events/error.ts";
import {
  type Finding,
  type FindingStanding,
  type TriedFinding,
  locationText,
  standings,
} from "../../core/gates/finding.ts";
import { GATES, type GateName, type Judgement } from "../../core/gates/gate.ts";
import { shortLine } from "../text/words.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { Fingerprint } from "../../core/events/ids.ts";
import type { StoryState } from "../../core/stories/story-state.ts";

/** A finding on one line: its location, then the message. */
export function findingText(finding: Finding, maxChars = 160): string {
  const place = locationText(finding);
  return shortLine(place === "" ? finding.message : `${place}  ${finding.message}`, maxChars);
}

/** The location in backticks, which pages show as code. */
export function quotedPlace(finding: TriedFinding): string {
  const place = locationText(finding);
  return place === "" ? "" : `\`${place}\``;
}

export const placedText = (finding: TriedFinding): string => `${quotedPlace(finding)} ${finding.title}`.trim();

/**
 * The blocking findings; if there are none, all findings, or the gate's summary. Each with up to `detailLines` lines of
 * detail.
 */
export function reasonsOf(judgement: Judgement, most: number, detailLines = 0): string[] {
  const blocking = judgement.findings.filter((finding) => judgement.blocking.includes(finding.id));
  const shown = (blocking.length > 0 ? blocking : judgement.findings).slice(0, most);
  if (shown.length === 0) return judgement.summary === "" ? [] : [shortLine(judgement.summary, 160)];
  const more = (blocking.length > 0 ? blocking : judgement.findings).length - shown.length;
  return [
    ...shown.flatMap((finding) => [findingText(finding), ...detailText(finding, detailLines)]),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function detailText({ detail = "" }: Finding, most: number): string[] {
  const lines = detail.split("\n", most * 2).filter((line) => line.trim() !== "");
  return lines.slice(0, most).map((line) => `  | ${indentOf(line)}${shortLine(line, 120)}`);
}

/** Keeps the indentation of a detail line: it shows depth, and the signs of a diff. */
const indentOf = (line: string): string => /^ {0,12}/.exec(line)![0];

/** A finding with its standing in this round. */
export interface FindingCard extends Finding {
  readonly gate: GateName;
  readonly standing: FindingStanding;
  readonly isBlocking: boolean;
}

/** The last findings of each gate compared with its earlier rounds: fixed, persisting, or new. */
export function findingRounds(lines: readonly Recorded[], state: StoryState): readonly FindingCard[] {
  return GATES.flatMap((gate) => {
    const rounds = lines.flatMap(({ event }) =>
      event.type === "gate.judged" && event.judgement.gate === gate && isConclusive(event.judgement.result)
        ? [event.judgement]
        : [],
    );
    return rounds.length === 0 ? [] : cardsOf(gate, rounds, state);
  });
}

function cardsOf(gate: GateName, rounds: readonly Judgement[], state: StoryState): FindingCard[] {
  const now = rounds.at(-1)!;
  const before = rounds.at(-2);
  const earlier = new Map<Fingerprint, { inLastRound: boolean }>();
  const known = new Map<Fingerprint, Finding>();
  for (const round of rounds.slice(0, -1)) {
    for (const finding of round.findings) {
      earlier.set(finding.id, { inLastRound: round === before });
      known.set(finding.id, finding);
    }
  }
  for (const finding of now.findings) known.set(finding.id, finding);
  const waived = new Set(state.waivers.filter((waiver) => waiver.gate === gate).flatMap(({ findings }) => findings));
  const disputed = new Set(state.disputes.map(({ finding }) => finding));
  const standing = standings(
    now.findings.map(({ id }) => id),
    earlier,
    { waived, disputed },
  );
  return [...standing].map(([id, each]) => ({
    ...known.get(id)!,
    gate,
    standing: each,
    isBlocking: now.blocking.includes(id) && each !== "waived",
  }));
}
