import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import type { Event, Recorded } from "../../../src/core/events/event.ts";
import type { GateName, Judgement } from "../../../src/core/gates/gate.ts";
import { evidenceId, roleName, storyId, treeId } from "../../../src/core/events/ids.ts";
import { fold } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { dailyMetrics } from "../../../src/views/board/cost.ts";
import { writeFailedTasks } from "../../../src/write/reports/rework-log.ts";
import { escalateStory } from "../../../src/decide/escalate.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import { trailOf } from "../../../src/views/story/trail.ts";
import { answer, attemptEnd, blameEvent, judgement, recordedEvent, story } from "../../kit/story-world.ts";

const DAY = 86_400_000;
const START: Recorded[] = [
  recordedEvent(0, null, { type: "policy.set", policy: presetPolicy("factory"), by: "test" }),
  recordedEvent(0, "a", { type: "story.added", story: story("a") }),
  recordedEvent(0, "a", { type: "story.started", by: "engine" }),
  recordedEvent(0, "a", { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] }),
];

const started = (attempt: number, reworkOf: GateName | null): Event => ({
  type: "attempt.started",
  attempt,
  phase: "implement",
  role: roleName("tdd-pair"),
  reworkOf,
  brief: null,
  forecastUsd: null,
});

const back = (gate: GateName | "person"): Event => ({
  type: "work.sent-back",
  gate,
  variant: "tdd",
  failure: 1,
  failureLimit: 3,
  route: { phase: "implement", role: roleName("tdd-pair"), tddPhase: "green", reason: `the ${gate} gate failed` },
  scope: { allow: [], deny: [], tests: "open", exceptions: "never", reason: "" },
  brief: evidenceId("b"),
});

/** One failure of a gate, sent back, reworked, and judged again. */
function reworked(gate: GateName, more: Partial<Judgement>, then: Event[]): Recorded[] {
  const events: Event[] = [
    started(1, null),
    attemptEnd(1, { type: "ready" }, "t1"),
    { type: "gate.judged", judgement: judgement(gate, "t1", "fail", { more }) },
    back(gate),
    started(2, gate),
    attemptEnd(2, { type: "ready" }, "t2", { summary: "added error handling" }),
    ...then,
  ];
  return [...START, ...events.map((event, i) => recordedEvent(1000 * (i + 1), "a", event))];
}

const passes = (gate: GateName): Event => ({ type: "gate.judged", judgement: judgement(gate, "t2", "pass") });
const recordsOf = (lines: readonly Recorded[]) => trailOf(lines, fold(lines, EMPTY_RUN)).reworks[0]!.records;

const mutant = identifyFinding({
  severity: "major",
  category: "mutation",
  message: "replaced > with >=",
  source: "stryker",
  file: "src/a.ts",
  line: 55,
  suggestedFix: "Test the boundary",
});

describe("the log of reworks", () => {
  it("records a review's findings, the role that got them, and that they were fixed", () => {
    const stages = [
      { stage: "spec-compliance", result: "pass", reviewer: roleName("r") },
      { stage: "code-quality", result: "fail", reviewer: roleName("r") },
    ] as const;
    expect(recordsOf(reworked("review", { stages }, [passes("review")]))).toMatchObject([
      {
        gate: "review",
        attempt: 1,
        at: 4000,
        trigger: { type: "findings", stage: "code-quality", findings: [{ file: "src/f0.ts" }] },
        actionTaken: "Routed to tdd-pair (GREEN) with findings list",
        outcome: "Fixed -- added error handling, re-review passed",
      },
    ]);
  });

  it.each<readonly [GateName, Partial<Judgement>, object]>([
    [
      "mutation",
      { findings: [mutant], blocking: [mutant.id], summary: "95%" },
      {
        type: "survivors",
        survivors: [
          { file: "src/a.ts", line: 55, mutation: "replaced > with >=", recommendedTest: "Test the boundary" },
        ],
        score: "95%",
      },
    ],
    [
      "tdd",
      { tddPhase: "green", summary: "2 tests fail" },
      { type: "tdd", phase: "green", output: "2 tests fail", concerns: [] },
    ],
    ["ci", { ciClass: "build", summary: "log" }, { type: "ci", classification: "build", output: "log" }],
    [
      "checks",
      {
        runs: [
          {
            check: "npm test",
            command: "npm test",
            environment: "node20",
            result: "fail",
            exitCode: 1,
            details: "1 failed",
          },
        ],
      },
      { type: "checks", failures: [{ check: "npm test", environment: "node20", details: "1 failed" }] },
    ],
    [
      "checks",
      { findings: [], blocking: [], summary: "red" },
      { type: "checks", failures: [{ check: "checks", environment: "", details: "red" }] },
    ],
    [
      "audit",
      {
        criteria: [
          { criterion: "AC1", status: "failed", evidence: "no" },
          { criterion: "AC2", status: "verified", evidence: "" },
        ],
      },
      { type: "criteria", failed: [{ criterion: "AC1", reason: "no" }] },
    ],
    [
      "integrity",
      { findings: [], blocking: [], summary: "a test was deleted" },
      { type: "reasons", reasons: ["a test was deleted"] },
    ],
    ["merge", {}, { type: "reasons", reasons: ["broken 0x"] }],
  ])("includes the data of the %s gate", (gate, more, trigger) => {
    expect(recordsOf(reworked(gate, more, [passes(gate)]))[0]!.trigger).toMatchObject(trigger);
  });

  it("records that they were not fixed, are not judged yet, or never will be", () => {
    const again: Event = { type: "gate.judged", judgement: judgement("review", "t2", "fail", { failure: "other" }) };
    const broke: Event = { type: "gate.judged", judgement: judgement("review", "t2", "error") };
    expect(recordsOf(reworked("review", {}, [broke, again]))[0]!.outcome).toBe(
      "Not fixed -- added error handling, re-review failed: review says fail",
    );
    expect(recordsOf(reworked("review", {}, []))[0]!.outcome).toBe("In progress");
    expect(recordsOf(reworked("review", {}, [answer("abandon")]))[0]!.outcome).toBe(
      "Not judged again -- the story is abandoned",
    );
  });

  it("counts reworks per gate, without those of a person", () => {
    const lines = [
      ...reworked("review", {}, [passes("review")]),
      ...[back("person"), back("mutation"), back("review")].map((event, i) => recordedEvent(9000 + i, "a", event)),
    ];
    expect(recordsOf(lines).map(({ gate, attempt }) => `${gate} ${attempt}`)).toEqual([
      "review 1",
      "mutation 1",
      "review 2",
    ]);
  });
});

describe("the rest of the trail", () => {
  it("lists abandoned stories in order of time, with the failures of each review", () => {
    const lines = [
      ...reworked("review", {}, []),
      recordedEvent(1, "b", { type: "story.added", story: story("b") }),
      recordedEvent(9000, "b", { type: "story.failed", how: "exhausted", reason: "too often" }),
      recordedEvent(9500, "a", { type: "story.failed", how: "set-aside", reason: "skipped" }),
    ];
    expect(trailOf(lines, fold(lines, EMPTY_RUN)).failed).toEqual([
      { taskId: "b", reason: "too often", reviewAttempts: 0, auditAttempts: 0 },
      { taskId: "a", reason: "skipped", reviewAttempts: 1, auditAttempts: 0 },
    ]);
  });

  // S0.34
  it("lists a story as soon as a gate has reached its failure limit, with the person who took it up", () => {
    const reason = { type: "budget", budget: "failures:audit", used: 3, limit: 3 } as const;
    const lines = [...reworked("audit", {}, [])];
    const { stories } = fold(lines, EMPTY_RUN);
    const escalation = escalateStory(lookup(stories, storyId("a"), byText)!, reason, "audit");
    lines.push(recordedEvent(9000, "a", { type: "escalation.raised", escalation }));
    const failedOf = (all: readonly Recorded[]) => trailOf(all, fold(all, EMPTY_RUN)).failed;
    const task = { taskId: "a", reason: "audit_failure_limit", reviewAttempts: 0, auditAttempts: 1 };
    expect(failedOf(lines)).toEqual([task]);
    const answered = [...lines, recordedEvent(9500, "a", answer("send-back", { by: "Ada", message: "use the table" }))];
    expect(failedOf(answered)).toEqual([{ ...task, takenUpBy: "Ada" }]);
    expect(writeFailedTasks(failedOf(answered))).toContain('"taken_up_by": "Ada"');
  });

  // S3.27
  it("sums up a code location over all stories", () => {
    const of = (id: string, costUsd: number): Recorded[] =>
      (
        [
          { type: "story.added", story: story(id) },
          { type: "story.started", by: "engine" },
          { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] },
          started(1, null),
          attemptEnd(1, { type: "ready" }, "t1"),
          { type: "gate.judged", judgement: judgement("tdd", "t1", "fail") },
          blameEvent("tdd", "culprit", "src/a.ts"),
          back("tdd"),
          started(2, "tdd"),
          attemptEnd(2, { type: "ready" }, "t2", { costUsd }),
          { type: "gate.judged", judgement: judgement("tdd", "t2", "pass") },
        ] as Event[]
      ).map((event, i) => recordedEvent(1000 * i, id, event));
    const lines = [START[0]!, ...of("a", 0.5), ...of("b", 0.25)];
    expect(trailOf(lines, fold(lines, EMPTY_RUN)).locations).toEqual([
      { file: "src/a.ts", attempts: 2, lastAttemptAt: 7000, outcomes: ["pass", "pass"], totalCostUsd: 0.75 },
    ]);
  });

  it("sums up each day", () => {
    const lines = [
      ...reworked("review", {}, [passes("review")]),
      recordedEvent(DAY + 1, "a", answer("abandon")),
      recordedEvent(DAY + 2, "a", {
        type: "finding.adjudicated",
        finding: mutant.id,
        upheld: true,
        by: "x",
        reason: "",
        costUsd: 0.5,
        durationMs: 1,
      }),
    ];
    const [first, second] = dailyMetrics(lines);
    expect(first).toMatchObject({
      date: "1970-01-01",
      attempts: 2,
      reworks: 1,
      sentBack: 1,
      accepted: 0,
      judgements: { review: { fail: 1, pass: 1 } },
    });
    expect(second).toMatchObject({ date: "1970-01-02", attempts: 0, failed: 1, answers: 1, costUsd: 0.5 });
  });
});
