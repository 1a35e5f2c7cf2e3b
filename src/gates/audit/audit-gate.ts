import { VERIFICATION } from "../../core/gates/registry.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { CriterionResult, Judgement, CombineVerdicts, Verdict } from "../../core/gates/gate.ts";
import { ENGINE_ROLE } from "../../core/events/ids.ts";
import type { VerificationCommand } from "../../core/stories/prompt.ts";
import type { Reading } from "../../core/stories/reading.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { writeAuditorPrompt } from "../../write/prompts/audit-and-oracle.ts";
import { type ReviewRun, type ReviewerSettings, askReviewer } from "../review/ask-reviewer.ts";
import type { ReviewerReply } from "../review/reviewer-reply.ts";
import { distinct, findingsOf } from "../checks/verdict-findings.ts";
import {
  criteriaResults,
  criterionMeant,
  disagreementOf,
  refutedCommands,
  refutedFinding,
  runsOf,
  unmentionedCriteria,
} from "./audit-criteria.ts";
import type { CreateGate } from "../gate-parts.ts";
import { commandsIn } from "../checks/environments.ts";
import {
  NO_PARTICULARS,
  askingGate,
  bestEffortWords,
  contestedIn,
  shownContested,
  spentOn,
  testRunsBeside,
  reviewError,
} from "../review/review-summary.ts";

export interface AuditOptions extends ReviewerSettings {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff">;
  /** The rule that makes one result of several verdicts. */
  readonly judge: CombineVerdicts;
  /** The commands that the auditor is told to run. */
  readonly commands: readonly VerificationCommand[];
  /** Runs the checks on the tree, in a phase without another gate that does; `null` if there are no commands. */
  readonly verify: Gate["run"] | null;
  readonly judgedBy: readonly string[];
}

/**
 * Lets an auditor verify each criterion of the story, and compares the auditor's report with the engine's own runs of
 * the checks: an exit code outweighs it. An auditor that crashes, gives no answer or leaves out a criterion has not
 * passed the work.
 */
export const createAuditGate = (options: AuditOptions): Gate =>
  askingGate("audit", options, async (judging) => {
    const { request, control } = judging;
    const stopped = "stopped before it ended";
    const checks = await engineRuns(options, request, control);
    if (control.signal.aborted) return reviewError("audit", stopped);
    // Do not pay an auditor while the environment is broken.
    if (checks?.result === "blocked" || checks?.result === "error") {
      const { result, summary, evidence, runs = [] } = checks;
      return reviewError("audit", summary, { result, runs, evidence });
    }
    const reply = await runAudit(options, judging, checks);
    if (control.signal.aborted) return reviewError("audit", stopped, spentOn(judging, [reply]));
    return judgementOf(options.judge, judging, reply, checks);
  });

export const auditGate: CreateGate = ({ gates, environments, roles }, parts) => {
  const { reviewers, evidence, clock, workspace, checkouts } = parts;
  if (reviewers === null) return null;
  const { commands } = gates.checks;
  return createAuditGate({
    ...reviewers,
    evidence,
    clock,
    workspace,
    checkouts,
    judgedBy: [`an audit of each acceptance criterion by ${roles.auditor}`],
    commands: commandsIn(commands, environments),
    verify: commands.length === 0 ? null : (parts.gate("checks")?.run ?? null),
  });
};

/** Returns the engine's runs on exactly this tree. What another gate already ran is not run again. */
async function engineRuns(
  { verify }: AuditOptions,
  request: GateRequest,
  control: ReviewRun["control"],
): Promise<Judgement | null> {
  return testRunsBeside(request)[0] ?? (verify === null ? null : await verify(request, control));
}

async function runAudit(options: AuditOptions, judging: ReviewRun, checks: Judgement | null): Promise<ReviewerReply> {
  const { request } = judging;
  const { story, base, commit, tree, roles, beside, earlier } = request;
  const filesModified = await options.workspace.changedPaths(story.id, base, tree);
  const work = await options.workspace.diff(story.id, base, tree);
  const critic = beside.review;
  const contested = await shownContested(
    contestedIn([checks, ...testRunsBeside(request)]),
    work,
    options.workspace,
    request,
  );
  return askReviewer(options, judging, {
    wanted: roles.auditor,
    speaksAs: "auditor",
    goesOn: true,
    outputSchema: null,
    shows: work,
    write: (rolePrompt, nonce, { seesPromptAlone = false }) =>
      writeAuditorPrompt(
        {
          rolePrompt,
          story: { id: story.id, title: story.title, goal: story.body },
          criteria: story.criteria,
          filesModified,
          quality: critic?.quality ?? {},
          criticSummary:
            critic?.stages
              ?.map(({ summary }) => summary ?? "")
              .join(" ")
              .trim() ??
            critic?.summary ??
            "",
          commands: options.commands,
          runs: checks?.runs ?? [],
          ...(checks?.notes === undefined ? {} : { notes: checks.notes }),
          contested,
          earlier,
          // An agent that can read files gets only a command, and pays only for what it reads.
          ...(seesPromptAlone ? { work } : { wholeAt: `git diff ${base} ${commit}` }),
        },
        { nonce },
      ),
    leftOut: (reading) => (reading.result === "pass" ? unmentionedCriteria(story.criteria, reading) : []),
  });
}

/** Makes the judgement. The engine's own runs count as a verdict, unless a person waived them. */
function judgementOf(
  judge: CombineVerdicts,
  judging: ReviewRun,
  reply: ReviewerReply,
  checks: Judgement | null,
): Omit<Judgement, "gate" | "tree" | "durationMs"> {
  const { request } = judging;
  const { reading } = reply;
  const engine = checks?.runs ?? [];
  // Failed checks before this gate were waived by a person: they are shown, and not counted again.
  const isWaived = request.beside.checks !== undefined && request.beside.checks.result !== "pass";
  const counted = isWaived ? [] : engine;
  const findings = reading === null ? [] : auditFindings(request, reply, reading, counted);
  const verdicts = [verdictOf(reply, findings), ...verification(checks, isWaived || engine.length === 0)];
  const { tree, rules, overturned } = request;
  const judged = judge({ gate: "audit", tree, rules, verdicts, kept: [], overturned });
  const disagreement = reading === null ? null : disagreementOf(reading, counted, request.beside.review, findings);
  const context = [
    ...(reading?.context ?? []),
    ...(disagreement === null ? [] : [`Disagreement: ${disagreement}`]),
    ...(reply.isBestEffort ? [NO_PARTICULARS] : []),
  ];
  const runs = runsOf(engine, reading);
  const isRefuted = reading !== null && refutedCommands(counted, reading).length > 0;
  const hasFailed = checks !== null && checks.result !== "pass";
  const contested = contestedIn([checks, ...testRunsBeside(request)]);
  const { evidence, ...spent } = spentOn(judging, [reply]);
  return {
    result: judged.result,
    findings: distinct(judged.findings),
    blocking: judged.blocking,
    ...(judged.failure === undefined ? {} : { failure: judged.failure }),
    ...(judged.stages === undefined ? {} : { stages: judged.stages }),
    ...(judged.conflicts === undefined ? {} : { conflicts: judged.conflicts }),
    summary: summaryOf(judged.result, judged.summary, reply),
    criteria: reading === null ? [] : criteriaFor(request, reading),
    runs,
    ...(contested.length === 0 ? {} : { contested }),
    ...(context.length === 0 ? {} : { context }),
    ...((reading?.requiredFixes.length ?? 0) === 0 ? {} : { requiredFixes: reading!.requiredFixes }),
    ...(disagreement === null ? {} : { disagreement }),
    ...(reply.isBestEffort ? { isBestEffort: true } : {}),
    // Runs that passed do not explain a failure, unless the auditor says that they fail.
    evidence: [
      ...evidence,
      ...(judged.result === "fail" && !isWaived && (hasFailed || isRefuted) ? (checks?.evidence ?? []) : []),
    ],
    ...spent,
  };
}

function verdictOf({ role, reading, trouble }: ReviewerReply, findings: readonly Finding[]): Verdict {
  const base = { stage: "audit", reviewer: role };
  if (reading === null) return { ...base, result: "error", findings: [], summary: trouble };
  const result = reading.result === "pass" || reading.result === "blocked" ? reading.result : "fail";
  return { ...base, result, findings, summary: reading.summary ?? findings[0]?.message ?? `${role} says ${result}` };
}

/** Returns the engine's runs as one more verdict; none if nothing ran. */
function verification(checks: Judgement | null, isSilent: boolean): Verdict[] {
  if (checks === null || isSilent) return [];
  const { result, findings, blocking, summary } = checks;
  return [
    {
      stage: VERIFICATION,
      reviewer: ENGINE_ROLE,
      result,
      findings: result === "pass" ? [] : findings.filter(({ id }) => blocking.includes(id)),
      summary,
    },
  ];
}

function auditFindings(
  request: GateRequest,
  reply: ReviewerReply,
  reading: Reading,
  engine: Judgement["runs"] & object,
): Finding[] {
  const { role } = reply;
  if (reply.isBestEffort) {
    const said = bestEffortWords(reply);
    const message = "the audit was failed without particulars, even when asked for them";
    return [
      identifyFinding({
        severity: "major",
        category: "unspecified",
        source: role,
        message,
        ...(said === "" ? {} : { detail: said }),
      }),
    ];
  }
  const { criteria } = request.story;
  const meant = reading.findings.map((finding) => ({
    ...finding,
    criterion: finding.criterion === null ? null : criterionMeant(criteria, finding.criterion),
  }));
  const listed = findingsOf({ ...reading, findings: meant }, { source: role, category: "audit", path: request.path });
  return distinct([
    ...listed,
    ...(reading.result === "fail" ? refutedCommands(engine, reading).map((claim) => refutedFinding(role, claim)) : []),
  ]);
}

/**
 * Returns the criteria's results. A failed audit keeps earlier passes of criteria that it does not mention; a passed
 * audit must confirm each criterion.
 */
function criteriaFor({ story, last }: GateRequest, reading: Reading): CriterionResult[] {
  return criteriaResults(story.criteria, reading).map((result) => {
    const before = last?.criteria?.find(({ criterion }) => criterion === result.criterion);
    if (reading.result !== "fail" || result.status !== "unknown" || before?.status !== "verified") return result;
    return { ...before, evidence: `${before.evidence} (in the audit before)`.trim() };
  });
}

function summaryOf(result: Judgement["result"], summary: string, { trouble, reading }: ReviewerReply): string {
  if (result === "error" && trouble !== "") return `audit: ${trouble}`;
  if (result !== "blocked" || reading === null) return summary;
  const broken = reading.preExisting.length > 0 ? reading.preExisting.join("; ") : (reading.summary ?? "");
  return broken === "" ? "audit: the auditor reports that its environment is broken" : `audit: ${broken}`;
}
