import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHomeNotes } from "../../../src/adapters/git/dependencies/check-homes.ts";
import type { WorkStart } from "../../../src/adapters/git/dependencies/work-start.ts";
import { compareWithRealHome } from "../../../src/compose/checks/check-variables.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import type { Baseline, Gate, GateRequest } from "../../../src/ports/gate.ts";

const RED: Baseline = { failing: ["a", "b"], flaky: [], isGreen: false, summary: "2 of 3 tests failed" };
const GREEN: Baseline = { failing: [], flaky: [], isGreen: true, summary: "3 tests passed" };

function decided(
  own: Baseline | readonly Baseline[],
  real: Baseline,
  leftOut: readonly string[] = [".ssh"],
  leavesSandbox = false,
) {
  const folder = mkdtempSync(join(tmpdir(), "remand-home-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const notes = createHomeNotes(folder, "/project");
  const tried: string[] = [];
  const gate = (name: string, seen: readonly Baseline[]): Gate => ({
    name: "checks",
    criteria: () => [],
    run: () => {
      tried.push(`run ${name}`);
      return Promise.resolve({ gate: "checks", result: "pass", summary: "checks: pass" } as Judgement);
    },
    baseline: async () => {
      tried.push(name);
      return seen[tried.filter((each) => each === name).length - 1] ?? seen.at(-1)!;
    },
  });
  const start = { notes, now: async () => ({ leftOut }) as unknown as WorkStart };
  const checks = compareWithRealHome(gate("own", [own].flat()), {
    start,
    withRealHome: gate("real", [real]),
    commands: ["npm test"],
    leavesSandbox,
  });
  const control = { signal: new AbortController().signal, onOutput: () => undefined };
  const run = () => checks.run({} as GateRequest, control);
  return { look: () => checks.baseline!({} as GateRequest, control), run, tried, notes };
}

test("a base that is better with the user's own HOME keeps running with it", async () => {
  const { look, run, tried, notes } = decided(RED, { ...RED, failing: ["a"] });
  await run();
  expect(await look()).toMatchObject({ failing: ["a"], summary: "2 of 3 tests failed; with your own HOME" });
  expect(await notes.isReal()).toBe(true);
  await look();
  await run();
  expect(tried).toEqual(["run own", "own", "real", "own", "real", "run real"]);
});

test("a sandbox that makes the base red is detected, too, even with a complete HOME", async () => {
  const { look, run, notes } = decided(RED, GREEN, [], true);
  expect((await run()).notes).toBeUndefined();
  expect((await look()).isGreen).toBe(true);
  expect(await notes.isReal()).toBe(true);
  expect((await run()).notes).toEqual(["checked without the sandbox, in which the base fails"]);
});

test("a flaky test at the base does not switch the sandbox off", async () => {
  const { look, run, notes } = decided([RED, { ...RED, failing: ["b"] }], { ...RED, failing: ["b"] }, [], true);
  expect(await look()).toMatchObject({ failing: ["b"], flaky: ["a"], isGreen: false });
  expect(await notes.isReal()).toBe(false);
  expect((await run()).notes).toBeUndefined();
});

test("a run with tests is better than a run without", async () => {
  const run = { ended: [], ranTests: [], notLoaded: [] };
  const { look, notes } = decided(
    { ...RED, failing: ["npm test"], run },
    { ...RED, run: { ...run, ranTests: ["npm test"] } },
  );
  expect((await look()).failing).toEqual(["a", "b"]);
  expect(await notes.isReal()).toBe(true);
});

test("the comparison is made only once if it makes no difference", async () => {
  const { look, tried, notes } = decided(RED, { ...RED, failing: ["a", "c"] });
  expect(await look()).toBe(RED);
  await look();
  expect(tried).toEqual(["own", "real", "own"]);
  expect(await notes.isReal()).toBe(false);
});

test("a green base, and a complete HOME, are not run twice", async () => {
  const green = decided(GREEN, GREEN);
  await green.look();
  const whole = decided(RED, GREEN, []);
  expect(await whole.look()).toBe(RED);
  expect([...green.tried, ...whole.tried]).toEqual(["own", "own"]);
});
