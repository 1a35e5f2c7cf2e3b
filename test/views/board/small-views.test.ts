import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { NOTHING_SPENT } from "../../../src/core/stories/budget.ts";
import { escalationId, storyId } from "../../../src/core/events/ids.ts";
import { boardRows, gateStrip, stripText } from "../../../src/views/board/board.ts";
import { reasonsOf } from "../../../src/views/story/finding-text.ts";
import {
  ASCII_GLYPHS,
  UNICODE_GLYPHS,
  amountText,
  durationText,
  shortLine,
  spentText,
} from "../../../src/views/text/words.ts";
import { answerCommand } from "../../../src/core/stories/escalation.ts";
import { inboxItems } from "../../../src/views/answers/inbox.ts";
import { runCounts, summaryText } from "../../../src/views/run/run-summary.ts";
import { timelineOf } from "../../../src/views/story/story-lines.ts";
import { begin, runScript, stateOf, foldEvents, world } from "../../seeds/scripted-run.ts";
import { answer, blameEvent, judgement, recordedEvent, story } from "../../kit/story-world.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
const policy = {
  ...presetPolicy("goal"),
  limits: { ...presetPolicy("goal").limits, perLocation: 3 },
  stall: { ...presetPolicy("goal").stall, sameFailure: 3, plateau: 2 },
  gates: { ...presetPolicy("goal").gates, checks: { ...presetPolicy("goal").gates.checks, blame: false } },
};
const stuck = () =>
  runScript(
    begin(
      policy,
      story("login"),
      story("cart", { dependsOn: [storyId("login")] }),
      story("later", { shelf: "backlog" }),
      story("done"),
    ),
    world({ gates: { checks: [SAME, SAME, SAME] }, story: "login", attemptCostUsd: 0.5 }),
  ).run;

describe("words", () => {
  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [1000, "1 s"],
    [59_400, "59 s"],
    [60_000, "1 m"],
    [61_000, "1 m 1 s"],
    [3_600_000, "1 h"],
    [7_500_000, "2 h 5 m"],
  ])("%d ms are %s", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it("are shortened by characters and stay on one line", () => {
    expect(shortLine("a\n\tb", 10)).toBe("a b");
    expect(shortLine("😀".repeat(10), 4)).toBe("😀😀😀…");
    expect(shortLine("x".repeat(1_000_000), 5)).toBe("xxxx…");
    expect(shortLine("\u001b[31mred\u001b[0m", 10)).toBe("red");
  });

  it("call an incomplete sum a lower bound, and an unknown cost not zero", () => {
    expect(spentText({ ...NOTHING_SPENT, costUsd: 1.5 }, 5)).toBe("$1.50 of $5.00");
    expect(spentText({ ...NOTHING_SPENT, costUsd: 1.5, costUnknown: true }, null)).toBe("at least $1.50");
    expect(spentText({ ...NOTHING_SPENT, costUnknown: true }, 5)).toBe("");
    expect(spentText(NOTHING_SPENT, null)).toBe("");
    expect(amountText("failures:checks", 3)).toBe("3");
    expect(amountText("run-time", 1000)).toBe("1 s");
  });
});

describe("the board", () => {
  it("shows each story's state, who must act, and the cost", () => {
    const rows = boardRows(stuck(), null);
    expect(rows.map(({ id, status, actor }) => `${id} ${status} ${actor}`)).toEqual([
      "cart waiting story",
      "done accepted none",
      "later backlog person",
      "login escalated person",
    ]);
    expect(rows.at(-1)).toMatchObject({
      attempts: 3,
      attemptLimit: 15,
      costUsd: 1.5,
      costLimitUsd: 10,
      escalation: "esc-login-1",
      gate: "checks",
    });
    expect(boardRows(stuck(), [storyId("done"), storyId("nowhere")])).toHaveLength(1);
  });

  it("adds them up", () => {
    const run = stuck();
    expect(runCounts(run, null)).toEqual({
      stories: 4,
      accepted: 1,
      running: 0,
      waiting: 1,
      ready: 0,
      backlog: 1,
      stopped: 0,
      needsYou: 1,
      deferred: 0,
      dismissed: 0,
      failed: 0,
    });
    expect(summaryText(run, null, "·")).toBe(
      "4 stories · 1 accepted · 1 waiting · 1 in the backlog · 1 needs you · $1.50",
    );
    expect(summaryText(run, [storyId("login")], "|")).toBe("1 story | 1 needs you | $1.50 of $10.00");
  });
});

describe("the strip of gates", () => {
  it("shows the gates that judged the current tree, and never a waiver as a pass", () => {
    const run = stuck();
    expect(stripText(gateStrip(stateOf(run, "login")), UNICODE_GLYPHS)).toBe("integrity ✔  checks ✖ 1 finding");
    const waived = foldEvents(run, "login", answer("waive", { message: "known" }));
    expect(stripText(gateStrip(stateOf(waived, "login")), UNICODE_GLYPHS)).toBe("integrity ✔  checks ~ waived");
    expect(stripText(gateStrip(stateOf(waived, "login")), ASCII_GLYPHS)).toBe("integrity ok  checks waived");
    const again = foldEvents(run, "login", answer("resolve"));
    expect(gateStrip(stateOf(again, "login"))).toEqual([]);
  });
});

describe("the inbox", () => {
  it("lists questions about the whole run first, then those of stories in order of arrival", () => {
    const run = stuck();
    expect(inboxItems(run)).toMatchObject([
      {
        id: "esc-login-1",
        story: "login",
        reason: "the same failure again and again",
        kind: "decision",
        question: "What should change before the next attempt?",
      },
    ]);
    expect(inboxItems(run)[0]!.answers.map(({ verb }) => verb)).toContain("waive");
    expect(inboxItems(foldEvents(run, "login", answer("abandon")))).toEqual([]);
  });

  it("lists the command for each answer", () => {
    expect(answerCommand(escalationId("e"), "resolve")).toBe("remand answer e resolve");
    expect(answerCommand(escalationId("e"), "waive")).toBe('remand answer e waive --message "…"');
    expect(answerCommand(escalationId("e"), "raise-budget")).toBe("remand answer e raise-budget --limit …");
  });
});

describe("the timeline", () => {
  it("leaves out starts, and expands failures", () => {
    const entries = timelineOf([
      recordedEvent(1, "a", {
        type: "gate.started",
        gate: "checks",
        tree: judgement("checks", "t", "pass").tree,
        stages: [],
      }),
      recordedEvent(2, "a", { type: "gate.judged", judgement: judgement("checks", "t", "pass") }),
      recordedEvent(3, "a", { type: "gate.judged", judgement: judgement("checks", "t", "fail", { blocking: 7 }) }),
      recordedEvent(4, "a", { type: "gate.judged", judgement: judgement("checks", "t", "error") }),
      recordedEvent(5, "a", blameEvent("checks", "culprit")),
      recordedEvent(6, "a", { type: "story.failed", how: "exhausted", reason: "x" }),
      recordedEvent(7, "a", { type: "story.accepted" }),
      recordedEvent(8, "a", answer("waive")),
    ]);
    expect(entries.map(({ at, mark }) => `${at} ${mark}`)).toEqual([
      "2 accepted",
      "3 rejected",
      "4 trouble",
      "5 note",
      "6 failed",
      "7 accepted",
      "8 person",
    ]);
    expect(entries[1]!.details).toHaveLength(6);
    expect(entries[1]!.details.at(-1)).toBe("and 2 more");
    expect(entries[3]!.details).toEqual(["src/a.ts:3  changed a condition"]);
  });

  it("shows some lines of a finding's detail if requested", () => {
    const [finding] = judgement("checks", "t", "fail", { blocking: 1 }).findings;
    const detail = "- Expected\n\n  {\n-   a: 1\n\u001b[31m+   a: 2\n  }\nat a.ts:1:1";
    const failed = { ...judgement("checks", "t", "fail"), findings: [{ ...finding!, detail }] };
    expect(reasonsOf(failed, 3, 5).slice(1)).toEqual([
      "  | - Expected",
      "  |   {",
      "  | - a: 1",
      "  | + a: 2",
      "  |   }",
    ]);
    expect(reasonsOf(failed, 3)).toHaveLength(1);
  });

  it("uses a gate's summary if it has no finding", () => {
    expect(reasonsOf(judgement("checks", "t", "error"), 3)).toEqual(["checks says error"]);
    expect(reasonsOf({ ...judgement("checks", "t", "error"), summary: "" }, 3)).toEqual([]);
  });
});
