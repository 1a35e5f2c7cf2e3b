import type { Finding } from "../../domain/finding.ts";
import type { Reading } from "../../domain/reading.ts";
import { readFindingAnswers } from "../../readers/finding-answers.ts";

/** What a second look asks about: the findings of the first, and whether each of them must be answered by its id. */
export interface Earlier {
  readonly findings: readonly Finding[];
  /** S1's stages want an answer to each; a critic of S2 and a view of S4 answer by a plain pass, or by a new list. */
  readonly isEachAnswered: boolean;
}

/** Does the answer say of one of them that it is not addressed? Then a FAIL needs no other issue. */
export function leavesOne({ findings }: Earlier, words: string): boolean {
  return [...answersTo(findings, words).values()].some(({ isAddressed }) => !isAddressed);
}

/** What keeps a pass from counting: a finding that it says nothing of, or that it calls not addressed. */
export function leftOpen({ findings, isEachAnswered }: Earlier, reading: Reading, words: string): string[] {
  if (reading.result !== "pass") return [];
  const answers = answersTo(findings, words);
  return findings.flatMap(({ id, message }) => {
    const answer = answers.get(id);
    if (answer?.isAddressed === false)
      return [`It passes the work, and says that the finding ${id} is not addressed: ${message}`];
    return answer === undefined && isEachAnswered ? [`Is the finding ${id} addressed, or not? ${message}`] : [];
  });
}

/**
 * The findings of a second look. What is not addressed stays the finding that it was, with the new words beside it: so
 * it can be followed from round to round, however the reviewer puts it.
 */
export function withEarlier(fresh: readonly Finding[], earlier: Earlier, reading: Reading, words: string): Finding[] {
  if (reading.result !== "fail" || earlier.findings.length === 0) return [...fresh];
  const answers = answersTo(earlier.findings, words);
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

function answersTo(findings: readonly Finding[], words: string): ReturnType<typeof readFindingAnswers> {
  return readFindingAnswers(
    words,
    findings.map(({ id }) => id),
  );
}

function isSame(fresh: Finding, earlier: Finding): boolean {
  if (fresh.id === earlier.id || fresh.message.includes(earlier.id)) return true;
  return (
    fresh.file !== undefined && fresh.file === earlier.file && fresh.line !== undefined && fresh.line === earlier.line
  );
}
