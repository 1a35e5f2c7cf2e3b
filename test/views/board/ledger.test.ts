import { describe, expect, it } from "vitest";
import { COST_VIEWS, costRows, dailyMetrics } from "../../../src/views/board/cost.ts";
import { ledgerOf, slimLine } from "../../../src/views/board/ledger.ts";
import { hostAfterRun } from "../../kit/finished-run.ts";
import { world as scripted } from "../../seeds/scripted-run.ts";
import { story } from "../../kit/story-world.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;

describe("the ledger", () => {
  it("needs only the fields of the slim line", async () => {
    const host = await hostAfterRun(
      [story("a"), story("b"), story("c")],
      scripted({
        gates: { checks: [SAME, "error", SAME, SAME], integrity: [SAME] },
        attemptCostUsd: 0.4,
        attemptMs: 9000,
      }),
    );
    const lines = await host.lines();
    const slim = lines.flatMap((line) => slimLine(line) ?? []);
    expect(slim.length).toBeLessThan(lines.length);
    for (const view of COST_VIEWS)
      expect(costRows(slim, host.state(), view)).toEqual(costRows(lines, host.state(), view));
    const days = (all: typeof slim) => dailyMetrics(all).map((day) => ({ ...day, escalations: null }));
    expect(days(slim)).toEqual(days(lines));
  });

  it("sums up, forecasts, and counts what it left out", async () => {
    const host = await hostAfterRun(
      [story("a"), story("b")],
      scripted({ gates: { checks: [SAME, SAME, SAME] }, story: "a", attemptCostUsd: 0.5 }),
    );
    const ledger = ledgerOf(await host.lines(), host.state(), 1);
    expect(ledger.rows.story).toHaveLength(1);
    expect(ledger.more.story).toBe(1);
    expect(ledger.total.costUsd).toBeGreaterThanOrEqual(1.5);
    expect(ledger.forecast).toMatchObject({ stories: 1, nextUsd: expect.closeTo(0.5) });
    expect(ledger.days).toHaveLength(1);
    const { costUsd } = ledger.total;
    expect(ledger.accepted).toEqual({ stories: 1, firstPass: 1, usdPerStory: costUsd });
    const [model] = ledger.rows.model;
    expect(model).toMatchObject({ name: "the client's default", costUsd: expect.closeTo(costUsd) });
    const local = ledgerOf(await host.lines(), host.state(), 1, () => "here");
    expect(local.days.map(({ date }) => date)).toEqual(["here"]);
  });
});
