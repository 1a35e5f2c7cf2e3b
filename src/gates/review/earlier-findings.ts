import type { Finding } from "../../core/gates/finding.ts";
import type { Reading } from "../../core/stories/reading.ts";
import { readFindingAnswers, type FindingAnswer } from "../../parse/agent/agent-answer.ts";

/** What a second look asks about: the findings of the first, and whether each of them must be answered by its id. */
export interface EarlierFindings {
  readonly findings: readonly Finding[];
  /** Reviewers of stages answer each of them (S1.14); a critic (S2.23) and a single view (S4.32) answer by a pass, or by a new list. */
  readonly isEachAnswered: boolean;
}

/** Does the reviewer say of one of them that it is not addressed? Then a FAIL needs no other issue. */
export function leavesOne({ findings }: EarlierFindings, replies: readonly string[]): boolean {
  return [...answersTo(findings, replies).values()].some(({ isAddressed }) => !isAddressed);
}

/** What keeps a pass from counting at once: a finding that it says nothing of, or that it calls not addressed. */
export function leftOpen(
  { findings, isEachAnswered }: EarlierFindings,
  reading: Reading,
  replies: readonly string[],
): string[] {
  if (reading.result !== "pass") return [];
  const answers = answersTo(findings, replies);
  return findings.flatMap(({ id, message }) => {
    const answer = answers.get(id);
    if (answer?.isAddressed === false)
      return [`It passes the work, and says that the finding ${id} is not addressed: ${message}`];
    return answer === undefined && isEachAnswered ? [`Is the finding ${id} addressed, or not? ${message}`] : [];
  });
}

/**
 * What a PASSED counts as when the reviewer was asked again and still leaves something out. It fails the work if its
 * newest word about any finding is NOT ADDRESSED. If it calls none of them open, it passes the work, and the record
 * says which findings it never answered.
 */
export function settledPass(earlier: EarlierFindings, reading: Reading, replies: readonly string[]): Reading {
  if (leavesOne(earlier, replies)) return { ...reading, result: "fail" };
  const answers = answersTo(earlier.findings, replies);
  const unanswered = earlier.findings.flatMap(({ id }) => (answers.has(id) ? [] : [id]));
  const note = `Passed without an answer about ${unanswered.join(", ")}, also when asked; none was called open.`;
  return { ...reading, context: [...reading.context, note] };
}

/**
 * The findings of a second look. What is not addressed stays the finding that it was, with the new words beside it, so
 * that it can be followed from round to round. Every other finding is new, even at the same place.
 */
export function withEarlier(
  fresh: readonly Finding[],
  earlier: EarlierFindings,
  reading: Reading,
  replies: readonly string[],
): Finding[] {
  if (reading.result !== "fail" || earlier.findings.length === 0) return [...fresh];
  const answers = answersTo(earlier.findings, replies);
  const isAnswering = answers.size > 0 || earlier.isEachAnswered;
  const persisting = earlier.findings.flatMap((finding): Finding[] => {
    const answer = answers.get(finding.id);
    if (answer === undefined ? !isAnswering : answer.isAddressed) return [];
    const said = fresh.find((each) => isSame(each, finding));
    const detail = answer?.reason || said?.message;
    return [detail === undefined || detail === "" ? finding : { ...finding, detail }];
  });
  return [...persisting, ...fresh.filter((each) => !persisting.some((finding) => isSame(each, finding)))];
}

/** The newest answer to each finding, over all replies of one conversation. */
function answersTo(findings: readonly Finding[], replies: readonly string[]): ReadonlyMap<string, FindingAnswer> {
  const ids = findings.map(({ id }) => id);
  return new Map(replies.flatMap((reply) => [...readFindingAnswers(reply, ids)]));
}

/** By its identity, or because the reviewer names it by its id. The place alone says nothing. */
const isSame = (fresh: Finding, earlier: Finding): boolean =>
  fresh.id === earlier.id || fresh.message.includes(earlier.id);
