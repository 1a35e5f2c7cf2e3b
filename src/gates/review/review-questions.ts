import type { RoleName } from "../../core/events/ids.ts";
import type { PromptStory, ShownContested, ShownWork } from "../../core/stories/prompt.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { verdictJsonSchema } from "../../core/schemas/gate-result.ts";
import { writeCriticPrompt, writePerspectivePrompt, writeReReviewPrompt } from "../../write/prompts/review.ts";
import type { ReviewQuestion } from "./ask-reviewer.ts";
import { type EarlierFindings, leavesOne, leftOpen, settledPass } from "./earlier-findings.ts";
import { contestedIn, shownContested, testRunsBeside } from "./review-summary.ts";

/** What every reviewer of one judgement is shown. */
export interface ReviewMaterial {
  readonly story: PromptStory;
  readonly files: readonly string[];
  readonly work: ShownWork;
  /** What changed since the last judgement, where there was one. */
  readonly fix: (ShownWork & { readonly files: readonly string[] }) | null;
  readonly message: string;
  readonly practices: readonly string[];
  /** Existing tests that the work changed, for the reviewer to rule on. */
  readonly contested: readonly ShownContested[];
}

export interface MaterialOptions {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff">;
  readonly evidence: Evidence;
  readonly practices: readonly string[];
  /** What the phase made, where that is not the diff. */
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
  /** `null` where the gate has no parts. */
  readonly name: string | null;
  readonly wanted: RoleName;
  /** The role whose part it is, also where its fallback plays it. */
  readonly part: RoleName;
  readonly goesOn: boolean;
  readonly isPerspective: boolean;
  readonly earlier: EarlierFindings;
}

/** Who raised findings looks at the fix; who has not seen the work, or has passed it, looks at the work. */
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
