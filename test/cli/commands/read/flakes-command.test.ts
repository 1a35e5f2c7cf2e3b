import { describe, expect, it } from "vitest";
import { command as flakes } from "../../../../src/cli/commands/read/flakes.ts";
import { identifyFinding } from "../../../../src/core/gates/finding-identity.ts";
import type { Judgement } from "../../../../src/core/gates/gate.ts";
import { storyId, treeId } from "../../../../src/core/events/ids.ts";
import { story } from "../../../kit/story-world.ts";
import { fakeHost, type FakeHost } from "../../../kit/fake-host.ts";
import { run } from "../../../kit/fake-environment.ts";
import { hostAfterRun } from "../../../kit/finished-run.ts";

const finding = identifyFinding({
  severity: "info",
  category: "flaky",
  source: "unit",
  message: "outer > adds is flaky: it passed and failed on the same code",
  file: "test/a.test.ts",
  symbol: "outer > adds",
});
const judgement = (tree: string, changes: Partial<Judgement> = {}): Judgement => ({
  gate: "checks",
  result: "inconclusive",
  tree: treeId(tree),
  findings: [finding],
  blocking: [],
  flaky: ["test/a.test.ts > outer > adds"],
  summary: "checks: inconclusive",
  evidence: [],
  durationMs: 1,
  ...changes,
});

async function seen(): Promise<FakeHost> {
  const host = await hostAfterRun([story("cart"), story("login")]);
  const judged = (id: string, each: Judgement) => host.write(storyId(id), { type: "gate.judged", judgement: each });
  await judged("cart", judgement("t1"));
  await judged("login", judgement("t2"));
  await judged("login", judgement("t2", { flaky: ["slow"], findings: [] }));
  await judged("login", judgement("t3", { result: "pass", flaky: [], findings: [] }));
  return host;
}

describe("remand flakes", () => {
  it("lists tests that both passed and failed on one tree: test, check, count, time, and stories", async () => {
    const { out, exit } = await run(["flakes"], [flakes], { host: await seen() });
    expect(exit).toBe(0);
    expect(out).toMatch(/^TEST +FILE +CHECK +TIMES +LAST SEEN +STORIES\n/);
    expect(out).toMatch(/^outer > adds +test\/a\.test\.ts +unit +2 +2026-.*Z +cart, login\n/m);
    expect(out).toMatch(/^slow +- +- +1 +2026-.*Z +login\n/m);
  });

  it("gives programs a document", async () => {
    const { out } = await run(["flakes", "--json"], [flakes], { host: await seen() });
    expect(JSON.parse(out)).toMatchObject({
      schema: "remand.flakes/1",
      flakes: expect.arrayContaining([
        expect.objectContaining({
          name: "test/a.test.ts > outer > adds",
          test: "outer > adds",
          file: "test/a.test.ts",
          check: "unit",
          times: 2,
          stories: ["cart", "login"],
          trees: ["t1", "t2"],
          lastSeenAt: expect.stringMatching(/^2026-/) as string,
        }),
      ]) as unknown[],
    });
  });

  it("prints the requested fields under --json", async () => {
    const { out } = await run(["flakes", "--json", "check,times"], [flakes], { host: await seen() });
    expect(JSON.parse(out)).toEqual({
      schema: "remand.flakes/1",
      flakes: [
        { check: null, times: 1 },
        { check: "unit", times: 2 },
      ],
    });
  });

  it("says so where there is nothing", async () => {
    const nothing = { exit: 0, out: "No flaky test was seen.\n" };
    expect(await run(["flakes"], [flakes], { host: fakeHost() })).toMatchObject(nothing);
    expect(await run(["flakes"], [flakes], { host: await hostAfterRun([story("a")]) })).toMatchObject(nothing);
  });
});
