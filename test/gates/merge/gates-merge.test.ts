import { expect, test } from "vitest";
import { createMergeGate } from "../../../src/gates/merge/merge-gate.ts";
import type { MergeStatus, Integration } from "../../../src/ports/workspace.ts";
import { judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import { describeGate, gateRequest, memoryEvidence } from "../../contract/gate.ts";
import { fixedClock } from "../../kit/reviewers.ts";

const target = { branch: "main", commit: "0123456789abcdef" };

const gateOn = (standing: Omit<MergeStatus, "target">, evidence = memoryEvidence()) => ({
  gate: createMergeGate({
    integration: { mergeStatus: () => Promise.resolve({ target, ...standing }) } as unknown as Integration,
    evidence,
    clock: fixedClock,
  }),
  request: gateRequest(),
});

const CURRENT = { isCurrent: true, conflicts: [] };
const BEHIND = { isCurrent: false, conflicts: [] };
const CONFLICTING = { isCurrent: false, conflicts: ["src/pay.js", "src/cart.js"] };

describeGate("merge", {
  passing: (evidence) => Promise.resolve(gateOn(CURRENT, evidence as ReturnType<typeof memoryEvidence>)),
  failing: (evidence) => Promise.resolve(gateOn(CONFLICTING, evidence as ReturnType<typeof memoryEvidence>)),
  broken: (evidence) => Promise.resolve(gateOn(BEHIND, evidence as ReturnType<typeof memoryEvidence>)),
  slow: () => null,
});

async function judged(standing: Omit<MergeStatus, "target">) {
  const { gate, request } = gateOn(standing);
  const judgement = await gate.run(request, { signal: new AbortController().signal, onOutput: () => undefined });
  expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
  return judgement;
}

test("each file with a conflict has its own finding, with what to do about it", async () => {
  const { findings, blocking, summary } = await judged(CONFLICTING);
  expect(findings).toMatchObject([
    { file: "src/pay.js", category: "merge-conflict", severity: "critical", suggestedFix: expect.stringMatching(/./) },
    { file: "src/cart.js", category: "merge-conflict" },
  ]);
  expect(blocking).toHaveLength(2);
  expect(summary).toBe("merge: fail (conflicts with main at 0123456789ab), 2 to fix");
});

test("a target that moved without a conflict is not the work's failure", async () => {
  expect(await judged(BEHIND)).toMatchObject({
    result: "inconclusive",
    findings: [],
    summary: "merge: inconclusive (main at 0123456789ab has moved meanwhile)",
  });
});

test("a branch that contains its whole target passes, and names the commit", async () => {
  expect(await judged(CURRENT)).toMatchObject({
    result: "pass",
    summary: "merge: pass (current with main at 0123456789ab)",
  });
});
