import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { evidenceId, fingerprint, roleName, treeId } from "../../../src/core/events/ids.ts";
import type { RunState } from "../../../src/core/stories/run-state.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { eventWords, timeText } from "../../../src/views/run/event-text.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/views/text/words.ts";
import { linesFor, NO_LINES_YET, type LineMemory, type RunLine } from "../../../src/views/run/run-lines.ts";
import { begin } from "../../seeds/scripted-run.ts";
import { answer, attemptEnd, blameEvent, judgement, recordedEvent, story } from "../../kit/story-world.ts";

const STARTED: Event[] = [
  { type: "story.started", by: "engine" },
  { type: "story.prepared", tree: treeId("t0"), commit: "c0", preExisting: [] },
];

const attempt = (number: number, more: Partial<Extract<Event, { type: "attempt.started" }>> = {}): Event => ({
  type: "attempt.started",
  attempt: number,
  phase: "implement",
  role: roleName("developer"),
  reworkOf: null,
  brief: null,
  forecastUsd: null,
  ...more,
});

/** The lines for these events of one story, in order. */
function told(
  events: readonly Event[],
  preset: "critic-audit" | "story" = "critic-audit",
  glyphs = UNICODE_GLYPHS,
): RunLine[] {
  let run: RunState = begin(presetPolicy(preset), story("a", { title: "Retry" }));
  let memory: LineMemory = NO_LINES_YET;
  return events.flatMap((event, i) => {
    const line = recordedEvent(1000 * i, "a", event);
    run = evolve(run, line);
    const heard = linesFor(line, memory, run, glyphs);
    memory = heard.memory;
    return heard.lines;
  });
}

const texts = (events: readonly Event[], ...more: [("critic-audit" | "story")?, typeof ASCII_GLYPHS?]): string[] =>
  told(events, ...more).map(({ mark, text }) => `${mark}: ${text}`);

const judged = (
  gate: "integrity" | "checks" | "review" | "audit",
  tree: string,
  result: Parameters<typeof judgement>[2],
  more = {},
): Event => ({
  type: "gate.judged",
  judgement: judgement(gate, tree, result, more),
});

const sentBack = (
  failure: number,
  failureLimit: number | null,
  more: Partial<Extract<Event, { type: "work.sent-back" }>> = {},
): Event => ({
  type: "work.sent-back",
  gate: "review",
  variant: "review",
  failure,
  failureLimit,
  route: { phase: "implement", role: roleName("developer"), reason: "the review gate failed" },
  scope: { allow: [], deny: [], tests: "add-only", exceptions: "never", reason: "" },
  brief: evidenceId("b"),
  ...more,
});

describe("the lines of a run", () => {
  it("report an attempt with its cost and the gates that judged it", () => {
    const lines = told([
      ...STARTED,
      attempt(1),
      attemptEnd(1, { type: "ready" }, "t1", { costUsd: 0.41 }),
      judged("integrity", "t1", "pass"),
      judged("checks", "t1", "pass"),
      judged("review", "t1", "fail", { blocking: 2 }),
    ]);
    expect(lines.map(({ mark, isSettled }) => [mark, isSettled])).toEqual([
      ["started", false],
      ["rejected", true],
    ]);
    expect(lines[1]).toEqual({
      mark: "rejected",
      story: "a",
      text: "implement  attempt 1  $0.41   integrity ✔  checks ✔  review ✖ 2 findings",
      details: ["src/f0.ts:1 broken 0x", "src/f1.ts:1 broken 1x"],
      isSettled: true,
    });
  });

  it("know the attempt even if its start was not watched", () => {
    const events = [...STARTED, attempt(1), attemptEnd(1, { type: "ready" }, "t1")];
    const run = events.reduce(
      (state, event) => evolve(state, recordedEvent(0, "a", event)),
      begin(presetPolicy("critic-audit"), story("a")),
    );
    const line = recordedEvent(1, "a", judged("checks", "t1", "fail"));
    const { lines } = linesFor(line, NO_LINES_YET, evolve(run, line), UNICODE_GLYPHS);
    expect(lines[0]!.text).toBe("implement  attempt 1   checks ✖ 1 finding");
  });

  it("count failures and reworks when work goes back, and name the cause and the role that fixes it", () => {
    const failed = [...STARTED, attempt(1), attemptEnd(1, { type: "ready" }, "t1"), judged("review", "t1", "fail")];
    expect(texts([...failed, sentBack(1, 3)]).at(-1)).toBe(
      "sent-back: rework 1 of 2 (failure 1 of 3)  the review gate failed → developer",
    );
    expect(texts([...failed, sentBack(2, null)]).at(-1)).toBe(
      "sent-back: rework 2 (failure 2)  the review gate failed → developer",
    );
    expect(texts([...failed, blameEvent("review", "culprit", "src/retry.ts"), sentBack(1, 3)]).at(-1)).toBe(
      "sent-back: rework 1 of 2 (failure 1 of 3)  src/retry.ts:3 most likely → developer",
    );
    const proven = blameEvent("review", "culprit") as Extract<Event, { type: "blame.found" }>;
    const blame = { ...proven.blame, basis: "proven", testRuns: 3 } as const;
    expect(texts([...failed, { ...proven, blame }, sentBack(1, 3)], "critic-audit", ASCII_GLYPHS).at(-1)).toBe(
      "sent-back: rework 1 of 2 (failure 1 of 3)  src/a.ts:3 proven in 3 test runs -> developer",
    );
    const toPlan = { phase: "plan", role: roleName("planner"), reason: "a person sent it back" } as const;
    expect(texts([...failed, sentBack(0, null, { gate: "person", route: toPlan })]).at(-1)).toBe(
      "sent-back: sent back by a person  a person sent it back → planner, plan",
    );
    expect(texts([...failed, sentBack(0, 3)]).at(-1)).toBe(
      "sent-back: sent back by a person  the review gate failed → developer",
    );
  });

  it("report a finished phase, and its last gate only with the acceptance", () => {
    const start: Event[] = [
      ...STARTED,
      attempt(1, { phase: "refine" }),
      attemptEnd(1, { type: "ready" }, "t1"),
      judged("integrity", "t1", "pass"),
      judged("review", "t1", "pass"),
    ];
    expect(texts(start, "story").at(-1)).toBe(
      "accepted: refine  attempt 1  $0.00   review ✔   refine is done, research is next",
    );
    const all = [
      ...STARTED,
      attempt(1),
      attemptEnd(1, { type: "ready" }, "t1"),
      ...(["integrity", "checks", "review", "audit"] as const).map((gate) => judged(gate, "t1", "pass")),
    ];
    expect(texts([...all, { type: "story.accepted" }]).slice(1)).toEqual([
      "accepted: implement  attempt 1  $0.00   integrity ✔  checks ✔  review ✔  audit ✔   accepted",
    ]);
  });

  it.each([
    ["crashed", { type: "crashed", detail: "exit\n137" }, "developer crashed: exit 137   next try in 1 s"],
    ["timed out", { type: "timed-out", afterMs: 900_000 }, "developer gave no answer within 15 m"],
    [
      "rate limit",
      { type: "rate-limited", retryAt: 63_000 },
      "developer is held back by its provider's rate limit   next try in 1 m",
    ],
    ["refused", { type: "refused", detail: "no" }, "developer refused: no"],
    ["missing", { type: "missing", detail: "nobody" }, "developer is not there: nobody"],
    ["unusable", { type: "unusable", detail: "no login", fix: "log in" }, "developer can't start: no login"],
    ["unclear", { type: "unclear", detail: "?" }, "developer sent an unreadable reply: ?   next try in 1 s"],
    ["blocked", { type: "blocked", issue: "no disk" }, "developer was blocked: no disk"],
    ["stopped", { type: "stopped", by: "Ada" }, "developer was stopped by Ada"],
    [
      "incomplete",
      { type: "incomplete", category: "missing_info", blocker: "no key", attempted: [], needed: "a key" },
      "developer stopped unfinished: no key",
    ],
  ] as const)("tell an agent that %s, and when it is tried again", (_name, outcome, text) => {
    expect(texts([...STARTED, attempt(1), attemptEnd(1, outcome, "t0")]).at(-1)).toBe(
      `trouble: implement  attempt 1  ${text}`,
    );
  });

  it("announce no retry that will not happen, because a person is asked instead", () => {
    const crash = (number: number) => [attempt(number), attemptEnd(number, { type: "crashed", detail: "x" }, "t0")];
    expect(
      texts([...STARTED, ...crash(1), ...crash(2), ...crash(3)]).filter((text) => text.includes("crashed")),
    ).toEqual([
      "trouble: implement  attempt 1  developer crashed: x   next try in 1 s",
      "trouble: implement  attempt 2  developer crashed: x   next try in 2 s",
      "trouble: implement  attempt 3  developer crashed: x",
    ]);
    const start = [...STARTED, attempt(1), attemptEnd(1, { type: "ready" }, "t1")];
    const broke = [judged("checks", "t1", "error"), judged("checks", "t1", "error"), judged("checks", "t1", "error")];
    expect(texts([...start, ...broke]).at(-1)).toBe("trouble: implement  attempt 1  $0.00   checks ? broke");
  });

  it("distinguish a broken gate from failed work", () => {
    const start = [...STARTED, attempt(1), attemptEnd(1, { type: "ready" }, "t1")];
    expect(texts([...start, judged("checks", "t1", "error")]).at(-1)).toBe(
      "trouble: implement  attempt 1  $0.00   checks ? broke   next try in 1 s",
    );
    expect(texts([...start, judged("checks", "t1", "inconclusive")]).at(-1)).toContain("checks ? inconclusive");
    expect(texts([...start, judged("checks", "t1", "blocked")]).at(-1)).toContain("checks ? blocked");
    expect(told([...start, judged("checks", "t1", "error")]).at(-1)!.details).toEqual(["checks says error"]);
  });

  it("report people's answers, and a forced acceptance or abandonment as an end", () => {
    expect(texts([answer("force-complete")])).toEqual(["accepted: accepted on the word of Ada: because"]);
    expect(texts([answer("abandon", { message: "" })])).toEqual(["failed: abandoned by Ada"]);
    expect(texts([answer("waive")])).toEqual(["note: Ada says waive: because"]);
  });

  it.each<readonly [Event, string]>([
    [{ type: "story.failed", how: "set-aside", reason: "enough" }, "failed: set aside: enough"],
    [{ type: "budget.warned", budget: "cost", used: 4.1, limit: 5 }, "trouble: has used $4.10 of $5.00 (cost)"],
    [
      { type: "budget.warned", budget: "time", used: 60_000, limit: 90_000 },
      "trouble: has used 1 m of 1 m 30 s (time)",
    ],
    [{ type: "budget.warned", budget: "tokens", used: 1, limit: 9 }, "trouble: has used 1 token of 9 tokens (tokens)"],
    [
      { type: "attempt.unclear", attempt: 1, detail: "", durationMs: 0 },
      "trouble: attempt 1  unreadable reply; asking again",
    ],
    [
      { type: "step.failed", step: "brief", detail: "no room", infrastructure: false },
      "trouble: brief failed: no room",
    ],
    [{ type: "work.interrupted", detail: "killed" }, "note: killed; it will rerun (not counted)"],
    [{ type: "work.resumed", detail: "killed; found again", engine: "died" }, "note: killed; found again"],
    [{ type: "story.held", by: "Ada" }, "note: paused by Ada: no new step starts"],
    [{ type: "story.released", by: "Ada" }, "note: resumed by Ada"],
    [{ type: "story.flagged", usualMs: 1000, takenMs: 7_500_000 }, "trouble: running 2 h 5 m, usually 1 s"],
    [
      { type: "grace.granted", gate: "checks", failures: 3 },
      "note: each round was better than the one before: one more at the checks gate",
    ],
    [{ type: "tree.restored", tree: treeId("t"), commit: "c" }, "note: back to the best state so far"],
    [
      { type: "lint.fixed", tree: treeId("t"), commit: "c", changed: ["a", "b"] },
      "note: 2 files put right by the lint command",
    ],
    [
      { type: "finding.disputed", gate: "review", finding: fingerprint("f"), by: "Ada", rationale: "no" },
      "note: Ada disputes a finding of review: no",
    ],
    [
      { type: "finding.adjudicated", finding: fingerprint("f"), upheld: false, by: "judge", reason: "", durationMs: 0 },
      "note: judge overturned the finding",
    ],
    [{ type: "work.delivered", how: "branch", where: "there" }, "note: delivered: there"],
  ])("report %j", (event, text) => {
    expect(texts([event])).toEqual([text]);
  });

  it("report the infrastructure without a story", () => {
    const run = begin(presetPolicy("goal"));
    const line = (event: Event) =>
      linesFor(recordedEvent(0, null, event), NO_LINES_YET, run, UNICODE_GLYPHS).lines.map(
        ({ mark, text, story }) => `${story} ${mark}: ${text}`,
      );
    expect(line({ type: "infrastructure.blocked", issue: "no database" })).toEqual([
      "null trouble: the infrastructure is broken: no database; nothing new starts",
    ]);
    expect(line({ type: "remediation.started", attempt: 2 })).toEqual([
      "null note: repairing the infrastructure, try 2",
    ]);
    expect(line({ type: "health.checked", healthy: true, remaining: [], durationMs: 0 })).toEqual([
      "null note: the infrastructure is healthy again",
    ]);
    expect(line({ type: "health.checked", healthy: false, remaining: ["x"], durationMs: 0 })).toEqual([
      "null trouble: the infrastructure is still broken: x",
    ]);
    expect(line({ type: "run.resumed", by: "Ada" })).toEqual(["null note: run resumed by Ada"]);
    expect(line({ type: "base.moved", commit: "c" })).toEqual([]);
  });

  it("do not let text of an agent move the cursor or break the line", () => {
    const [line] = told([
      ...STARTED,
      attempt(1),
      attemptEnd(1, { type: "crashed", detail: "\u001b[2J\u001b]0;x\u0007a\r\nb\u202e" }, "t0"),
    ]).slice(1);
    expect(line!.text).toContain("crashed: a b   next try");
  });
});

describe("an event in words", () => {
  it.each<readonly [Event, string]>([
    [{ type: "policy.set", policy: presetPolicy("goal"), by: "config" }, "rules of the preset goal, set by config"],
    [{ type: "base.moved", commit: "0123456789abcdef" }, "the base is now 0123456789ab"],
    [{ type: "remediation.finished", attempt: 1, fixes: ["restarted"], durationMs: 0 }, "repair 1 is over: restarted"],
    [{ type: "story.added", story: story("a") }, "added: Story a"],
    [{ type: "story.changed", story: story("a"), what: ["title"] }, "its file changed: title"],
    [
      { type: "story.prepared", tree: treeId("t"), commit: "c", preExisting: ["lint"] },
      "workspace ready; fails at the base: lint",
    ],
    [attempt(2, { reworkOf: "checks" }), "attempt 2: implement by developer, rework after checks"],
    [{ type: "gate.started", gate: "checks", tree: treeId("t"), stages: [] }, "the checks gate runs"],
    [{ type: "step.started", step: "blame" }, "blame begins"],
    [judged("checks", "t", "fail", { blocking: 2 }), "checks: fail, 2 findings in the way; checks says fail"],
    [judged("checks", "t", "pass", { more: { summary: "checks: pass (2 of 2)" } }), "checks: pass (2 of 2)"],
    [blameEvent("checks", "unmet"), "blame: unmet, ranked; it is unmet"],
    [{ type: "policy.applied", policy: presetPolicy("goal"), by: "Ada" }, "new rules for this story, by Ada"],
    [{ type: "story.accepted" }, "accepted: all gates passed"],
    [{ type: "story.held", by: "Ada" }, "paused by Ada: no new step starts"],
  ])("%j", (event, words) => {
    expect(eventWords(event)).toBe(words);
  });

  it.each([
    ["UTC", "2026-02-22 14:30:05Z"],
    ["Europe/Berlin", "2026-02-22 15:30:05 +01:00"],
    ["Asia/Kolkata", "2026-02-22 20:00:05 +05:30"],
    ["Africa/Abidjan", "2026-02-22 14:30:05Z"],
  ])("shows its time in %s", (zone, text) => {
    expect(timeText(Date.UTC(2026, 1, 22, 14, 30, 5, 999), zone)).toBe(text);
  });
});

describe("target tests that no reason names", () => {
  const targets = ["test/cart.test.js > adds", "test/cart.test.js > removes"];
  /** The details below the line of the first attempt's judgement. */
  function detailsOf(...events: readonly Event[]): readonly string[] {
    const wanted = story("a", { target: ["*"] });
    const run = [
      ...STARTED.slice(0, 1),
      prepared(targets),
      attempt(1),
      attemptEnd(1, { type: "ready" }, "t1"),
      ...events,
    ];
    const state = run.reduce(
      (now, event, i) => evolve(now, recordedEvent(1000 * i, "a", event)),
      begin(presetPolicy("critic-audit"), wanted),
    );
    const last = recordedEvent(1000 * run.length, "a", run.at(-1)!);
    return linesFor(last, NO_LINES_YET, state, UNICODE_GLYPHS).lines.flatMap(({ details }) => details);
  }
  const prepared = (preExisting: readonly string[]): Event => ({
    type: "story.prepared",
    tree: treeId("t0"),
    commit: "c0",
    preExisting,
    flaky: [],
  });
  const identities = (passing: readonly string[], failing: readonly string[] = []) => ({
    identities: { failing, unlisted: 0, passing, passedAtBase: [], passedLast: [], ranTests: [], notLoaded: [] },
  });
  const judgedWith = (event: Event, more: object): Event =>
    event.type === "gate.judged" ? { ...event, judgement: { ...event.judgement, ...more } } : event;

  it("are listed if a gate rejects the work before they ran, or proves nothing", () => {
    const said = "not shown to pass: test/cart.test.js > adds, and 1 more";
    expect(detailsOf(judged("integrity", "t1", "fail"))).toContain(said);
    expect(detailsOf(judged("checks", "t1", "inconclusive"))).toContain(said);
  });

  it("are left out if they passed, or if no check has to run them", () => {
    const passed = judgedWith(judged("checks", "t1", "fail"), identities([targets[0]!]));
    expect(detailsOf(passed)).toContain("not shown to pass: test/cart.test.js > removes");
    expect(detailsOf(judgedWith(judged("checks", "t1", "fail"), identities(targets))).join()).not.toContain(
      "not shown",
    );
    expect(detailsOf(judgedWith(judged("checks", "t1", "fail"), identities([], targets))).join()).not.toContain(
      "not shown",
    );
    expect(detailsOf(judged("checks", "t1", "pass"), judged("review", "t1", "fail")).join()).not.toContain("not shown");
    expect(detailsOf(judged("checks", "t1", "fail", { failure: targets[0] })).join()).not.toContain("not shown");
  });
});
