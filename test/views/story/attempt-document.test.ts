import { describe, expect, it } from "vitest";
import { attemptDocument, rounds } from "../../../src/views/story/story-document.ts";
import { hostAfterRun } from "../../kit/finished-run.ts";
import { story } from "../../kit/story-world.ts";
import { world as scripted } from "../../seeds/scripted-run.ts";

const FAIL = (blocking: number) => ({ result: "fail", blocking }) as const;

describe("an attempt", () => {
  it("has only the gates that judged its own work, failed ones first", async () => {
    const script = scripted({ gates: { checks: ["pass", "pass", "pass"], review: [FAIL(2), FAIL(1), "pass"] } });
    const host = await hostAfterRun([story("login")], script, ["preset=critic-audit"]);
    const lines = (await host.lines()).filter((line) => line.story === "login");
    const first = attemptDocument(lines, 1);
    expect(first.gates[0]).toMatchObject({ gate: "review", result: "fail" });
    expect(first.gates[0]!.findings.filter(({ isBlocking }) => isBlocking)).toHaveLength(2);
    expect(first.gates.filter(({ gate }) => gate === "review")).toHaveLength(1);
    expect(first.sentBack).toMatchObject({ gate: "review" });
    expect(attemptDocument(lines, 3)).toMatchObject({ sentBack: null });
    expect(attemptDocument(lines, 3).gates.every(({ result }) => result === "pass")).toBe(true);
    expect(attemptDocument(lines, 9)).toEqual({ attempt: 9, gates: [], blames: [], sentBack: null });
  });

  it("is a round: its blocking findings show whether the work converges", async () => {
    const script = scripted({ gates: { review: [FAIL(3), FAIL(1), "pass"] } });
    const host = await hostAfterRun([story("login")], script, ["preset=critic-audit"]);
    const found = rounds((await host.lines()).filter((line) => line.story === "login"));
    expect(found.map(({ attempt, blocking }) => [attempt, blocking])).toEqual([
      [1, 3],
      [2, 1],
      [3, 0],
    ]);
  });
});
