import type { RoleName } from "../../core/events/ids.ts";
import type { PromptStory, ShownContested, ShownWork } from "../../core/stories/prompt.ts";
import type { Reading } from "../../core/stories/reading.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { verdictJsonSchema } from "../../core/schemas/gate-result.ts";
import { writeCriticPrompt, writePerspectivePrompt, writeReReviewPrompt } from "../../write/prompts/review.ts";
import type { Finding } from "../../core/gates/finding.ts";
import { readFindingAnswers, type FindingAnswer } from "../../parse/agent/agent-answer.ts";
import type { ReviewQuestion } from "./ask-reviewer.ts";
import { contestedIn, shownContested, testRunsBeside } from "./review-summary.ts";

/** What every reviewer of one judgement is shown. */
export interface ReviewMaterial {
  readonly story: PromptStory;
  readonly files: readonly string[];
  readonly work: ShownWork;
  /** The changes since the last judgement; `null` at the first. */
  readonly fix: (ShownWork & { readonly files: readonly string[] }) | null;
  readonly message: string;
  readonly practices: readonly string[];
  /** Existing tests that the work changed, for the reviewer to decide on. */
  readonly contested: readonly ShownContested[];
}

export interface MaterialOptions {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff">;
  readonly evidence: Evidence;
  readonly practices: readonly string[];
  /** Returns a phase's product, if that is not the diff. */
  productOf?(request: GateRequest): Promise<string>;
}

export async function reviewMaterial(options: MaterialOptions, request: GateRequest): Promise<ReviewMaterial> {
  const { workspace, evidence, practices } = options;
  const { story, base, tree, commit, since, message } = request;
  const product = options.productOf === undefined ? null : await options.productOf(request);
  const contested = contestedIn(testRunsBeside(request));
  const diff = product === null || contested.length > 0 ? await workspace.diff(story.id, base, tree) : "";
  const whole = (from: string): string => `git diff ${from} ${commit}`;
  return {
    story: { id: story.id, title: story.title, goal: story.body },
    files: await workspace.changedPaths(story.id, base, tree),
    work: { text: product ?? diff, wholeAt: whole(base) },
    fix:
      since === null
        ? null
        : {
            text: await workspace.diff(story.id, since, tree),
            files: await workspace.changedPaths(story.id, since, tree),
            wholeAt: whole(since),
          },
    message: message === null ? "" : ((await evidence.read(message)) ?? ""),
    practices,
    contested: await shownContested(contested, diff, workspace, request),
  };
}

export interface ReviewStage {
  /** `null` if the gate has no stages. */
  readonly name: string | null;
  readonly wanted: RoleName;
  /** The original role, even if its fallback is asked. */
  readonly part: RoleName;
  readonly goesOn: boolean;
  readonly isPerspective: boolean;
  readonly earlier: EarlierFindings;
}

/**
 * Makes the question for a stage. A reviewer that raised findings sees the fix; a reviewer that has not seen the work,
 * or has passed it, sees the work.
 */
export function reviewQuestion(request: GateRequest, material: ReviewMaterial, stage: ReviewStage): ReviewQuestion {
  const { earlier, wanted, part, goesOn } = stage;
  return {
    wanted,
    part,
    speaksAs: "critic",
    goesOn,
    outputSchema: stage.isPerspective && earlier.findings.length === 0 ? verdictJsonSchema() : null,
    shows: (looksAtFix(material, stage) ? material.fix : material.work)!.text,
    write: (rolePrompt, nonce) => writtenFor(request, material, stage, rolePrompt, nonce),
    hasMore: (replies) => leavesOne(earlier, replies),
    leftOut: (reading, replies) => leftOpen(earlier, reading, replies),
    settled: (reading, replies) => settledPass(earlier, reading, replies),
  };
}

const looksAtFix = ({ fix }: ReviewMaterial, { earlier }: ReviewStage): boolean =>
  fix !== null && earlier.findings.length > 0;

function writtenFor(
  request: GateRequest,
  { story, files, work, fix, message, practices, contested }: ReviewMaterial,
  { name, isPerspective, earlier }: ReviewStage,
  rolePrompt: string,
  nonce: string,
): string {
  const notes = testRunsBeside(request)[0]?.notes;
  const asked = {
    rolePrompt,
    story,
    practices,
    readySignal: message,
    contested,
    ...(notes === undefined ? {} : { notes }),
  };
  const stage = name === null ? {} : { stage: name };
  if (fix !== null && earlier.findings.length > 0) {
    const { text, files: filesModified, wholeAt } = fix;
    return writeReReviewPrompt(
      {
        ...asked,
        ...stage,
        findings: earlier.findings,
        fixDiff: text,
        filesModified,
        ...(wholeAt === undefined ? {} : { wholeAt }),
      },
      { nonce },
    );
  }
  if (isPerspective) {
    const { criteria } = request.story;
    return writePerspectivePrompt(
      {
        ...asked,
        perspective: name ?? "review",
        phase: request.phase,
        criteria,
        filesModified: files,
        product: work.text,
        ...(work.wholeAt === undefined ? {} : { wholeAt: work.wholeAt }),
      },
      { nonce },
    );
  }
  const passedBefore = fix !== null && request.last?.result === "pass";
  return writeCriticPrompt(
    { ...asked, ...stage, filesModified: files, work, ...(passedBefore ? { since: fix } : {}) },
    { nonce },
  );
}

/** The findings of the first review that a second one asks about, and whether each must be answered by its id. */
interface EarlierFindings {
  readonly findings: readonly Finding[];
  /**
   * Reviewers of stages answer each finding (S1.14); a critic (S2.23) or a single perspective (S4.32) answers by a pass
   * or a new list.
   */
  readonly isEachAnswered: boolean;
}

/** Whether the reviewer says that a finding is not addressed. Then a FAIL needs no other issue. */
function leavesOne({ findings }: EarlierFindings, replies: readonly string[]): boolean {
  return [...answersTo(findings, replies).values()].some(({ isAddressed }) => !isAddressed);
}

/** Returns the findings that keep a pass from counting: not answered, or called not addressed. */
function leftOpen(
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
 * Completes a PASSED that still leaves findings out after the reviewer was asked again. It becomes a fail if the newest
 * answer about any finding is NOT ADDRESSED. Otherwise it stays a pass, and the record lists the findings without an
 * answer.
 */
function settledPass(earlier: EarlierFindings, reading: Reading, replies: readonly string[]): Reading {
  if (leavesOne(earlier, replies)) return { ...reading, result: "fail" };
  const answers = answersTo(earlier.findings, replies);
  const unanswered = earlier.findings.flatMap(({ id }) => (answers.has(id) ? [] : [id]));
  const note = `Passed without an answer about ${unanswered.join(", ")}, also when asked; none was called open.`;
  return { ...reading, context: [...reading.context, note] };
}

/**
 * Returns the findings of a second review. A finding that is not addressed keeps its identity and gets the new words,
 * so that it can be followed over rounds. Every other finding is new, even at the same location.
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

/** Returns the newest answer to each finding, over all replies of one conversation. */
function answersTo(findings: readonly Finding[], replies: readonly string[]): ReadonlyMap<string, FindingAnswer> {
  const ids = findings.map(({ id }) => id);
  return new Map(replies.flatMap((reply) => [...readFindingAnswers(reply, ids)]));
}

/**
 * Whether two findings are the same: by identity, or because the reviewer names the earlier id. The location alone is
 * not enough.
 */
const isSame = (fresh: Finding, earlier: Finding): boolean =>
  fresh.id === earlier.id || fresh.message.includes(earlier.id);
