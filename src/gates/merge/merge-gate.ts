import { failureFingerprint, identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Integration } from "../../ports/workspace.ts";
import type { CreateGate } from "../gate-parts.ts";

export interface MergeOptions {
  readonly integration: Integration;
  readonly evidence: Evidence;
  readonly clock: Clock;
}

/**
 * Checks that the branch contains all of its target. Only then the merged tree is exactly the tree that the other gates
 * judged.
 */
export function createMergeGate({ integration, evidence, clock }: MergeOptions): Gate {
  return {
    name: "merge",
    criteria: () => ["the branch holds all of its target, and nothing in it contradicts the target"],
    async run(request, { signal }) {
      const beganAt = clock.now();
      if (signal.aborted) return stoppedJudgement(request);
      const { target, isCurrent, conflicts } = await integration.mergeStatus(request.story.id, request.commit);
      const on = `${target.branch} at ${target.commit.slice(0, 12)}`;
      const findings = conflicts.map((file) =>
        identifyFinding({
          severity: "critical",
          category: "merge-conflict",
          message: `this branch and ${target.branch} changed the same place`,
          source: "git",
          file,
          suggestedFix: "Resolve the marks in the file so that both sides' purpose is kept.",
        }),
      );
      const state = { isCurrent, conflicts, target };
      const shared = {
        gate: "merge",
        tree: request.tree,
        findings,
        blocking: findings.map(({ id }) => id),
        evidence: [await evidence.keep(`${JSON.stringify(state, null, 2)}\n`)],
        durationMs: clock.now() - beganAt,
      } as const;
      if (isCurrent) return { ...shared, result: "pass", summary: `merge: pass (current with ${on})` };
      if (conflicts.length === 0)
        return { ...shared, result: "inconclusive", summary: `merge: inconclusive (${on} has moved meanwhile)` };
      const summary = `merge: fail (conflicts with ${on}), ${conflicts.length} to fix`;
      return { ...shared, result: "fail", summary, failure: failureFingerprint(findings, summary) };
    },
  };
}

export const mergeGate: CreateGate = (_settings, { evidence, clock, delivery }) => {
  const integration = delivery?.integration ?? null;
  return integration === null ? null : createMergeGate({ integration, evidence, clock });
};

const stoppedJudgement = ({ tree }: GateRequest): Judgement => ({
  gate: "merge",
  tree,
  result: "error",
  findings: [],
  blocking: [],
  summary: "merge: error (it was stopped)",
  evidence: [],
  durationMs: 0,
});
