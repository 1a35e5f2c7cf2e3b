import { describe, expect, test } from "vitest";
import { createAuditGate } from "../../../src/gates/audit/audit-gate.ts";
import { createReviewGate } from "../../../src/gates/review/review-gate.ts";
import { shownContested } from "../../../src/gates/review/review-summary.ts";
import type { ContestedTest } from "../../../src/core/gates/contested-test.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { judge } from "../../../src/decide/verdict.ts";
import { judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import { gateRequest, memoryEvidence } from "../../contract/gate.ts";
import { scriptedReviewers, fakeWorkspace, fixedClock, judgementOf, PASSED, type Asked } from "../../kit/reviewers.ts";

const DIFF = [
  "diff --git a/src/a.js b/src/a.js\n-old code\n+new code\n",
  "diff --git a/test/a.test.js b/test/a.test.js\n-equal(f(1), 1)\n+equal(f(1), 2)\n",
].join("");
const ADDS: ContestedTest = { test: "test/a.test.js > adds", why: "fails", file: "test/a.test.js" };
const PARTS = {
  evidence: memoryEvidence(),
  nonce: () => "abcdef0123456789",
  workspace: fakeWorkspace({ diff: () => Promise.resolve(DIFF) }),
  clock: fixedClock,
  judge,
  judgedBy: [],
};
const CONTROL = { signal: new AbortController().signal, onOutput: () => undefined };

describe("reviewers and contested tests", () => {
  test.each(["checks", "tdd"] as const)(
    "the critic sees those of the %s gate, and its verdict is recorded",
    async (gate) => {
      const asked: Asked[] = [];
      const review = createReviewGate({
        ...PARTS,
        roleRegistry: scriptedReviewers({ critic: [PASSED] }, asked),
        practices: [],
      });
      const beside = { [gate]: judgementOf({ gate, result: "pass", contested: [ADDS] }) };
      const judgement = await review.run(gateRequest({ beside }), CONTROL);
      expect(judgement).toMatchObject({ result: "pass", contested: [ADDS] });
      expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
      expect(asked[0]!.prompt).toContain("| -equal(f(1), 1)\n| +equal(f(1), 2)");
      expect(asked[0]!.prompt).toContain("- test/a.test.js > adds: fails in its base version");
      const none = await review.run(gateRequest({ beside: {} }), CONTROL);
      expect(none).not.toHaveProperty("contested");
    },
  );

  test("the auditor sees them too", async () => {
    const asked: Asked[] = [];
    const audit = createAuditGate({
      ...PARTS,
      roleRegistry: scriptedReviewers({ auditor: ["AUDIT_PASSED: checkout\n\nSummary: all well\n"] }, asked),
      commands: [],
      verify: null,
    });
    const beside = { checks: judgementOf({ gate: "checks", result: "pass", contested: [ADDS] }) };
    expect(await audit.run(gateRequest({ beside }), CONTROL)).toMatchObject({ result: "pass", contested: [ADDS] });
    expect(asked[0]!.prompt).toContain("| -equal(f(1), 1)");
    expect(asked[0]!.prompt).not.toContain("| -old code");
  });
});

test("a contested test's file is found in the diff by its old and its new name", async () => {
  const moved = "diff --git a/test/old.js b/test/new.js\nrename from test/old.js\n";
  const shown = (each: ContestedTest, diff: string) => shownContested([each], diff, PARTS.workspace, gateRequest());
  const at = async (file: string) => (await shown({ ...ADDS, file }, `${DIFF}${moved}`))[0]!.diff;
  expect(await at("test/old.js")).toBe(moved);
  expect(await at("test/new.js")).toBe(moved);
  expect(await at("old.js")).toBeUndefined();
  expect(await shown({ test: "adds", why: "removed" }, DIFF)).toEqual([{ test: "adds", why: "removed" }]);
});

test("a test that was passed earlier in the story is shown with its changes since then", async () => {
  const asked: Asked[] = [];
  const workspace = fakeWorkspace({
    diff: (_story, from) => Promise.resolve(from === "seen" ? DIFF.replaceAll("f(1), 1", "f(1), 7") : DIFF),
  });
  const review = createReviewGate({
    ...PARTS,
    workspace,
    roleRegistry: scriptedReviewers({ critic: [PASSED] }, asked),
    practices: [],
  });
  const contested = [{ ...ADDS, isOfStory: true } as const];
  const beside = { checks: judgementOf({ gate: "checks", result: "pass", contested }) };
  const judgement = await review.run(gateRequest({ beside, seenTree: treeId("seen") }), CONTROL);
  expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
  expect(asked[0]!.prompt).toContain("- test/a.test.js > adds: fails in the version that was passed earlier");
  expect(asked[0]!.prompt).toContain("test/a.test.js: - version passed earlier, + version of the work");
  expect(asked[0]!.prompt).toContain("| -equal(f(1), 7)");
});
