import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { UNKNOWN_BASE } from "../../src/core/gates/base-failures.ts";
import type { Judgement } from "../../src/core/gates/gate.ts";
import { evidenceId, storyId, treeId, type EvidenceId } from "../../src/core/events/ids.ts";
import { RESULTS } from "../../src/core/events/error.ts";
import { bareStory } from "../../src/core/stories/story.ts";
import type { Evidence } from "../../src/ports/evidence.ts";
import type { Gate, GateRequest } from "../../src/ports/gate.ts";

/** A gate, and its request. */
export interface GateCase {
  readonly gate: Gate;
  readonly request: GateRequest;
}

export interface GateUnderTest {
  /** Good work, and bad work. */
  passing(evidence: Evidence): Promise<GateCase>;
  failing(evidence: Evidence): Promise<GateCase>;
  /** Work that cannot be judged at all. */
  broken(evidence: Evidence): Promise<GateCase>;
  /** Work that takes a minute to judge; `null` for a gate that only reads. */
  slow(evidence: Evidence): Promise<GateCase> | null;
}

export interface MemoryEvidence extends Evidence {
  readonly kept: ReadonlyMap<EvidenceId, string>;
}

export function memoryEvidence(): MemoryEvidence {
  const kept = new Map<EvidenceId, string>();
  return {
    kept,
    keep(text) {
      const id = evidenceId(`e${[...kept.values()].indexOf(text) + 1 || kept.size + 1}`);
      kept.set(id, text);
      return Promise.resolve(id);
    },
    read: (id) => Promise.resolve(kept.get(id) ?? null),
    placeOf: (id) => `/evidence/${id}`,
  };
}

/** Returns a request as the engine makes it, with defaults for everything that a case does not set. */
export function gateRequest(changes: Partial<GateRequest> = {}): GateRequest {
  return {
    story: bareStory(storyId("checkout"), "Checkout"),
    phase: "implement",
    path: "/nowhere",
    tree: treeId("tree-now"),
    commit: "commit-now",
    base: "base",
    previous: "base",
    rules: {
      failOn: { blocker: 1, critical: 1 },
      everyFinding: false,
      affectedBy: [],
      unaffectedBy: [],
      stages: [],
      stageOrder: "in-order",
      blame: false,
      onUnexplained: "send-back",
    },
    stages: [],
    since: null,
    earlier: [],
    last: null,
    beside: {},
    overturned: [],
    scope: null,
    exceptions: [],
    message: null,
    roles: presetPolicy("critic-audit").roles,
    clarifications: 2,
    asked: {},
    sessions: {},
    key: "checkout:7",
    atBase: { ...UNKNOWN_BASE, failing: [] },
    requireTest: false,
    licensed: [],
    timeoutMs: 30_000,
    ...changes,
  };
}

const control = (signal = new AbortController().signal) => ({ signal, onOutput: () => undefined });

function expectWellFormed(judgement: Judgement, { gate, request }: GateCase): void {
  expect(RESULTS).toContain(judgement.result);
  expect(judgement.gate).toBe(gate.name);
  expect(judgement.tree).toBe(request.tree);
  expect(judgement.summary).toMatch(/\w/);
  expect(judgement.durationMs).toBeGreaterThanOrEqual(0);
  const ids = judgement.findings.map((finding) => finding.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining([...judgement.blocking]));
}

/** Tests what every gate guarantees, whatever it checks. */
export function describeGate(name: string, subject: GateUnderTest): void {
  describe(`${name} keeps the gates' promises`, () => {
    test("good work passes, with evidence and no blocking findings", async () => {
      const evidence = memoryEvidence();
      const subjectCase = await subject.passing(evidence);
      const judgement = await subjectCase.gate.run(subjectCase.request, control());
      expectWellFormed(judgement, subjectCase);
      expect(judgement).toMatchObject({ result: "pass", blocking: [] });
      expect(judgement.failure).toBeUndefined();
      expect(judgement.evidence.length).toBeGreaterThan(0);
      for (const id of judgement.evidence) expect(await evidence.read(id)).toMatch(/\w/);
    });

    test("bad work fails, with blocking findings and evidence", async () => {
      const evidence = memoryEvidence();
      const subjectCase = await subject.failing(evidence);
      const judgement = await subjectCase.gate.run(subjectCase.request, control());
      expectWellFormed(judgement, subjectCase);
      expect(judgement.result).toBe("fail");
      expect(judgement.blocking.length).toBeGreaterThan(0);
      expect(judgement.failure).toMatch(/^[0-9a-f]{16}$/);
      for (const id of judgement.evidence) expect(await evidence.read(id)).toMatch(/\w/);
      expect(judgement.evidence.length).toBeGreaterThan(0);
    });

    test("the same failure has the same identity each time", async () => {
      const { gate, request } = await subject.failing(memoryEvidence());
      const [first, second] = [await gate.run(request, control()), await gate.run(request, control())];
      expect(second.failure).toBe(first.failure);
      expect(second.blocking).toEqual(first.blocking);
    });

    test("what cannot be judged is neither a pass nor the work's failure, and does not throw", async () => {
      const subjectCase = await subject.broken(memoryEvidence());
      const judgement = await subjectCase.gate.run(subjectCase.request, control());
      expectWellFormed(judgement, subjectCase);
      expect(["error", "blocked", "inconclusive"]).toContain(judgement.result);
    });

    test("a cancellation ends it at once, and the result is no pass", async () => {
      const passing = await subject.passing(memoryEvidence());
      expect((await passing.gate.run(passing.request, control(AbortSignal.abort()))).result).toBe("error");
      const slow = await subject.slow(memoryEvidence());
      if (slow === null) return;
      // The gate takes longer than the test may, so an implementation that does not stop fails here.
      const judgement = await slow.gate.run(slow.request, control(AbortSignal.timeout(300)));
      expect(judgement.result).toBe("error");
    });

    test("it can list its criteria", async () => {
      const { gate } = await subject.passing(memoryEvidence());
      expect(gate.criteria().length).toBeGreaterThan(0);
    });
  });
}
