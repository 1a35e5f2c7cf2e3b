import { describe, expect, it } from "vitest";
import { command as cost } from "../../../../src/cli/commands/read/cost.ts";
import { command as runCommand } from "../../../../src/cli/commands/work/run.ts";
import type { AttemptOutcome } from "../../../../src/core/stories/attempt.ts";
import type { Event, Recorded } from "../../../../src/core/events/event.ts";
import { roleName, storyId } from "../../../../src/core/events/ids.ts";
import { EMPTY_RUN } from "../../../../src/fold/new-state.ts";
import { costRows, costTotal } from "../../../../src/views/board/cost.ts";
import { world as scripted } from "../../../seeds/scripted-run.ts";
import { answer, attemptEnd } from "../../../kit/story-world.ts";
import { fakeHost } from "../../../kit/fake-host.ts";
import { run } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

const files = memoryFiles({
  "/work/remand.yaml": "preset: goal\ngates: { checks: { commands: [npm test], blame: false } }\n",
  "/work/stories/login.md": "---\npriority: 1\n---\nDo it.\n",
  "/work/stories/cart.md": "---\npriority: 2\n---\nA cart.\n",
});
const ran = async (...argv: string[]) => {
  const script = scripted({ gates: { checks: ["fail"] }, attemptCostUsd: 0.4, attemptMs: 60_000, story: "login" });
  const host = fakeHost({ script });
  await run(["run", "--quiet"], [runCommand], { host, files });
  return run(["cost", ...argv], [cost], { host, files });
};
const rows = async (by: string) => (JSON.parse((await ran("--by", by, "--json")).out) as { rows: object[] }).rows;

const judgedFor = (event: Extract<Event, { type: "gate.judged" }>, costUsd: number): Event => ({
  ...event,
  judgement: { ...event.judgement, costUsd },
});

describe("remand cost", () => {
  it("says what each story has cost, the most expensive first, and what was spent on rejected work", async () => {
    const { out, exit } = await ran();
    expect(exit).toBe(0);
    expect(out.split("\n").map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      "STORY SPENT ON REJECTED WORK TIME CALLS",
      "login $0.80 $0.40 2 m 6",
      "cart $0.00 $0.00 - 3",
      "all $0.80 $0.40 2 m 9",
      "",
    ]);
  });

  it("groups by agent, by gate, and by cause", async () => {
    expect(await rows("agent")).toMatchObject([{ name: "developer", costUsd: 0.8, times: 3, wastedUsd: 0.4 }]);
    expect(await rows("gate")).toMatchObject([
      { name: "checks", costUsd: 0, costUnknown: false, times: 3 },
      { name: "integrity", times: 3 },
    ]);
    expect(await rows("cause")).toMatchObject([
      { name: "first attempts", costUsd: 0.4, times: 2, wastedUsd: 0.4 },
      { name: "rework after checks", costUsd: 0.4, times: 1, wastedUsd: 0 },
      { name: "gates", costUsd: 0, times: 6 },
    ]);
    expect(await rows("location")).toEqual([]);
  });

  it("gives programs a document, or the fields they want, and refuses what it does not know", async () => {
    expect(JSON.parse((await ran("--json")).out)).toMatchObject({
      schema: "remand.cost/1",
      by: "story",
      total: { costUsd: 0.8, wastedUsd: 0.4 },
    });
    expect(JSON.parse((await ran("--json", "name,times")).out)).toEqual({
      schema: "remand.cost/1",
      by: "story",
      rows: [
        { name: "login", times: 6 },
        { name: "cart", times: 3 },
      ],
    });
    expect(await ran("--by", "stroy")).toMatchObject({ exit: 2, err: expect.stringContaining("Did you mean story?") });
    expect(await run(["cost"], [cost], { host: fakeHost(), files })).toMatchObject({ exit: 2 });
  });

  it("the total equals what the run has spent, on anything", async () => {
    const well = scripted({ gates: { checks: ["fail"] }, attemptCostUsd: 0.4, attemptMs: 60_000, story: "login" });
    const host = fakeHost({
      script: (command, state, all) => {
        const events = well(command, state, all);
        if (command.type === "start-attempt" && command.attempt === 2 && events !== null) {
          const unclear = { type: "attempt.unclear", attempt: 2, detail: "?", costUsd: 0.07, durationMs: 5 } as const;
          return [events[0]!, unclear, ...events.slice(1)];
        }
        return events?.map((event) => (event.type === "gate.judged" ? judgedFor(event, 0.01) : event)) ?? null;
      },
    });
    await run(["run", "--quiet"], [runCommand], { host, files });
    await host.write(null, { type: "health.checked", healthy: true, remaining: [], costUsd: 0.03, durationMs: 7 });
    const { spent } = host.state();
    for (const by of ["story", "cause", "agent"] as const) {
      const { total } = JSON.parse((await run(["cost", "--by", by, "--json"], [cost], { host, files })).out) as {
        total: { costUsd: number; timeMs: number };
      };
      if (by === "agent") expect(total.costUsd).toBeLessThanOrEqual(spent.costUsd);
      else expect(total).toMatchObject({ costUsd: expect.closeTo(spent.costUsd), timeMs: spent.timeMs });
    }
    expect(spent.costUsd).toBeCloseTo(0.8 + 0.07 + 0.03 + 0.01 * 4);
  });

  it("counts attempts as rejected work if they were sent back, ended without work, or were abandoned", () => {
    const at = (story: string, event: Event): Recorded => ({ v: 1, at: 0, story: storyId(story), event });
    const attempt = (story: string, n: number, outcome: AttemptOutcome, costUsd?: number): Recorded[] => {
      const { costUsd: _none, ...end } = attemptEnd(n, outcome, "t") as Extract<Event, { type: "attempt.finished" }>;
      return [
        at(story, {
          type: "attempt.started",
          attempt: n,
          phase: "implement",
          role: roleName("developer"),
          reworkOf: null,
          brief: null,
          forecastUsd: null,
        }),
        at(story, { ...end, ...(costUsd === undefined ? {} : { costUsd }) }),
      ];
    };
    const crashed: AttemptOutcome = { type: "crashed", detail: "exit 1" };
    const ready: AttemptOutcome = { type: "ready" };
    const lines = [
      ...attempt("a", 1, crashed, 0.5),
      ...attempt("a", 2, ready, 0.25),
      ...attempt("b", 1, ready, 1),
      ...attempt("b", 2, ready, 2),
      at("b", answer("abandon")),
      ...attempt("c", 1, crashed),
    ];
    const rows = costRows(lines, EMPTY_RUN, "story");
    const wasted = Object.fromEntries(rows.map((row) => [row.name, [row.wastedUsd, row.wastedUnknown]]));
    expect(wasted).toEqual({ a: [0.5, false], b: [3, false], c: [0, true] });
    expect(costTotal(rows)).toMatchObject({ costUsd: 3.75, costUnknown: true, wastedUsd: 3.5, wastedUnknown: true });
  });

  it("never counts an unknown cost as zero", async () => {
    const well = scripted({});
    const host = fakeHost({
      script: (command, state, all) =>
        well(command, state, all)?.map((event) => {
          if (event.type !== "attempt.finished") return event;
          const { costUsd: _unsaid, ...rest } = event;
          return rest;
        }) ?? null,
    });
    await run(["run", "--quiet", "cart"], [runCommand], { host, files });
    expect((await run(["cost", "--by", "agent"], [cost], { host, files })).out).toMatch(/^developer +unknown/m);
    expect((await run(["cost"], [cost], { host, files })).out).toMatch(/\nall +unknown/);
  });
});
