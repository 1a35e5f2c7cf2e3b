import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Judgement, StageResult, CombineVerdicts, Verdict } from "../../core/gates/gate.ts";
import type { RoleName } from "../../core/events/ids.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { mentionedCriteria } from "../audit/audit-criteria.ts";
import { distinct, findingsOf } from "../checks/verdict-findings.ts";
import { type ReviewRun, type ReviewerSettings, askReviewer, inTurn } from "./ask-reviewer.ts";
import type { ReviewerReply } from "./reviewer-reply.ts";
import {
  type MaterialOptions,
  type ReviewMaterial,
  type ReviewStage,
  reviewMaterial,
  reviewQuestion,
  withEarlier,
} from "./review-questions.ts";
import type { CreateGate, GateSettings } from "../gate-parts.ts";
import { NO_PARTICULARS, askingGate, bestEffortWords, contestedIn, spentOn, reviewError } from "./review-summary.ts";

export interface ReviewOptions extends ReviewerSettings, MaterialOptions {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff">;
  /** The rule that makes one result of several verdicts. */
  readonly judge: CombineVerdicts;
  /** The reviewers and their criteria, for the brief. */
  readonly judgedBy: readonly string[];
}

/** A reviewer's reply about one stage. */
interface StageReply {
  readonly stage: ReviewStage;
  readonly reply: ReviewerReply;
  readonly verdict: Verdict;
}

/**
 * Lets reviewers judge the work: one critic, stages in order up to the first that fails, or several perspectives side
 * by side. The result is made by the `judge` rule. A reviewer that crashes, gives no answer or contradicts itself has
 * given no verdict: that is an error of the gate.
 */
export const createReviewGate = (options: ReviewOptions): Gate =>
  askingGate("review", options, async (judging) => {
    const material = await reviewMaterial(options, judging.request);
    const seen = await askStages(options, judging, material);
    const replies = seen.map(({ reply }) => reply);
    if (judging.control.signal.aborted)
      return reviewError("review", "stopped before it ended", spentOn(judging, replies));
    return judgementOf(options.judge, judging, seen);
  });

export const reviewGate: CreateGate = (settings, { reviewers, evidence, clock, workspace, checkouts }) =>
  reviewers === null
    ? null
    : createReviewGate({ ...reviewers, evidence, clock, workspace, checkouts, judgedBy: reviewersNamed(settings) });

function reviewersNamed({ gates, roles }: GateSettings): readonly string[] {
  const { stages, perspectives } = gates.review;
  const parts = perspectives.length > 0 ? perspectives : stages;
  if (parts.length === 0) return [`a review by ${roles.critic}`];
  return parts.map((part) => `a review of ${part} by ${roles.stage[part] ?? roles.critic}`);
}

async function askStages(options: ReviewOptions, judging: ReviewRun, material: ReviewMaterial): Promise<StageReply[]> {
  const { request } = judging;
  const stages = await stagesOf(options, request);
  const askStage = async (stage: ReviewStage): Promise<StageReply> => {
    const reply = await askReviewer(options, judging, reviewQuestion(request, material, stage));
    return { stage, reply, verdict: verdictOf(request, stage, reply) };
  };
  if (request.rules.stageOrder === "side-by-side" && stages.length > 1) return sideBySide(stages, askStage);
  const replies: StageReply[] = [];
  for (const stage of stages) {
    const one = await askStage(stage);
    replies.push(one);
    // Stages after one that did not pass are not run: they run when that one passes.
    const { result } = options.judge({ ...reviewInputOf(request, [one]), kept: [] });
    if (result !== "pass" || judging.control.signal.aborted) break;
  }
  return replies;
}

/**
 * Asks all stages at the same time. Stages of the same role run one after the other, because it is one agent with one
 * script.
 */
async function sideBySide(
  stages: readonly ReviewStage[],
  askStage: (stage: ReviewStage) => Promise<StageReply>,
): Promise<StageReply[]> {
  const groups = new Map<RoleName, ReviewStage[]>();
  for (const stage of stages) groups.set(stage.wanted, [...(groups.get(stage.wanted) ?? []), stage]);
  const reply = await Promise.all(
    [...groups.values()].map(async (group) => {
      const replies: StageReply[] = [];
      for (const stage of group) replies.push(await askStage(stage));
      return replies;
    }),
  );
  return reply.flat().toSorted((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage));
}

/**
 * Returns the stages to run and their reviewers: the last reviewer of the stage, else the role's agent, else its
 * fallback.
 */
async function stagesOf({ roleRegistry }: ReviewOptions, request: GateRequest): Promise<ReviewStage[]> {
  const { rules, roles, last, earlier } = request;
  const names = rules.stages.length === 0 ? [null] : stagesToAsk(request);
  const isPerspective = rules.stageOrder === "side-by-side" && rules.stages.length > 0;
  const cast = await Promise.all(
    names.map(async (name) => {
      const original = last?.stages?.find(({ stage }) => stage === (name ?? "review"))?.reviewer;
      const configured = (name === null ? undefined : roles.stage[name]) ?? roles.critic;
      for (const role of [...(original === undefined ? [] : [original]), ...inTurn(configured, roles.fallback)])
        if ((await roleRegistry.agentFor(role)) !== null) return { name, wanted: role, part: configured };
      return { name, wanted: configured, part: configured };
    }),
  );
  return cast.map(({ name, wanted, part }) => ({
    name,
    wanted,
    part,
    isPerspective,
    goesOn: cast.filter((other) => other.wanted === wanted).length === 1,
    earlier: {
      findings: earlier.filter(({ stage }) => name === null || stage === name),
      isEachAnswered: rules.stages.length > 0 && !isPerspective,
    },
  }));
}

function verdictOf(request: GateRequest, { name, earlier }: ReviewStage, reply: ReviewerReply): Verdict {
  const stage = name ?? "review";
  const { reading, role } = reply;
  const base = { stage, reviewer: role };
  if (reading === null) return { ...base, result: "error", findings: [], summary: reply.trouble };
  const result = reading.result === "pass" ? "pass" : "fail";
  const listed = findingsOf(reading, { source: role, category: stage, path: request.path });
  const findings = reply.isBestEffort
    ? [unspecifiedFinding(role, reply)]
    : distinct(withEarlier(listed, earlier, reading, reply.replies));
  return { ...base, result, findings, summary: reading.summary ?? findings[0]?.message ?? "" };
}

function unspecifiedFinding(source: RoleName, reply: ReviewerReply): Finding {
  const said = bestEffortWords(reply);
  return identifyFinding({
    severity: "major",
    category: "unspecified",
    source,
    message: "the work was failed without particulars, even when asked for them",
    ...(said === "" ? {} : { detail: said }),
  });
}

function reviewInputOf(request: GateRequest, replies: readonly StageReply[]): Parameters<CombineVerdicts>[0] {
  const { tree, rules, overturned } = request;
  return {
    gate: "review",
    tree,
    rules,
    verdicts: replies.map(({ verdict }) => verdict),
    kept: keptStages(request),
    overturned,
  };
}

/** Returns passed stages before the failed one, which do not run again. */
function keptStages({ rules, stages, last }: GateRequest): readonly StageResult[] {
  if (stages.length === 0) return [];
  return (last?.stages ?? []).filter(
    ({ stage, result }) => rules.stages.includes(stage) && !stages.includes(stage) && result === "pass",
  );
}

/** Returns the requested stages and all that have not passed yet: a stage that never ran is not a pass. */
function stagesToAsk(request: GateRequest): readonly string[] {
  const kept = keptStages(request).map(({ stage }) => stage);
  return request.rules.stages.filter((stage) => !kept.includes(stage));
}

function judgementOf(
  judge: CombineVerdicts,
  judging: ReviewRun,
  replies: readonly StageReply[],
): Omit<Judgement, "gate" | "tree" | "durationMs"> {
  const { gate: _gate, tree: _tree, ...judged } = judge(reviewInputOf(judging.request, replies));
  const conversations = replies.map(({ reply }) => reply);
  const troubles = conversations.flatMap(({ trouble }) => (trouble === "" ? [] : [trouble]));
  const isBestEffort = conversations.some((reply) => reply.isBestEffort);
  const readings = replies.flatMap(({ reply, stage }) =>
    reply.reading === null ? [] : [{ reading: reply.reading, stage, role: reply.role }],
  );
  const { story, last } = judging.request;
  const keptCriteria = keptStages(judging.request).length === 0 ? [] : (last?.criteria ?? []);
  const criteria = mentionedCriteria(story.criteria, readings, keptCriteria);
  const context = readings.flatMap(({ reading }) => reading.context);
  const fixes = readings.flatMap(({ reading }) => (reading.result === "fail" ? reading.requiredFixes : []));
  const quality = readings.flatMap(({ reading, stage }) =>
    Object.entries(reading.quality).map(([aspect, said]) => [
      stage.name === null ? aspect : `${stage.name}: ${aspect}`,
      said,
    ]),
  );
  const { checks, tdd } = judging.request.beside;
  const contested = contestedIn([checks, tdd]);
  return {
    ...judged,
    findings: distinct(judged.findings),
    ...(contested.length === 0 ? {} : { contested }),
    ...(criteria.length === 0 ? {} : { criteria }),
    summary: judged.result === "error" ? `review: ${troubles.join("; ")}` : judged.summary,
    ...(context.length + Number(isBestEffort) === 0
      ? {}
      : { context: [...context, ...(isBestEffort ? [NO_PARTICULARS] : [])] }),
    ...(fixes.length === 0 ? {} : { requiredFixes: [...new Set(fixes)] }),
    ...(quality.length === 0 ? {} : { quality: Object.fromEntries(quality) as Record<string, string> }),
    ...(isBestEffort ? { isBestEffort } : {}),
    ...spentOn(judging, conversations),
  };
}
