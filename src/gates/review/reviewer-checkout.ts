import type { Agent, AgentResult } from "../../ports/agent.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { CheckoutRequest, ExperimentRunner } from "../../ports/experiment-runner.ts";
import { isRecord } from "../../stdx/assert.ts";
import { shownPaths } from "../checks/read-reports.ts";

/** The folder in which one reviewer sees the work. */
export interface ReviewerFolder {
  readonly path: string;
  /** Returns a reply in which files are named as in the author's folder. */
  replyOf(result: AgentResult): AgentResult;
  /** Returns a line of output with files named the same way. */
  lineOf(line: string): string;
  close(): Promise<void>;
}

/**
 * Gives a reviewer a clean checkout of the work with its history; whatever the reviewer writes is removed with it.
 * Without an experiment runner or a tree, the reviewer gets the author's folder. An agent that sees only its prompt
 * needs no files.
 */
export async function openReviewerFolder(
  checkouts: ExperimentRunner | null,
  agent: Pick<Agent, "seesPromptAlone">,
  request: GateRequest,
  more: Pick<CheckoutRequest, "signal" | "name">,
): Promise<ReviewerFolder> {
  const { path, tree, commit, base } = request;
  if (checkouts === null || tree === "" || agent.seesPromptAlone === true)
    return { path, replyOf: (result) => result, lineOf: (line) => line, close: () => Promise.resolve() };
  const checkout = await checkouts.open({
    ...more,
    isForAgent: true,
    commit: commit === "" ? base : commit,
    tree,
    base,
  });
  const { text } = shownPaths({ path: checkout.path, workedIn: path });
  return {
    path: checkout.path,
    replyOf: (result) => withTexts(result, text),
    lineOf: text,
    close: () => checkout.close(),
  };
}

function withTexts(result: AgentResult, textOf: (text: string) => string): AgentResult {
  const { error } = result;
  return {
    ...result,
    text: textOf(result.text),
    output: inStrings(result.output, textOf),
    error: error === null ? null : { ...error, message: textOf(error.message) },
  };
}

function inStrings(value: unknown, textOf: (text: string) => string): unknown {
  if (typeof value === "string") return textOf(value);
  if (Array.isArray(value)) return value.map((each) => inStrings(each, textOf));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inStrings(each, textOf)]));
}
