import { roleName, treeId, type RoleName } from "../../src/core/events/ids.ts";
import type { Judgement } from "../../src/core/gates/gate.ts";
import type { Agent, AgentRequest, AgentResult, RoleRegistry } from "../../src/ports/agent.ts";
import type { Workspace } from "../../src/ports/workspace.ts";
import { withPromptNonce } from "../../src/agents/scripted/scripted-agent.ts";
import { agentResult } from "../contract/agent-result.ts";

/** What a reviewer does when it is asked: says something, or ends some other way. */
export type Act = string | Partial<AgentResult> | ((request: AgentRequest) => string | Partial<AgentResult>);

export interface Asked extends AgentRequest {
  readonly role: string;
}

/** Reviewers by role, each with what it does the first time it is asked, the second, and so on; the last is repeated. */
export function scriptedReviewers(
  acts: Readonly<Record<string, readonly Act[]>>,
  asked: Asked[] = [],
  /** Roles whose agents see nothing but their prompts. */
  blind: readonly string[] = [],
): RoleRegistry {
  const agents = Object.fromEntries(
    Object.entries(acts).map(([role, list]): [string, Agent] => [
      role,
      {
        name: role,
        ...(blind.includes(role) ? { seesPromptAlone: true } : {}),
        run: (request, { signal }) => {
          asked.push({ ...request, role });
          const act = list[Math.min(request.turn, list.length - 1)]!;
          const done = typeof act === "function" ? act(request) : act;
          return Promise.resolve(signed(resultOf(signal.aborted ? { status: "cancelled" } : done), request));
        },
      },
    ]),
  );
  return {
    agentFor: (role, standingInFor = role) =>
      Promise.resolve(
        Object.hasOwn(agents, role)
          ? {
              agent: agents[role]!,
              model: null,
              prompt: `You are the ${standingInFor}.`,
              reports: "signal" as const,
              env: {},
            }
          : null,
      ),
  };
}

function resultOf(done: string | Partial<AgentResult>): AgentResult {
  const said = typeof done === "string" ? { text: done } : done;
  return agentResult({ tokens: 10, costUsd: 0.01, durationMs: 1000, ...said });
}

/** Reviewers do as the prompt asks: with a verdict they print its nonce. */
const signed = (result: AgentResult, { prompt }: AgentRequest): AgentResult => ({
  ...result,
  text: withPromptNonce(result.text, prompt),
});

type Shown = Pick<Workspace, "changedPaths" | "diff" | "fileAt">;

/** A workspace in which one file was changed; the diffs say between what. */
export function fakeWorkspace(changes: Partial<Shown> = {}): Shown {
  return {
    changedPaths: () => Promise.resolve(["src/pay.js"]),
    diff: (_story, from, to) => Promise.resolve(`diff from ${from} to ${to}\n`),
    fileAt: () => Promise.resolve("text"),
    ...changes,
  };
}

export const fixedClock = { now: () => 0, sleep: () => Promise.resolve() };

export const role = (name: string): RoleName => roleName(name);

export const judgementOf = (changes: Partial<Judgement> & Pick<Judgement, "gate" | "result">): Judgement => ({
  tree: treeId("tree-now"),
  findings: [],
  blocking: [],
  summary: `${changes.gate}: ${changes.result}`,
  evidence: [],
  durationMs: 1,
  ...changes,
});

export const PASSED =
  "REVIEW_PASSED: checkout\n\nFiles Reviewed:\n- src/pay.js\n\nQuality Assessment:\n- Naming: CONSISTENT\n\nSummary: fine\n";
export const FAILED =
  "REVIEW_FAILED: checkout\n\nFiles Reviewed:\n- src/pay.js\n\nIssues Found:\n- src/pay.js:3: the error is swallowed\n\nRequired Fixes:\n- pass the error on\n\nPriority: HIGH\n";
