import type { Dispute, StoryState } from "../domain/story-state.ts";
import type { Finding } from "../domain/finding.ts";
import { roleName, type RoleName } from "../domain/ids.ts";
import { appendWhile, isStep } from "./append-while.ts";
import { gateRequest } from "./gate-request.ts";
import type { PerformingOf } from "./performing.ts";

/** Somebody who did not raise the finding says whether it stands. Where there is nobody, it stands, and a person decides. */
export async function adjudicate({
  command,
  ledger,
  world,
  signal,
  spending,
}: PerformingOf<"adjudicate">): Promise<void> {
  const { story, finding: id, gate, role, key } = command;
  const state = ledger.story(story);
  const dispute = state.disputes.find((each) => each.finding === id);
  const finding = state.gates[gate]?.last?.findings.find((each) => each.id === id);
  if (dispute === undefined || finding === undefined) {
    const reason = "the finding is no longer there to be looked at";
    await ledger.append(story, [
      { type: "finding.adjudicated", finding: id, upheld: true, by: "engine", reason, costUsd: 0, durationMs: 0 },
    ]);
    return;
  }
  if (!(await ledger.append(story, [{ type: "step.started", step: "adjudication" }]))) return;
  const beganAt = world.clock.now();
  const place = await world.workspace.prepare(story);
  const timeoutMs = state.policy!.limits.timeoutMs.critic;
  const asking = { gate, tree: state.tree!, stages: [], since: null, answer: [], timeoutMs, key };
  const ruling = await world.adjudicator.decide(
    {
      request: gateRequest(state, place, asking),
      role,
      finding,
      disputedBy: dispute.by,
      rebuttal: dispute.rationale,
      partial: withAPart(state, dispute, finding),
    },
    { signal, onOutput: (line) => world.watcher.onOutput(command, line), meter: () => spending.meter() },
  );
  if (signal.aborted) return;
  const { upheld, by, reason, asked, costUsd, tokens } = ruling;
  await appendWhile(ledger, story, isStep("adjudication"), [
    {
      type: "finding.adjudicated",
      finding: id,
      upheld,
      by: by ?? "engine",
      reason,
      asked,
      durationMs: world.clock.now() - beganAt,
      ...(costUsd === null ? {} : { costUsd }),
      ...(tokens === null ? {} : { tokens }),
    },
  ]);
}

/** Who wrote the code, who disputes, and who raised the finding. */
function withAPart({ attempts, gates, policy }: StoryState, { by, gate }: Dispute, { source }: Finding): RoleName[] {
  const reviewers = gates[gate]?.last?.stages?.map(({ reviewer }) => reviewer) ?? [];
  const { critic, auditor } = policy!.roles;
  const raised = reviewers.length > 0 ? reviewers : [gate === "audit" ? auditor : critic];
  return [...new Set([...attempts.map(({ role }) => role), ...raised, roleName(by), roleName(source)])];
}
