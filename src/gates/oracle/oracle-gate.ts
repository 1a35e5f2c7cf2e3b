import type { CheckRun, CombineVerdicts, Judgement, Verdict } from "../../core/gates/gate.ts";
import { roleOfReviewer } from "../../core/events/policy.ts";
import type { VerificationCommand } from "../../core/stories/prompt.ts";
import { type Reading, unknownReading } from "../../core/stories/reading.ts";
import type { AgentResult } from "../../ports/agent.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { withoutNonce } from "../../parse/agent/agent-answer.ts";
import { findingFromLine } from "../../parse/agent/finding-line.ts";
import { type OracleVerdict, readOracleVerdict } from "../../parse/agent/oracle-verdict.ts";
import { writeOracleClarification, writeOraclePrompt } from "../../write/prompts/audit-and-oracle.ts";
import { mentionedCriteria } from "../audit/audit-criteria.ts";
import { distinct, findingsOf } from "../checks/verdict-findings.ts";
import { commandsIn } from "../checks/environments.ts";
import type { CreateGate } from "../gate-parts.ts";
import { type ReviewRun, type ReviewerSettings, askReviewer } from "../review/ask-reviewer.ts";
import type { ReviewerReply } from "../review/reviewer-reply.ts";
import { askingGate, spentOn, testRunsBeside } from "../review/review-summary.ts";

interface OracleOptions extends ReviewerSettings {
  readonly workspace: Pick<Workspace, "diff">;
  readonly judge: CombineVerdicts;
  /** Stopping conditions that are commands. */
  readonly commands: readonly VerificationCommand[];
  readonly judgedBy: readonly string[];
}

/**
 * S3.1: an agent that did not do the work says whether the goal is reached. Only its `pass` counts; `partial` is a
 * fail. An oracle without a readable answer has said nothing about the work.
 */
const createOracleGate = (options: OracleOptions): Gate =>
  askingGate("oracle", options, async (judging) =>
    judgementOf(options.judge, judging, await askOracle(options, judging)),
  );

export const oracleGate: CreateGate = ({ gates, environments, roles }, { reviewers, ...parts }) => {
  if (reviewers === null) return null;
  return createOracleGate({
    ...reviewers,
    evidence: parts.evidence,
    clock: parts.clock,
    workspace: parts.workspace,
    checkouts: parts.checkouts,
    judgedBy: [`the verdict of ${roles.oracle} on the goal`],
    commands: commandsIn(gates.checks.commands, environments),
  });
};

async function askOracle(options: OracleOptions, judging: ReviewRun): Promise<ReviewerReply> {
  const { request } = judging;
  const { story, base, commit, tree, message } = request;
  const makerSummary = message === null ? "" : ((await options.evidence.read(message)) ?? "");
  const work = await options.workspace.diff(story.id, base, tree);
  const runs = testRunsBeside(request).flatMap((judgement) => judgement.runs ?? []);
  return askReviewer(options, judging, {
    wanted: roleOfReviewer(request.roles, "oracle"),
    speaksAs: "auditor",
    // Each iteration is judged without the conversation about the previous one.
    goesOn: false,
    outputSchema: null,
    shows: work,
    write: (rolePrompt, nonce, { seesPromptAlone = false }) =>
      writeOraclePrompt(
        {
          rolePrompt,
          goal: story.body,
          criteria: story.criteria,
          conditions: options.commands.map(({ command }) => ({ type: "custom_command", command })),
          makerSummary,
          evidence: runs.map(runText),
          ...(seesPromptAlone ? { work } : { wholeAt: `git diff ${base} ${commit}` }),
        },
        { nonce },
      ),
    read: (result, nonce) => readingOf(result, nonce),
    clarify: (problems, nonce) => writeOracleClarification(problems, { nonce }),
  });
}

const runText = ({ check, environment, result, details }: CheckRun): { title: string; text: string } => ({
  title: `${check} (${environment}): ${result}`,
  text: details,
});

/** Reads an oracle's own form of answer. `null`: it answered by a tool, in the form of all reviewers. */
function readingOf({ output, text }: AgentResult, nonce: string): Reading | null {
  if (output !== null && output !== undefined) return null;
  const own = withoutNonce(text, nonce);
  if (own === null) return unknownReading("The line after the verdict is not the nonce of the prompt.");
  const read = readOracleVerdict(own);
  if (!read.ok) return unknownReading(...read.problems);
  const { verdict, nextHint } = read.value;
  return {
    ...unknownReading(),
    kind: "verdict",
    result: verdict === "pass" ? "pass" : "fail",
    // S3.31: the files and lines that it names are where blame starts.
    findings: verdict === "pass" ? [] : reasonsIn(read.value).map((reason) => findingFromLine(reason)),
    requiredFixes: nextHint === null || verdict === "pass" ? [] : [nextHint],
    verification: read.value.conditions.map(({ type, passed, output }) => ({
      criterion: type,
      status: passed ? "verified" : "failed",
      evidence: output,
    })),
    summary: summaryOf(read.value),
  };
}

function reasonsIn({ reasons, conditions }: OracleVerdict): string[] {
  const unmet = conditions
    .filter(({ passed }) => !passed)
    .map(({ type, output }) => `${type} does not hold: ${output}`);
  return reasons.length > 0 ? [...reasons] : unmet;
}

function summaryOf({ verdict, conditions, confidence }: OracleVerdict): string {
  const held = conditions.filter(({ passed }) => passed).length;
  const parts = [
    ...(conditions.length === 0 ? [] : [`${held} of ${conditions.length} conditions hold`]),
    ...(confidence === null ? [] : [`confidence ${confidence}`]),
  ];
  return `the oracle says ${verdict}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}

function judgementOf(
  judge: CombineVerdicts,
  judging: ReviewRun,
  reply: ReviewerReply,
): Omit<Judgement, "gate" | "tree" | "durationMs"> {
  const { tree, rules, overturned } = judging.request;
  const { reading, trouble } = reply;
  const judged = judge({
    gate: "oracle",
    tree,
    rules,
    verdicts: [verdictOf(judging.request, reply)],
    kept: [],
    overturned,
  });
  const spent = spentOn(judging, [reply]);
  const readings = reading === null ? [] : [{ role: reply.role, reading }];
  const criteria = mentionedCriteria(judging.request.story.criteria, readings);
  return {
    result: judged.result,
    findings: distinct(judged.findings),
    blocking: judged.blocking,
    ...(judged.failure === undefined ? {} : { failure: judged.failure }),
    ...(judged.stages === undefined ? {} : { stages: judged.stages }),
    ...(criteria.length === 0 ? {} : { criteria }),
    summary: reading === null ? `oracle: ${trouble}` : `oracle: ${reading.summary ?? judged.result}`,
    ...((reading?.requiredFixes.length ?? 0) === 0 ? {} : { requiredFixes: reading!.requiredFixes }),
    ...(reply.isBestEffort ? { isBestEffort: true } : {}),
    ...spent,
  };
}

function verdictOf(request: GateRequest, reply: ReviewerReply): Verdict {
  const { role, reading, trouble } = reply;
  const base = { stage: "oracle", reviewer: role };
  if (reading === null) return { ...base, result: "error", findings: [], summary: trouble };
  const result = reading.result === "pass" || reading.result === "blocked" ? reading.result : "fail";
  const findings = findingsOf(reading, { source: role, category: "goal", path: request.path });
  return { ...base, result, findings, summary: reading.summary ?? `${role} says ${result}` };
}
