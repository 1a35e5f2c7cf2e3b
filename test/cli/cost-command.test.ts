import { describe, expect, it } from "vitest";
import { command as cost } from "../../src/cli/commands/cost.ts";
import { command as runCommand } from "../../src/cli/commands/run.ts";
import { world as scripted } from "../seeds/scripted-run.ts";
import { fakeHost } from "./fake-host.ts";
import { run } from "./fake-surroundings.ts";
import { memoryFiles } from "./memory-files.ts";

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

describe("remand cost", () => {
  it("says what each story has cost, the dearest first, and what was sent back", async () => {
    const { out, exit } = await ran();
    expect(exit).toBe(0);
    expect(out.split("\n").map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      "login $0.80 $0.40 sent back 2 m 6 times",
      "cart $0.00 3 times",
      "all $0.80 $0.40 sent back 2 m 9 times",
      "",
    ]);
  });

  it("by agent, by gate, and by what it was for", async () => {
    expect(await rows("agent")).toMatchObject([{ name: "developer", costUsd: 0.8, times: 3, wastedUsd: 0.4 }]);
    expect(await rows("gate")).toMatchObject([
      { name: "checks", costUsd: 0, costUnknown: false, times: 3 },
      { name: "integrity", times: 3 },
    ]);
    expect(await rows("cause")).toMatchObject([
      { name: "first attempts", costUsd: 0.4, times: 2, wastedUsd: 0.4 },
      { name: "rework after checks", costUsd: 0.4, times: 1, wastedUsd: 0 },
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

  it("never takes unknown for nothing", async () => {
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
    expect((await run(["cost", "--by", "agent"], [cost], { host, files })).out).toMatch(/^developer +unknown/);
  });
});
