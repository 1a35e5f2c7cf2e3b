import { type ContestedTest, contestedWords } from "../../core/gates/contested-test.ts";
import { countText } from "../../stdx/plain-text.ts";
import { changedRules, type GateReport, LICENSE_HINT, isPassed, openContested } from "../../core/gates/gate-report.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { licensedText } from "../../core/gates/code-owners.ts";
import type { Result } from "../../core/events/error.ts";
import { reasonsOf } from "../story/finding-text.ts";
import { type Glyphs, type LineMark, durationText, shortLine } from "../text/words.ts";
import type { Blame, BlameReport, Considered } from "../../core/blame/blame.ts";

/** The result of one gate of `remand gate`, for people. */
export interface GateLine {
  readonly mark: LineMark;
  readonly gate: string;
  readonly text: string;
  readonly details: readonly string[];
}

/** The result of each gate, and the gates that did not run, with reasons. */
export function gateLines(report: GateReport, mostReasons = 20): readonly GateLine[] {
  const { judgements, skipped } = report;
  return [
    ...judgements.map((judgement) => ({
      mark: MARK[judgement.result],
      gate: judgement.gate,
      text: `${wordsOf(judgement)}   ${durationText(judgement.durationMs)}`,
      details: [...(isSaid(judgement) ? [] : reasonsOf(judgement, mostReasons)), ...contestedLines(report, judgement)],
    })),
    ...skipped.map(({ gate, why }) => ({
      mark: "note" as const,
      gate,
      text: `not judged: ${shortLine(why, 160)}`,
      details: [],
    })),
  ];
}

/** Lists contested tests, which do not block here, so that a person decides about them. */
function contestedLines(report: GateReport, judgement: Judgement): readonly string[] {
  const open = openContested(report, judgement);
  const licensed = (report.licensed ?? []).filter(({ gate }) => gate === judgement.gate);
  const needsOwner = open.length > 0 || changedRules(judgement).some(({ id }) => judgement.blocking.includes(id));
  const notes = needsOwner ? (report.licenseNotes ?? []).map((note) => `no license by a code owner: ${note}`) : [];
  return [...shortList(licensed.map(licensedText)), ...openLines(open), ...shortList(notes)];
}

function openLines(open: readonly ContestedTest[]): readonly string[] {
  if (open.length === 0) return [];
  return [
    `${countText(open.length, "contested test")} (${LICENSE_HINT}):`,
    ...shortList(open.map((each) => `${shortLine(each.test, 160)} ${contestedWords(each)}`)),
  ];
}

function shortList(lines: readonly string[]): readonly string[] {
  const shown = lines.slice(0, MOST_CONTESTED).map((each) => shortLine(each, 400));
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

const MOST_CONTESTED = 20;

const MARK: { readonly [R in Result]: LineMark } = {
  pass: "accepted",
  fail: "rejected",
  blocked: "trouble",
  error: "trouble",
  inconclusive: "trouble",
};

/** The summary without the gate's name, which is printed before it. */
function wordsOf({ gate, summary, result }: Judgement): string {
  const words = shortLine(summary.replace(new RegExp(`^${gate}: `), ""), 200);
  return words === "" ? result : words;
}

/** Whether the summary says everything. Even a gate that passed may have findings worth reading. */
const isSaid = ({ findings }: Judgement): boolean => findings.length === 0;

/** The last line: passed or not, and what was compared. */
export function gateVerdict(report: GateReport, glyphs: Pick<Glyphs, "dot">): string {
  const { judged, judgements, skipped } = report;
  const not = judgements.filter(({ result }) => result !== "pass").length;
  const verdict = isPassed(report)
    ? `passed: ${countText(judgements.length, "gate")}`
    : judgements.length === 0
      ? "nothing was judged"
      : `not passed: ${not} of ${countText(judgements.length, "gate")}`;
  const what = judged.at === null ? "the files as they are" : `${judged.at} (${judged.commit.slice(0, 12)})`;
  const since = `since ${judged.base.slice(0, 12)} (${judged.baseName})`;
  const left = skipped.length === 0 ? [] : [`${skipped.length} not judged`];
  return [verdict, ...left, `${what} ${since}`].join(` ${glyphs.dot} `);
}

/** The report as a JSON document. Line ranges are those of the new version. */
export function blameDocument(report: BlameReport) {
  const { blame, considered, runs, seconds, experiments = [] } = report;
  const place = ({ hunk }: Considered) => ({ file: hunk.file, start: hunk.start, end: hunk.end });
  const byId = new Map(considered.map((each) => [each.hunk.id, place(each)]));
  const chosen = blamedHunks(report);
  return {
    schema: "remand.blame/1" as const,
    kind: blame === null ? ("passes" as const) : blameKind(blame),
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
    /** All suspects, the likeliest first. */
    ranking: considered.map((each) => ({ ...place(each), score: each.confidence, reasons: each.reasons })),
    experiments: experiments.map(({ without, ...run }) => ({
      ...run,
      without: without.flatMap((id) => byId.get(id) ?? []),
    })),
    explanation: blame?.explanation ?? "the check passes",
  };
}

export function blameKind({ verdict, together, newCode }: Blame) {
  if (verdict === "culprit") return newCode === true ? ("slip" as const) : ("hunk" as const);
  return verdict === "multi" && together === true ? ("joint" as const) : verdict;
}

/** The changes that the runs proved, or else those that the verdict suspects, in the ranking's order. */
export function blamedHunks({
  blame,
  considered,
  hunks,
}: Pick<BlameReport, "blame" | "considered" | "hunks">): readonly Considered[] {
  if (blame === null) return [];
  if (hunks.length > 0) return considered.filter(({ hunk }) => hunks.includes(hunk.id));
  const suspects = blame.suspects;
  return considered.filter(({ hunk }) => suspects.some(({ file, line }) => file === hunk.file && line === hunk.start));
}
