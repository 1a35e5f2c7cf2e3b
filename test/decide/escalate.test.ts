import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { type Escalation, type EscalationReason } from "../../src/core/stories/escalation.ts";
import { escalateRun, escalateStory, optionsFor } from "../../src/decide/escalate.ts";
import { escalationProblems } from "./escalation-problems.ts";
import { EMPTY_RUN, UNJUDGED, newStory } from "../../src/fold/new-state.ts";
import { judgement, story } from "../kit/story-world.ts";
import { begin, runScript, stateOf, world } from "../seeds/scripted-run.ts";
import { STALLS } from "../../src/core/stories/stop-rules.ts";

const STATE = newStory(story("a"), 0, 0);

const REASONS: readonly EscalationReason[] = [
  { type: "budget", budget: "failures:review", used: 3, limit: 3 },
  { type: "budget", budget: "cost", used: 10, limit: 10 },
  { type: "budget", budget: "run-cost", used: 10, limit: 10 },
  ...STALLS.map((stall) => ({ type: "stall", stall, detail: "it stands still" }) as const),
  { type: "scope-too-broad", files: ["a.ts", "b.ts"] },
  { type: "non-deterministic", detail: "it changes its mind" },
  { type: "gate-error", errors: 3, detail: "it broke" },
  { type: "gate-inconclusive", times: 2, detail: "no tests" },
  { type: "gate-blocked", times: 3, detail: "no database" },
  { type: "agent-failure", outcome: "crashed", times: 3, detail: "exit 1" },
  { type: "agent-missing", role: "planner" },
  { type: "incomplete", category: "missing_info", blocker: "no description", needed: "a description" },
  { type: "conflict", detail: "two reviewers disagree" },
  { type: "dispute", finding: "f", detail: "the caller checks" },
  ...(["rework", "retry", "merge"] as const).map((of) => ({ type: "approval", of }) as const),
  { type: "infrastructure", issue: "no database", tries: 3 },
  { type: "contested-tests", tests: ["test/a.test.ts > adds", "test/b.test.ts > removes"] },
];

/** Those that are asked about a story which is at no gate. */
const GATELESS = new Set(["budget", "gate-error", "agent-failure", "agent-missing", "incomplete", "approval"]);

describe("an escalation", () => {
  // S4.91
  it.each(REASONS.map((reason) => [JSON.stringify(reason), reason] as const))(
    "can be acted on: %s",
    (_name, reason) => {
      const ofTheRun =
        reason.type === "infrastructure" || (reason.type === "budget" && reason.budget.startsWith("run-"));
      const all = [
        escalateStory(STATE, reason, "review"),
        ...(ofTheRun ? [escalateRun(EMPTY_RUN, reason)] : []),
        ...(GATELESS.has(reason.type) ? [escalateStory(STATE, reason, null)] : []),
      ];
      for (const escalation of all) {
        expect(escalationProblems(escalation)).toEqual([]);
        expect(escalation.question).toMatch(/\?$/);
        expect(new Set(escalation.options.map(({ verb }) => verb)).size).toBe(escalation.options.length);
        for (const { does, cost } of escalation.options) expect([does, cost]).not.toContain("");
      }
    },
  );

  it.each([
    [
      "decision",
      [
        "budget failures:review",
        "stall",
        "scope-too-broad",
        "non-deterministic",
        "gate-inconclusive",
        "incomplete",
        "conflict",
        "dispute",
      ],
    ],
    ["authorisation", ["budget cost", "budget run-cost", "approval", "contested-tests"]],
    ["manual", ["gate-error", "gate-blocked", "agent-failure", "agent-missing", "infrastructure"]],
  ] as const)("is a %s if that is what is asked", (kind, types) => {
    const named = (reason: EscalationReason): string =>
      reason.type === "budget" ? `budget ${reason.budget}` : reason.type;
    const found = REASONS.filter((reason) => escalateStory(STATE, reason, null).kind === kind).map(named);
    expect(new Set(found)).toEqual(new Set(types));
  });

  it("has a new id each time, and says where the code is", () => {
    const ran = runScript(
      begin(presetPolicy("critic-audit"), story("a")),
      world({ gates: { review: ["fail", "fail", "fail"] } }),
    );
    const { escalation, commit } = stateOf(ran.run, "a");
    expect(escalation).toMatchObject({ id: "esc-a-1", branch: "remand/a", commit });
    expect(escalateStory(stateOf(ran.run, "a"), REASONS[0]!, "review").id).toBe("esc-a-2");
  });

  it("describes an attempt without a summary, and its ending if no gate judged it", () => {
    const attempt = {
      attempt: 1,
      phase: "plan",
      role: "planner" as never,
      reworkOf: null,
      outcome: "crashed",
      tree: null,
      summary: "",
      failed: "",
      asked: 0,
    } as const;
    const [tried] = escalateStory({ ...STATE, attempts: [attempt] }, REASONS[0]!, null).attempts;
    expect(tried).toEqual({ attempt: 1, tried: "plan by planner", failed: "ended as crashed" });
  });

  it("names the price of another attempt if known", () => {
    const cost = (forecast: number | null) =>
      optionsFor(REASONS[0]!, forecast).find(({ verb }) => verb === "send-back")?.cost;
    expect(cost(0.456)).toBe("about $0.46 for the attempt");
    expect(cost(null)).toBe("one attempt, price unknown");
  });

  it("describes an approval by what is approved", () => {
    const does = (of: "rework" | "retry" | "merge", verb: string) =>
      optionsFor({ type: "approval", of }, null).find((option) => option.verb === verb)?.does;
    expect(does("rework", "send-back")).toContain("the counter stays");
    expect(does("merge", "resolve")).toContain("You merged it");
    expect(does("retry", "resolve")).toBe("The retry goes ahead");
    expect(does("rework", "abandon")).toContain("ends as failed");
  });
});

describe("with any text of agents and gates, or none", () => {
  const saying = fc.oneof(
    fc.constantFrom(
      "",
      "  ",
      "Needs a human",
      "requires manual intervention.",
      "This task needs a person's help!",
      "?",
    ),
    fc.string({ maxLength: 40 }),
    fc.lorem(),
  );
  const worded = (reason: EscalationReason, text: string): EscalationReason =>
    Object.fromEntries(
      Object.entries(reason).map(([key, value]) => [key, SAID.has(key) ? text : value]),
    ) as EscalationReason;
  const SAID = new Set(["detail", "blocker", "needed", "issue"]);

  it("the question is actionable", () => {
    fc.assert(
      fc.property(fc.constantFrom(...REASONS), saying, saying, saying, (reason, one, summary, explanation) => {
        const judged = { ...judgement("review", "t", "fail"), summary };
        const state = {
          ...STATE,
          gates: { review: { ...UNJUDGED, last: judged, trouble: summary } },
          failing: { gate: "review", blame: { explanation } as never, approved: false, restored: false },
        } as const;
        expect(escalationProblems(escalateStory(state, worded(reason, one), "review"))).toEqual([]);
        if (GATELESS.has(reason.type))
          expect(escalationProblems(escalateStory(STATE, worded(reason, one), null))).toEqual([]);
        if (reason.type === "infrastructure")
          expect(escalationProblems(escalateRun(EMPTY_RUN, worded(reason, one)))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("escalationProblems", () => {
  const good = escalateStory(STATE, REASONS[0]!, "review");
  it.each<[string, Partial<Escalation>, string]>([
    ["no question", { question: "Have a look." }, "there is no question to answer"],
    ["a tautology for a question", { question: "Needs a human?" }, "there is no question to answer"],
    ["no assessment", { assessment: " " }, "it does not say why it stopped"],
    [
      "a tautology for an assessment",
      { assessment: "Requires manual intervention." },
      "it does not say why it stopped",
    ],
    ["no recommendation", { recommendation: "" }, "it recommends nothing"],
    ["a tautology for a recommendation", { recommendation: "This story needs a person" }, "it recommends nothing"],
    ["nothing to choose", { options: good.options.slice(0, 1) }, "there is nothing to choose between"],
    [
      "an answer that does nothing",
      { options: [...good.options, { verb: "halt", does: "", cost: "nothing" }] },
      "an answer does not say what it will do",
    ],
    [
      "an answer without a price",
      { options: [...good.options, { verb: "halt", does: "It stops", cost: " " }] },
      "an answer does not say what it will cost",
    ],
    ["an assessment without a fact", { assessment: "It went wrong." }, "why it stopped names nothing that is known"],
    ["advice without a fact", { recommendation: "Do your best." }, "what it recommends names nothing that is known"],
  ])("%s", (_name, change, problem) => {
    expect(escalationProblems({ ...good, ...change })).toEqual([problem]);
  });
});
