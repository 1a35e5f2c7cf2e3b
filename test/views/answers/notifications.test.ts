import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { costRows } from "../../../src/views/board/cost.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { inboxItems } from "../../../src/views/answers/inbox.ts";
import { budgetWords, endedWords, manyWords, questionWords } from "../../../src/views/answers/notifications.ts";
import { writeSlackMessage } from "../../../src/write/reports/notification.ts";
import { begin, runScript, world } from "../../seeds/scripted-run.ts";
import { recordedEvent, story } from "../../kit/story-world.ts";

const POLICY = presetPolicy("critic-audit");
const unhealthy = runScript(
  begin(POLICY, story("a")),
  world({ gates: { audit: ["blocked"] }, health: [false, false, false] }),
).run;

describe("the text of a notification", () => {
  it("names the whole run if the question is about no story", () => {
    const [item] = inboxItems(unhealthy);
    const words = questionWords(item!, 5, 3_600_000);
    expect(words).toMatchObject({ kind: "reminder", story: null, answers: ["retry", "declare-healthy", "halt"] });
    expect(words.title).toMatch(/^the whole run still needs you, after 1 h: infrastructure/);
    const budget = recordedEvent(5, null, { type: "budget.warned", budget: "run-cost", used: 8, limit: 10 });
    expect(budgetWords(budget)?.title).toBe("the whole run has used most of its run-cost budget");
    expect(budgetWords(recordedEvent(5, null, { type: "run.resumed", by: "Ada" }))).toBeNull();
  });

  it("names a few of many questions, and their number", () => {
    const ids = Array.from({ length: 8 }, (_, i) => `s${i}`);
    const { run } = runScript(begin(POLICY, ...ids.map((id) => story(id))));
    expect(endedWords(run, 5)).toMatchObject({ title: "the run has ended", text: "8 stories · 8 accepted" });
    const stuck = runScript(begin(POLICY, ...ids.map((id) => story(id))), (command) =>
      command.type === "start-gate" && command.gate === "checks"
        ? [
            { type: "gate.started", gate: "checks", tree: command.tree, stages: [] },
            {
              type: "gate.judged",
              judgement: {
                gate: "checks",
                result: "inconclusive",
                tree: command.tree,
                findings: [],
                blocking: [],
                summary: "ran no test",
                evidence: [],
                durationMs: 1,
              },
            },
          ]
        : null,
    ).run;
    const ended = endedWords(stuck, 5);
    expect(ended.title).toBe("the run has ended, 8 questions wait for you");
    expect(ended.text.split("\n")).toHaveLength(1 + 5 + 1);
    expect(ended.text).toContain("and 3 more: remand inbox");
    expect(endedWords(unhealthy, 5).text).toContain("the whole run: infrastructure");
    expect(manyWords([ended, ended], 5)).toMatchObject({ kind: "ended", title: "2 more things to know of" });
    expect(manyWords([], 5).kind).toBe("ended");
  });

  it("Slack messages have no empty blocks", () => {
    const message = writeSlackMessage({ ...endedWords(unhealthy, 5), text: "", project: "shop" });
    expect((JSON.parse(message) as { blocks: unknown[] }).blocks).toHaveLength(2);
  });
});

describe("the cost of a disputed finding and of a repair", () => {
  it("is grouped by agent and by cause", () => {
    const ruled = {
      type: "finding.adjudicated",
      finding: "f" as never,
      upheld: true,
      reason: "",
      durationMs: 1,
    } as const;
    const lines = [
      recordedEvent(0, storyId("a"), { ...ruled, by: "judge", costUsd: 0.2 }),
      recordedEvent(0, storyId("a"), { ...ruled, by: "engine" }),
      recordedEvent(0, null, { type: "remediation.finished", attempt: 1, fixes: [], costUsd: 0.4, durationMs: 1 }),
    ];
    expect(costRows(lines, EMPTY_RUN, "agent")).toMatchObject([{ name: "judge", costUsd: 0.2, costUnknown: false }]);
    expect(costRows(lines, EMPTY_RUN, "cause")).toMatchObject([
      { name: "repairing the infrastructure", costUsd: 0.4 },
      { name: "disputes", costUsd: 0.2, costUnknown: false, times: 2 },
    ]);
  });
});
